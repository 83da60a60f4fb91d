package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// startLimit bounds how long a server may take to start or stop, in real time.
const startLimit = time.Minute

// Cluster is a PostgreSQL server of the test's own, which may be stopped, killed and filled. It ends with the test.
type Cluster struct {
	t       *testing.T
	bin     string
	data    string
	port    int
	as      *syscall.SysProcAttr // whom the server runs as; PostgreSQL refuses root
	uid     int
	running *exec.Cmd
	said    bytes.Buffer
}

// NewCluster makes and starts a server in a temporary folder. Without PostgreSQL's own programs, or as root without a user
// to run them as, the test is skipped.
func NewCluster(t *testing.T) *Cluster {
	t.Helper()
	c := &Cluster{t: t, bin: binaries(t), port: port(t), uid: os.Getuid()}
	if c.uid == 0 {
		c.runAs(t)
	}
	folder, err := os.MkdirTemp("", "wopwitness-cluster-") // the test's own folder is shut to whom the server runs as
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	c.data = filepath.Join(folder, "data")
	err = errors.Join(os.Chmod(folder, 0o755), os.Mkdir(c.data, 0o700), os.Chown(c.data, c.uid, -1)) //nolint:gosec // that one must pass through
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), startLimit)
	defer cancel()
	initdb := exec.CommandContext(ctx, filepath.Join(c.bin, "initdb"), "--pgdata", c.data, "--username", "postgres", "--auth", "trust", "--no-sync", "--encoding", "UTF8", "--locale", "C") //nolint:gosec // as found above
	initdb.SysProcAttr, initdb.Dir = c.as, c.data
	if out, err := initdb.CombinedOutput(); err != nil {
		t.Fatalf("make a database server: %v\n%s", err, out)
	}
	t.Cleanup(func() { c.Stop(syscall.SIGQUIT) })
	c.Start()
	return c
}

// binaries is the folder of the server's programs, which aren't on the path of every system that has them.
func binaries(t *testing.T) string {
	t.Helper()
	if found, err := exec.LookPath("initdb"); err == nil {
		if real, err := filepath.EvalSymlinks(found); err == nil {
			return filepath.Dir(real)
		}
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // the pattern is a right one
	if len(found) == 0 {
		t.Skip("no PostgreSQL server to start: initdb is neither on the path nor in /usr/lib/postgresql")
	}
	return filepath.Dir(found[len(found)-1])
}

func (c *Cluster) runAs(t *testing.T) {
	t.Helper()
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if err != nil || err2 != nil {
			continue
		}
		c.uid = int(uid)
		c.as = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
		return
	}
	t.Skip("PostgreSQL doesn't run as root, and there is neither a user postgres nor nobody to run it as")
}

// port is a free one below those that the kernel gives to clients, so that it is still free after a stop.
func port(t *testing.T) int {
	t.Helper()
	var config net.ListenConfig
	for range 50 {
		n := 12000 + rand.IntN(3000)
		l, err := config.Listen(t.Context(), "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(n)))
		if err != nil {
			continue
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		return n
	}
	t.Fatal("found no free port")
	return 0
}

// URL is the database's, as its superuser.
func (c *Cluster) URL() string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", c.port)
}

// Start starts the server and returns once it takes connections. What it promised is kept by the system over every death of
// its processes, so it needn't wait for the disk.
func (c *Cluster) Start() {
	c.t.Helper()
	c.said.Reset()
	c.running = exec.CommandContext(context.WithoutCancel(c.t.Context()), filepath.Join(c.bin, "postgres"), "-D", c.data, "-p", strconv.Itoa(c.port), //nolint:gosec // as found above
		"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "fsync=off", "-c", "shared_buffers=16MB")
	c.running.SysProcAttr, c.running.Dir, c.running.Stderr, c.running.Stdout = c.as, c.data, &c.said, io.Discard
	if err := c.running.Start(); err != nil {
		c.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(c.t.Context(), startLimit)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, c.URL())
		if err == nil {
			_ = conn.Close(ctx)
			return
		}
		if ctx.Err() != nil {
			c.Stop(syscall.SIGQUIT)
			c.t.Fatalf("the database server doesn't start: %v\n%s", err, c.said.String())
		}
		pause, stop := context.WithTimeout(ctx, 10*time.Millisecond)
		<-pause.Done()
		stop()
	}
}

// Stop ends the server and returns once it is gone: SIGINT has it end its sessions first, SIGQUIT leaves everything as it
// is, to be recovered from at the next start.
func (c *Cluster) Stop(how syscall.Signal) {
	c.t.Helper()
	if c.running == nil {
		return
	}
	_ = c.running.Process.Signal(how)
	_ = c.running.Wait() // a server that was killed doesn't end well
	c.running = nil
}

// Exec runs statements, each by itself.
func (c *Cluster) Exec(statements ...string) {
	c.t.Helper()
	ctx := context.WithoutCancel(c.t.Context())
	conn, err := pgx.Connect(ctx, c.URL())
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	for _, s := range statements {
		if _, err := conn.Exec(ctx, s); err != nil {
			c.t.Fatalf("%s: %v", s, err)
		}
	}
}
