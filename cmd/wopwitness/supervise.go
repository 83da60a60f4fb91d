package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/boot"
	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/runner"
)

// The turns of a supervised process: the first one tells how it can be reached.
const (
	turnFirst = "first"
	turnAgain = "again"
)

// stopsWithin is how long a supervised process may take to stop by itself.
const stopsWithin = 10 * time.Second

// supervise serves from a process of its own, with the flags that this one was given, and starts another whenever one was
// killed. A process that ends by itself isn't started again: it would end so again. This process listens, and hands the
// listener on, so the address is never free in between: who calls while the host is away waits for the next one.
func (p *program) supervise(cmd *cobra.Command, addr, store string) (err error) {
	if store == "memory" {
		return runner.Usage(errors.New("--supervise needs a --store that outlives the process: sqlite:PATH or postgres://…"))
	}
	listener, err := boot.Listen(cmd.Context(), addr)
	if err != nil {
		return runner.Usage(err)
	}
	defer func() { err = errors.Join(err, listener.Close()) }()
	tcp, ok := listener.(*net.TCPListener)
	if !ok {
		return fmt.Errorf("listen on %s: it is no TCP address", addr)
	}
	handedOn, err := tcp.File()
	if err != nil {
		return fmt.Errorf("hand the address %s on: %w", addr, err)
	}
	defer func() { err = errors.Join(err, handedOn.Close()) }()
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this executable: %w", err)
	}
	args := []string{"serve"}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Name != "supervise" && f.Name != "addr" {
			args = append(args, "--"+f.Name+"="+f.Value.String())
		}
	})
	for turn := turnFirst; ; turn = turnAgain {
		served := exec.CommandContext(cmd.Context(), self, append(args, "--supervised="+turn)...) //nolint:gosec // this program
		served.Stdout, served.Stderr, served.ExtraFiles = p.output, p.messages, []*os.File{handedOn}
		served.Cancel = func() error { return served.Process.Signal(syscall.SIGTERM) }
		served.WaitDelay = stopsWithin
		err := served.Run()
		var exit *exec.ExitError
		switch {
		case cmd.Context().Err() != nil:
			return nil
		case errors.As(err, &exit) && !exit.Exited():
			fmt.Fprintf(p.messages, "the host died (%s) and is started again\n", exit.ProcessState)
		case errors.As(err, &exit):
			p.exit = exit.ExitCode()
			return nil
		default:
			return err
		}
	}
}

// inherited is the file of the listener that a supervisor hands on: the first after the standard ones.
const inherited = 3

// fromSupervisor is the listener that this process was started with.
func fromSupervisor() (net.Listener, error) {
	file := os.NewFile(inherited, "the supervisor's listener")
	listener, err := net.FileListener(file)
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, fmt.Errorf("--supervised is set by --supervise alone: take over the listener: %w", err)
	}
	return listener, nil
}

// killSelf ends this process as kill -9 does.
func killSelf() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL) // one's own process can always be killed
}
