package soak

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// keys are those of the two tenants of a served host.
func keys() []string { return []string{"soak-key-of-tenant-a", "soak-key-of-tenant-b"} }

// instance is one process at a time that serves the host at an address.
type instance struct {
	executable, store, addr string
	life                    context.Context // of whichever process serves

	cmd   *exec.Cmd
	said  *bytes.Buffer
	ready chan bool    // says once whether the process came to serve
	pid   atomic.Int64 // of the process that serves; 0 for none
}

// address finds one to keep over many processes: below those that the kernel gives to clients, since one that knocks
// where nobody listens could be given the very port and be connected to itself.
func address(ctx context.Context) (string, error) {
	var config net.ListenConfig
	for range 50 {
		addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(15000+rand.IntN(15000)))
		if l, err := config.Listen(ctx, "tcp", addr); err == nil {
			return addr, l.Close()
		}
	}
	return "", errors.New("found no free port")
}

// start starts a process, and returns before it serves.
func (i *instance) start() error {
	k := keys()
	i.cmd = exec.CommandContext(i.life, i.executable, "serve", "--addr", i.addr, "--store", i.store, "--seams", "--key-a", k[0], "--key-b", k[1]) //nolint:gosec // this program
	i.said = &bytes.Buffer{}
	i.cmd.Stderr = i.said
	stdout, err := i.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := i.cmd.Start(); err != nil {
		return fmt.Errorf("start an instance: %w", err)
	}
	i.ready = make(chan bool, 1)
	go func(pid int, ready chan<- bool) {
		says := bufio.NewReader(stdout)
		line, _ := says.ReadString('\n') // of a process that dies first there is none
		serves := strings.HasPrefix(line, "mock host at ")
		if serves {
			i.pid.Store(int64(pid))
		}
		ready <- serves
		_, _ = io.Copy(io.Discard, says) // ends with the process
	}(i.cmd.Process.Pid, i.ready)
	return nil
}

// kill ends the process at once, as kill -9 does, and returns when it is gone. One that had ended by itself is an error.
func (i *instance) kill() error {
	err := i.cmd.Process.Kill()
	i.pid.Store(0)
	ended := i.cmd.Wait()
	if errors.Is(err, os.ErrProcessDone) || i.cmd.ProcessState.Exited() {
		return fmt.Errorf("an instance ended by itself: %w: %s", ended, bytes.TrimSpace(i.said.Bytes()))
	}
	return nil
}

// await returns once the process serves.
func (i *instance) await(ctx context.Context) error {
	select {
	case serves := <-i.ready:
		if serves {
			return nil
		}
		return i.kill()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// killed starts processes and kills each at a random moment: every fourth while it starts, the others in the middle of the
// writers' work, some time after they serve. done is how much of that work there is.
func (i *instance) killed(ctx context.Context, done func() int64, another func() bool) error {
	for n := 0; another(); n++ {
		until := done()
		if n%4 != 0 {
			if err := i.await(ctx); err != nil {
				return err
			}
			until = done() + rand.Int64N(mostWork)
		}
		begun, least := time.Now(), rand.N(shortestLife)
		for lived := time.Duration(0); lived < least || done() < until && lived < longestLife; lived = time.Since(begun) {
			if err := pause(ctx); err != nil {
				return err
			}
		}
		if err := i.kill(); err != nil {
			return err
		}
		if err := i.start(); err != nil {
			return err
		}
	}
	return i.await(ctx)
}

const (
	// mostWork bounds how much of the writers' work is done in a process's life.
	mostWork = 16
	// shortestLife and longestLife bound that life in real time: one that is killed as it starts lives about as long as a
	// start takes, and where the writers have nothing to do one is killed all the same.
	shortestLife = 200 * time.Millisecond
	longestLife  = 2 * time.Second
)

// resident is how much memory the process that serves has resident, in bytes; 0 where there is none, or where this system
// doesn't tell it in /proc.
func (i *instance) resident() int64 {
	pid := i.pid.Load()
	if pid == 0 {
		return 0
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}
