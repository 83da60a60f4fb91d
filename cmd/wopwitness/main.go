// Command wopwitness certifies OpenWOP hosts for run dead-lettering (RFC 0053) and strict host-event replay (RFC 0250),
// serves a reference host that is right, and proves by hosts that are wrong in one way each that its verdicts are.
//
// Flags and environment are read here and nowhere below. Start with newRoot.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"golang.org/x/term"

	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/runner"
	"github.com/wopwitness/wopwitness/reports/ledger"
	"github.com/wopwitness/wopwitness/reports/render"
	"github.com/wopwitness/wopwitness/scenarios"
)

func main() {
	// The HTTP library writes what a host sends unasked to the standard logger: host text, and perhaps a key in it.
	log.SetOutput(io.Discard)
	ctx, release := untilSignalled(context.Background())
	p := &program{
		output: os.Stdout, messages: os.Stderr, env: os.Getenv,
		outputTerminal: term.IsTerminal(int(os.Stdout.Fd())), messagesTerminal: term.IsTerminal(int(os.Stderr.Fd())),
	}
	code := p.execute(ctx, os.Args[1:])
	release()
	os.Exit(code)
}

// untilSignalled gives a context that the first SIGINT or SIGTERM cancels as an interruption. After it the signals have
// their default effect again, so that a second one ends the program at once.
func untilSignalled(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-signals:
			signal.Stop(signals)
			cancel(scenarios.Interrupted())
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(nil)
		<-ended
	}
}

// execute runs one command line and gives the exit code. An error is one line on the messages.
func (p *program) execute(ctx context.Context, args []string) int {
	root := p.newRoot()
	root.SetArgs(args)
	root.SetOut(p.output)
	root.SetErr(p.messages)
	err := misspelt(root, args)
	if err == nil {
		err = root.ExecuteContext(ctx)
	}
	if err == nil {
		return p.exit
	}
	for line := range strings.SplitSeq(strings.TrimRight(err.Error(), "\n"), "\n") {
		fmt.Fprintf(p.messages, "wopwitness: %s\n", render.Plain(line)) // an error may quote a stranger's file
	}
	switch {
	case p.exit != 0:
		return p.exit
	case runner.IsUsage(err) || !p.started:
		return ledger.ExitUsage
	}
	return ledger.ExitBlocked
}
