package scenarios

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"time"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/seams/cause"
	"github.com/wopwitness/wopwitness/seams/client"
	"github.com/wopwitness/wopwitness/witness/deadletter"
	"github.com/wopwitness/wopwitness/witness/hostevents"
	"github.com/wopwitness/wopwitness/witness/observe"
)

const (
	// backWithin bounds how long a host may take to come back.
	backWithin = time.Minute
	// goneWithin bounds how long a process may take to end that answered that it will.
	goneWithin = 2 * time.Second
)

// Restart replaces the host's process: by the operator's means, else by the kill seam. It returns once the host answers
// again. With neither the leg has no cause.
func (d *Drive) Restart(ctx context.Context) (observe.Restart, error) {
	var r observe.Restart
	c := d.run.config
	replace := c.Restart
	if replace == nil && c.RestartCmd != "" {
		replace = func(ctx context.Context) error { return cause.Command(ctx, c.RestartCmd) }
	}
	if replace == nil {
		return d.kill(ctx)
	}
	d.By(causeOperator)
	d.tell("the host is being restarted")
	if err := replace(ctx); err != nil {
		return r, blocked(registry.UnexpectedAnswer, "restarting the host failed: %s", err)
	}
	return r, d.comeBack(ctx, &r, nil)
}

func (d *Drive) kill(ctx context.Context) (observe.Restart, error) {
	d.By(causeSeam)
	ended, x := d.killed(ctx)
	r := observe.Restart{Kill: &x}
	switch {
	case x.Response == nil && x.Failure != nil && x.Failure.Kind == observe.FailRefused:
		return r, blocked(registry.Unreachable, "killing the host's process: %s", x.Failure.Text)
	case x.Response != nil && !cause.SeamMounted(x):
		return r, inapplicable(registry.NoCause, "no command restarts the host (--restart-cmd), and it mounts no kill seam (POST %s answered %d)",
			x.Request.Target, x.Status())
	case x.Response != nil && x.Status() != 202:
		return r, blocked(registry.UnexpectedAnswer, "POST %s answered %d instead of ending the process", x.Request.Target, x.Status())
	}
	return r, d.comeBack(ctx, &r, ended)
}

// killed asks for the end of the host's process, and again where a rate puts that off. A lifeline is held for a bounded time,
// so there is one for each time that it is asked.
func (d *Drive) killed(ctx context.Context) (ended <-chan bool, x observe.Exchange) {
	for left := triggerPatience; ; {
		ended = d.lifeline(ctx)
		x = cause.Kill(ctx, d.Session, d.Major)
		wait, is := client.PutOff(x)
		if !is || wait > left || !d.Sleep(ctx, wait) {
			return ended, x
		}
		left -= wait
	}
}

// lifeline holds a connection to the host's process, and tells once whether the process let go of it within goneWithin,
// which it does by ending. A host that is reached otherwise than straight away (through a proxy, say) is given that time:
// whoever holds the connection says nothing of the process.
func (d *Drive) lifeline(ctx context.Context) <-chan bool {
	ended := make(chan bool, 1)
	conn := d.dial(ctx)
	go func() {
		if conn == nil {
			d.Sleep(ctx, goneWithin)
			ended <- false
			return
		}
		defer func() { _ = conn.Close() }()
		_, err := io.Copy(io.Discard, conn)
		ended <- !errors.Is(err, os.ErrDeadlineExceeded)
	}()
	return ended
}

// dial gives a connection on which the host's process has begun to answer a request, nil where there is none: one that
// merely waits to be accepted could be its successor's.
func (d *Drive) dial(ctx context.Context) net.Conn {
	u, err := url.Parse(d.run.config.BaseURL)
	if err != nil || u.Scheme != "http" {
		return nil
	}
	dialer := net.Dialer{Timeout: goneWithin}
	conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "80")))
	if err != nil {
		return nil
	}
	_ = conn.SetDeadline(time.Now().Add(goneWithin))
	_, err = fmt.Fprintf(conn, "GET /.well-known/openwop HTTP/1.1\r\nHost: %s\r\n\r\n", u.Host)
	if err == nil {
		_, err = conn.Read(make([]byte, 1))
	}
	if err != nil {
		_ = conn.Close()
		return nil
	}
	_ = conn.SetDeadline(time.Now().Add(goneWithin))
	return conn
}

// comeBack asks for discovery until it is answered. A process that said that it will end is waited for until ended tells
// of it: its last answers aren't its successor's.
func (d *Drive) comeBack(ctx context.Context, r *observe.Restart, ended <-chan bool) error {
	began := time.Now()
	if ended != nil {
		r.Away = <-ended
	}
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, deathPause) {
		// A session of its own keeps the many questions out of the leg's record; the answer that counts is asked for again.
		found := d.run.client.Begin().Discover(ctx, d.Major).Exchange
		switch {
		case found.Status() == 0:
			r.Away = true
		case found.Status() == 200:
			r.Back = d.Discover(ctx, d.Major).Exchange
			if r.Back.Status() == 200 {
				return nil
			}
		}
		if time.Since(began) > backWithin || !d.Sleep(ctx, pause) {
			return blocked(registry.Unreachable, "the host did not come back within %s of its restart", backWithin)
		}
	}
}

// restarted drives 0250.restart: three events before the process is replaced, two after it, and a stream that resumes in
// between at the first. Where the host has the means, one more before it is removed.
func restarted(ctx context.Context, d *Drive) (any, error) {
	before, emits, err := d.backlog(ctx, "D1", "R", "D2", "D3")
	if err != nil {
		return nil, err
	}
	// Where the answer doesn't tell whether the event was removed, it is held neither to be there nor to be gone.
	removal, r := cause.Remove(ctx, d.Session, emits[1].EventID, d.Major), emits[1]
	var gone *observe.Emit
	if hostevents.TookEffect(removal) {
		gone = &r
	}
	if cause.SeamMounted(removal) || removal.Response == nil {
		emits = append(emits[:1:1], emits[2:]...)
	}
	before.Close()
	replaced, err := d.Restart(ctx)
	if err != nil {
		return nil, err
	}
	observer, err := d.Live(ctx, observe.CredentialA)
	if err != nil {
		return nil, err
	}
	resumed := d.Resume(ctx, "resumed at D1 after the restart", observe.CredentialA, emits[0].EventID)
	live, err := d.emitEach(ctx, observer, observe.CredentialA, "D4", "D5")
	if err != nil {
		return nil, err
	}
	o := hostevents.Restarted{Suffix: d.recordSuffix(ctx, observer, resumed, append(emits, live...)), Restart: replaced, Gone: gone}
	o.Observer.Segments = append(before.Record().Segments, o.Observer.Segments...)
	return o, nil
}

// exhaustionDurable drives 0053.exhaustion.durable: a run dies, the process is replaced, and the run, its log and its
// entry in the sink are asked for again, and it is forked again.
func exhaustionDurable(ctx context.Context, d *Drive) (any, error) {
	o := deadletter.Durable{}
	var err error
	if o.Run, err = d.Die(ctx, death{label: "the dead run", fixtures: exhausting(), seam: exhaustRetries, reads: true}); err != nil {
		return nil, err
	}
	if pages := d.entries(ctx, observe.CredentialA, o.Run.RunID); deadletter.EntryOf(pages, o.Run.RunID) != nil {
		o.Listed = pages
	}
	o.ForkBefore = d.forkBefore(ctx, o.Run.RunID)
	if o.Restart, err = d.Restart(ctx); err != nil {
		return nil, err
	}
	o.Snapshot = cause.ReadRun(ctx, d.Session, observe.CredentialA, o.Run.RunID, d.Major)
	o.Poll = d.pollLetter(ctx, o.Run)
	if len(o.Listed) > 0 {
		o.Relisted = d.entries(ctx, observe.CredentialA, o.Run.RunID)
	}
	if o.ForkBefore.Status() == 201 {
		o.ForkAfter = d.fork(ctx, cause.ForkCall{Label: "fork after the restart", RunID: o.Run.RunID, Mode: modeReplay})
	}
	return o, nil
}
