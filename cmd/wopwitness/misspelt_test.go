package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

func TestAMistakeOnTheCommandLineIsNamedInASentence(t *testing.T) {
	for name, tt := range map[string]struct {
		args []string
		says string // the beginning of the one line
	}{
		"a misspelt flag":           {[]string{"run", "--hots", "x"}, "unknown flag: --hots; nearest: --host (wopwitness run --help lists them all)\n"},
		"a misspelt command":        {[]string{"certfy", "--leg", "x"}, `unknown command "certfy"; nearest: certify, verify (wopwitness --help lists them all)` + "\n"},
		"a command like no other":   {[]string{"bogus"}, `unknown command "bogus" (wopwitness --help lists them all)` + "\n"},
		"help about nothing":        {[]string{"help", "nope"}, `unknown command "nope" (wopwitness --help lists them all)` + "\n"},
		"help below a command":      {[]string{"help", "run", "nope"}, `unknown command "nope" (wopwitness run --help lists them all)` + "\n"},
		"a shell of no completion":  {[]string{"completion", "tcsh"}, `completion: no shell "tcsh" is known: expected one of bash, fish, powershell, zsh, as wopwitness completion bash` + "\n"},
		"a time without a unit":     {[]string{"run", "--timeout", "10"}, `--timeout "10": expected a duration with its unit, as 500ms, 10s or 15m` + "\n"},
		"a served time without one": {[]string{"serve", "--min-retention", "1"}, `--min-retention "1": expected a duration with its unit, as 500ms, 10s or 15m` + "\n"},
		"a number in words":         {[]string{"certify", "--volume", "abc"}, `--volume "abc": expected a whole number, as --volume 1200` + "\n"},
		"neither yes nor no":        {[]string{"run", "--require-behavior=maybe"}, `--require-behavior "maybe": expected true or false, as --require-behavior=true, which --require-behavior alone says too` + "\n"},
		"a flag of the program":     {[]string{"--josn"}, "unknown flag: --josn (wopwitness --help lists them all)\n"},
		"no hidden flag":            {[]string{"serve", "--supervisd"}, "unknown flag: --supervisd; nearest: --supervise (wopwitness serve --help lists them all)\n"},
		"a short one":               {[]string{"run", "-x"}, "unknown shorthand flag: 'x' in -x\n"},
		"a flag without a value":    {[]string{"run", "--host"}, "flag needs an argument: --host\n"},
		"no bundle":                 {[]string{"verify"}, "verify needs BUNDLE, which the command line doesn't give: wopwitness verify BUNDLE [flags]\n"},
		"two bundles":               {[]string{"verify", "a", "b"}, `verify takes no argument "b" besides BUNDLE: wopwitness verify BUNDLE [flags]` + "\n"},
		"no observations":           {[]string{"rejudge"}, "rejudge needs OBSERVATIONS, which the command line doesn't give: "},
		"no RFC":                    {[]string{"coverage"}, "coverage needs RFC.md, which the command line doesn't give: "},
		"one of two":                {[]string{"diff", "a"}, "diff needs B, which the command line doesn't give: "},
		"neither of two":            {[]string{"diff"}, "diff needs A and B, which the command line doesn't give: "},
	} {
		t.Run(name, func(t *testing.T) {
			got := invoke(t, nil, tt.args...)
			if got.code != 2 || got.stdout != "" || !strings.HasPrefix(got.stderr, "wopwitness: "+tt.says) ||
				strings.Count(got.stderr, "\n") != 1 || strings.Contains(got.stderr, "--supervised") {
				t.Errorf("exit %d, want it to say %q, and it says\n%s%s", got.code, tt.says, got.stdout, got.stderr)
			}
		})
	}
}

// TestHelpIsNoMistake: what asks for help gets it on standard output.
func TestHelpIsNoMistake(t *testing.T) {
	for says, args := range map[string][]string{
		"Available Commands:":                  nil,
		"Test a host over HTTP":                {"help", "run"},
		"#compdef wopwitness":                  {"completion", "zsh"},
		"bash completion V2 for wopwitness":    {"completion", "bash"},
		"autocompletion script for wopwitness": {"completion"},
		"To load completions":                  {"help", "completion", "bash"},
		"certify\t":                            {"__complete", "cert"},
	} {
		got := invoke(t, nil, args...)
		if got.code != 0 || !strings.Contains(got.stdout, says) {
			t.Errorf("%v: exit %d, want it to say %q, and it says\n%.300s%s", args, got.code, says, got.stdout, got.stderr)
		}
	}
}

func TestKeygenSaysWhichFilesItWrote(t *testing.T) {
	path := filepath.Join(t.TempDir(), "k.pem")
	got := invoke(t, nil, "keygen", "--out", path)
	if want := fmt.Sprintf("private key in %[1]s, public key in %[1]s.pub;", path); got.code != 0 || !strings.HasPrefix(got.stderr, want) {
		t.Errorf("exit %d, %s", got.code, got.stderr)
	}
}
