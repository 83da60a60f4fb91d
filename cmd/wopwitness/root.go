package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/runner"
)

// program is one invocation: where it writes, what it reads from the environment, and how it will exit.
type program struct {
	output, messages                 io.Writer
	outputTerminal, messagesTerminal bool
	env                              func(string) string
	exit                             int
	started                          bool // a command's own work began, so an error is no longer the command line's
}

func (p *program) newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "wopwitness",
		Short: "Certify OpenWOP hosts for strict event replay and run dead-lettering",
		Long: `wopwitness certifies OpenWOP hosts for run dead-lettering (RFC 0053) and strict host-event replay (RFC 0250).

It points at a host over HTTP and gives a verdict per requirement, with what was sent and what came for each that
failed. It carries a reference host to be right against, and many that are wrong in exactly one way.

Exit codes: 0 nothing failed or was blocked and behaviour was observed; 1 a requirement failed; 2 the command line or
the configuration is wrong; 3 something was blocked, or no behaviour was observed; 130 interrupted.`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetFlagErrorFunc(badFlag)
	root.AddCommand(
		p.certifyCommand(), p.runCommand(), p.serveCommand(), p.selfcheckCommand(), p.benchCommand(), p.soakCommand(),
		p.legsCommand(), p.rejudgeCommand(), p.verifyCommand(), p.diffCommand(), p.coverageCommand(), p.keygenCommand(), p.versionCommand(),
	)
	for _, c := range root.Commands() {
		before := c.RunE
		c.RunE = func(cmd *cobra.Command, args []string) error {
			p.started = true
			return before(cmd, args)
		}
	}
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "completion":
			c.Args, c.RunE = knownShell, func(c *cobra.Command, _ []string) error { return c.Help() }
		case "help":
			c.Args = knownCommand
		}
	}
	return root
}

func (p *program) console(json bool) runner.Console {
	c := runner.Console{Output: p.output, Messages: p.messages, NoColor: p.env("NO_COLOR"), Terminal: p.outputTerminal}
	if json {
		c.Terminal = p.messagesTerminal
	}
	return c
}

// yes reads a variable that is yes or no; unset and empty are no. A word that is neither is an error: taken for a no, it
// would make a gate lax that somebody believes to be strict.
func (p *program) yes(name string) (bool, error) {
	switch text := strings.TrimSpace(p.env(name)); strings.ToLower(text) {
	case "true", "1":
		return true, nil
	case "false", "0", "":
		return false, nil
	default:
		return false, fmt.Errorf("%s is %q: expected true or 1, or false, 0 or nothing", name, text)
	}
}

// listed reads a comma-separated variable.
func (p *program) listed(name string) []string {
	var items []string
	for item := range strings.SplitSeq(p.env(name), ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}
