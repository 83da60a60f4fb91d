package main

import (
	"context"
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/boot"
	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/soak"
	"github.com/wopwitness/wopwitness/mockhost"
	"github.com/wopwitness/wopwitness/mockhost/store/postgres/pgtest"
)

// faultLimit bounds a test of this file, in real time; none is meant to reach it.
const faultLimit = 3 * time.Minute

// troubled is a host of two instances, with writers and subscribers at both, while something goes wrong below it.
type troubled struct {
	t      *testing.T
	ctx    context.Context
	load   *soak.Load
	crowd  *soak.Crowd
	cursor string
	stop   func() // ends the writing
}

// trouble starts a host over the store, and its clients.
func trouble(t *testing.T, store string, writers, subscribers int) *troubled {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), faultLimit)
	t.Cleanup(cancel)
	host, err := boot.Start(ctx, mockhost.Config{Store: store, Seams: true, KeyA: keyA}, "127.0.0.1:0", true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = host.Stop() }) // its database may be gone
	x := &troubled{t: t, ctx: ctx, load: soak.New(host.URL, host.PeerURL)}
	t.Cleanup(x.load.Close)
	x.cursor = begun(ctx, t, x.load)
	x.crowd = x.load.Crowd(subscribers, []string{keyA}, map[string]string{keyA: x.cursor})
	x.crowd.Start(ctx)
	x.stop = worked(ctx, t, x.load, writers)
	return x
}

// until waits for a condition of the load's.
func (x *troubled) until(what string, holds func() bool) {
	x.t.Helper()
	for !holds() {
		if x.ctx.Err() != nil {
			x.t.Fatalf("it never came to this: %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}

// more waits until that many events and runs more are acknowledged.
func (x *troubled) more(n int) {
	x.t.Helper()
	done := func() int {
		events, runs := x.load.Acknowledged(keyA)
		return events + runs
	}
	until := done() + n
	x.until("more is acknowledged", func() bool { return done() >= until })
}

// refused waits until a writer is told to come again.
func (x *troubled) refused() {
	x.t.Helper()
	before := x.load.Away()
	x.until("a writer is told 503 with Retry-After", func() bool { return x.load.Away() > before })
}

// settle ends the writing and counts.
func (x *troubled) settle() {
	x.t.Helper()
	x.stop()
	a := audited(x.ctx, x.t, x.load, x.cursor)
	seen, err := x.crowd.Count(x.ctx, map[string][]string{keyA: a.Log})
	if err != nil || seen.Wrong() > 0 || seen.Events != seen.Subscribers*len(a.Log) {
		x.t.Errorf("%s, %v", seen, err)
	}
	x.t.Logf("%s, on %d streams; %d requests were told to come again", seen, x.crowd.Joined(), x.load.Away())
}

// TestTheDatabaseRestartsUnderLoad stops the database and starts it again, in order and out of order, while two instances
// write to it and read from it.
func TestTheDatabaseRestartsUnderLoad(t *testing.T) {
	cluster := pgtest.NewCluster(t)
	x := trouble(t, cluster.URL(), 4, 8)
	for _, how := range []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGQUIT, syscall.SIGINT} {
		x.more(50)
		cluster.Stop(how)
		x.refused()
		cluster.Start()
	}
	x.more(50)
	x.settle()
}

// TestTheDatabaseIsFull fills the disk below the tables: writers are told to come again, what is there can be read on, and
// with room again everything goes on.
func TestTheDatabaseIsFull(t *testing.T) {
	cluster := pgtest.NewCluster(t)
	disk := cluster.NewDisk()
	x := trouble(t, cluster.URL(), 4, 4)
	for range 2 {
		x.more(50)
		disk.Fill()
		x.refused()
		events, _ := x.load.Acknowledged(keyA)
		read := 0
		reader := soak.Subscriber{Key: keyA, Cursor: x.cursor, Event: func(string) bool { read++; return read < events-1 }}
		x.until("a full database is read", func() bool {
			if err := reader.Read(x.ctx, http.DefaultTransport, x.load.URL()); err != nil {
				t.Fatal(err)
			}
			return read >= events-1
		})
		disk.Free()
	}
	x.more(50)
	x.settle()
}

// TestTheLinkIsSlowAndBreaks has the way to the database delay everything, carry little, and break in between.
func TestTheLinkIsSlowAndBreaks(t *testing.T) {
	link := pgtest.NewLink(t, pgtest.Schema(t))
	link.Slow(2*time.Millisecond, 512<<10)
	x := trouble(t, link.URL(), 4, 4)
	for range 2 {
		x.more(20)
		link.Cut()
		x.refused()
		link.Mend()
	}
	// More than the link carries in a second, in a log that subscribers read meanwhile.
	for range 16 {
		if _, err := x.load.LargeEvent(x.ctx, keyA, 64<<10); err != nil {
			t.Fatal(err)
		}
	}
	x.more(20)
	x.settle()
}
