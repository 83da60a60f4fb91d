package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// misspelt refuses a command line that begins with no command, in one line with the commands that are near and where to
// read on.
func misspelt(root *cobra.Command, args []string) error {
	for _, name := range args {
		switch {
		case strings.HasPrefix(name, cobra.ShellCompRequestCmd): // the shells' own, which comes into being later
			return nil
		case strings.HasPrefix(name, "-"):
			continue
		}
		if _, _, err := root.Find(args); err != nil {
			return unknownCommand(root, name)
		}
		return nil
	}
	return nil
}

func unknownCommand(parent *cobra.Command, name string) error {
	near := ""
	if parent.SuggestionsMinimumDistance <= 0 {
		parent.SuggestionsMinimumDistance = 2
	}
	if names := parent.SuggestionsFor(name); len(names) > 0 {
		near = "; nearest: " + strings.Join(names, ", ")
	}
	return fmt.Errorf("unknown command %q%s (%s --help lists them all)", name, near, parent.CommandPath())
}

// knownShell refuses a shell that there is no completion for, where the library shows its help and calls that a success.
func knownShell(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var shells []string
	for _, shell := range c.Commands() {
		shells = append(shells, shell.Name())
	}
	return fmt.Errorf("completion: no shell %q is known: expected one of %s, as %s bash", args[0], strings.Join(shells, ", "), c.CommandPath())
}

// knownCommand refuses help about what is no command.
func knownCommand(c *cobra.Command, args []string) error {
	at := c.Root()
	for _, name := range args {
		next, rest, err := at.Find([]string{name})
		if err != nil || next == at || len(rest) > 0 {
			return unknownCommand(at, name)
		}
		at = next
	}
	return nil
}
