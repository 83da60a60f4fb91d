package bench

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/bench/limits"
)

// stopLimit is how long a process that was asked to stop may take.
const stopLimit = 10 * time.Second

// server is the mock host or a limit in a process of its own, so that what it costs is not mixed with its clients' cost.
type server struct {
	target
	cmd     *exec.Cmd
	stderr  bytes.Buffer
	drained chan struct{}
}

// hostKey is the credential of the mock host's first tenant. The host listens on loopback and ends with the row.
const hostKey = "bench-key-of-tenant-a"

// startHost serves the mock host over a store: what --store takes.
func (b *bench) startHost(ctx context.Context, store string) (*server, error) {
	return b.start(ctx, "mock host at ", "serve", "--addr", "127.0.0.1:0", "--seams", "--key-a", hostKey, "--store", store)
}

// onDisk is a store in the file at path, where every commit reaches the disk.
func onDisk(path string) string { return "sqlite:" + path }

// startLimit serves a limit over a fresh database.
func (b *bench) startLimit(ctx context.Context, name string) (*server, error) {
	return b.start(ctx, limits.Ready, "bench", "limit", name, "--db", b.file(name+".db"))
}

func (b *bench) start(ctx context.Context, ready string, args ...string) (*server, error) {
	s := &server{cmd: exec.CommandContext(ctx, b.Executable, args...), drained: make(chan struct{})}
	s.cmd.Cancel = func() error { return s.cmd.Process.Signal(syscall.SIGTERM) }
	s.cmd.WaitDelay = stopLimit
	s.cmd.Stderr = &s.stderr
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", args[0], err)
	}
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", args[0], err)
	}
	said := bufio.NewReader(stdout)
	line, err := said.ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), ready)
	go func() {
		defer close(s.drained)
		_, _ = io.Copy(io.Discard, said) // ends with the process
	}()
	if err != nil || !ok {
		return nil, errors.Join(fmt.Errorf("%s did not say where it serves, but %q", strings.Join(args[:2], " "), line), s.stop())
	}
	s.target = newTarget(url)
	return s, nil
}

// stop ends the process and waits for it.
func (s *server) stop() error {
	s.release()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-s.drained
	if err := s.cmd.Wait(); err != nil {
		return fmt.Errorf("%s ended badly: %w: %s", strings.Join(s.cmd.Args[1:3], " "), err, strings.TrimSpace(s.stderr.String()))
	}
	return nil
}

// errNoMemory says that this system doesn't tell a process's peak memory where the bench reads it.
var errNoMemory = errors.New("the peak memory of a process is read from /proc, which this system doesn't have")

// peak is the most memory that the process has had resident, in MiB.
func (s *server) peak() (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0, errNoMemory
	}
	return peakOf(string(status))
}

func peakOf(status string) (float64, error) {
	for line := range strings.SplitSeq(status, "\n") {
		rest, ok := strings.CutPrefix(line, "VmHWM:")
		if !ok {
			continue
		}
		kib, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(rest, "kB")), 64)
		if err != nil {
			return 0, fmt.Errorf("read peak memory: %w", err)
		}
		return kib / 1024, nil
	}
	return 0, errNoMemory
}

// both starts the host over a fresh database and a limit, and gives what stops them.
func (b *bench) both(ctx context.Context, name string) (host, limit *server, stop func() error, err error) {
	if host, err = b.startHost(ctx, onDisk(b.file("host.db"))); err != nil {
		return nil, nil, nil, err
	}
	if limit, err = b.startLimit(ctx, name); err != nil {
		return nil, nil, nil, errors.Join(err, host.stop())
	}
	return host, limit, func() error { return errors.Join(host.stop(), limit.stop()) }, nil
}
