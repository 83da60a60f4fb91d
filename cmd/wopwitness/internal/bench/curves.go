package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/curves"
	"github.com/wopwitness/wopwitness/mockhost/store/sqlite"
)

// CurveNames are the pictures that Curves can measure.
func CurveNames() []string { return []string{"backlog", "subscribers", "tenants", "legs"} }

// Curves measures how costs grow, and gives each picture named in Rows, or every one, to draw as soon as it is whole. A cost
// is processor time, the host's or the suite's own and nobody else's, so that it means the same beside whatever the machine
// does too. Of several rounds it takes the least.
func Curves(ctx context.Context, o Options, draw func(curves.Picture) error) (err error) {
	b := &bench{Options: o}
	b.Rounds = max(b.Rounds, 1)
	if b.folder, err = os.MkdirTemp(o.Dir, "wopwitness-curves-"); err != nil {
		return fmt.Errorf("curves: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.folder)) }()
	for n, measure := range []func(*bench, context.Context) (curves.Picture, error){
		(*bench).overBacklog, (*bench).overSubscribers, (*bench).overTenants, (*bench).overLegs,
	} {
		if len(o.Rows) > 0 && !slices.Contains(o.Rows, CurveNames()[n]) {
			continue
		}
		p, err := measure(b, ctx)
		if err != nil {
			return fmt.Errorf("curves: %w", err)
		}
		if err := draw(p); err != nil {
			return err
		}
	}
	return nil
}

// processor gives the processor time of a host, in seconds, that does some work over a store between its start and its end.
func (b *bench) processor(ctx context.Context, store string, work func(target) error) (float64, error) {
	host, err := b.startHost(ctx, store)
	if err != nil {
		return 0, err
	}
	if err := errors.Join(work(host.target), host.stop()); err != nil {
		return 0, err
	}
	used := host.cmd.ProcessState
	return (used.UserTime() + used.SystemTime()).Seconds(), nil
}

// nothing is done beside what is measured.
func nothing(target) error { return nil }

// cost is what the work costs a host beyond its start, its end and what comes with it in any case, in microseconds for each
// of n things done.
func (b *bench) cost(ctx context.Context, store func() string, n int, anyway, work func(target) error) (float64, error) {
	var with, without []float64
	for range b.Rounds {
		at := store()
		idle, err := b.processor(ctx, at, anyway)
		if err != nil {
			return 0, err
		}
		busy, err := b.processor(ctx, at, work)
		if err != nil {
			return 0, err
		}
		with, without = append(with, busy), append(without, idle)
	}
	return max(0, slices.Min(with)-slices.Min(without)) * 1e6 / float64(n), nil
}

func backlogs() []int { return []int{1_000, 3_000, 10_000, 30_000, 100_000} }

// overBacklog measures resumes over backlogs of different lengths, of one log.
func (b *bench) overBacklog(ctx context.Context) (curves.Picture, error) {
	p := curves.Picture{
		Name: "backlog", Title: "What resuming costs, by the length of the backlog",
		Note: "The host's processor time for each event of a strict resume.", Log: true,
		X: "events behind the cursor", Y: "µs an event", Series: []curves.Series{{Name: "resume"}},
	}
	longest := slices.Max(backlogs())
	b.Progress(fmt.Sprintf("backlog: writing %d events", longest+1))
	f, err := b.fill(ctx, longest+1)
	if err != nil {
		return p, err
	}
	for _, n := range backlogs() {
		cursor, err := f.cursor(ctx, n)
		if err != nil {
			return p, err
		}
		times := longest / n // as many events in all, or the short ones would be lost in the start
		at, err := b.cost(ctx, func() string { return onDisk(f.path) }, n*times, nothing, func(t target) error {
			for range times {
				if err := t.resumeBehind(ctx, cursor, n); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return p, err
		}
		b.add(&p, 0, n, at)
	}
	return p, nil
}

// cursor is the id of the event that n others follow.
func (f filled) cursor(ctx context.Context, n int) (id string, err error) {
	s, err := sqlite.Open(ctx, f.path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	found, err := s.EventsAfter(ctx, f.tenant, int64(f.events-n-1), storePage())
	if err != nil || len(found) == 0 {
		return "", fmt.Errorf("find the event that %d follow: %w", n, errors.Join(err, errors.New("there is none")))
	}
	return found[0].ID, nil
}

func (t target) resumeBehind(ctx context.Context, cursor string, n int) (err error) {
	r, err := t.subscribe(ctx, cursor)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	if err := r.until(n, time.Now().Add(resumeTime)); err != nil {
		return fmt.Errorf("%d of %d events were resumed: %w", r.frames, n, err)
	}
	return nil
}

func (b *bench) add(p *curves.Picture, series, x int, y float64) {
	s := &p.Series[series]
	s.Points = append(s.Points, curves.Point{X: float64(x), Y: y})
	b.Progress(fmt.Sprintf("%s: %s at %d: %s %s", p.Name, s.Name, x, quantity(y, ""), p.Y))
}

func crowds() []int { return []int{1, 100, 200, 400, 600, 800, 1_000} }

// deliveries is about how many a point of the subscribers' curve is measured over.
const deliveries = 200_000

// overSubscribers measures the fan-out of live events to different numbers of streams.
func (b *bench) overSubscribers(ctx context.Context) (curves.Picture, error) {
	p := curves.Picture{
		Name: "subscribers", Title: "What an event costs, by its subscribers",
		Note: "The host's processor time for each durable event: its append, and its way to every live stream.",
		X:    "live subscribers", Y: "µs an event", Series: []curves.Series{{Name: "append and fan-out"}},
	}
	for _, n := range crowds() {
		events := min(deliveries/n, 5_000)
		fan := func(events int) func(target) error {
			return func(t target) error { return t.fanTo(ctx, n, events) }
		}
		at, err := b.cost(ctx, func() string { return onDisk(b.file("fanout.db")) }, events, fan(0), fan(events))
		if err != nil {
			return p, err
		}
		b.add(&p, 0, n, at)
	}
	return p, nil
}

// fanTo has every one of n subscribers get every event.
func (t target) fanTo(ctx context.Context, n, events int) (err error) {
	readers := make([]*reader, 0, n)
	defer func() {
		for _, r := range readers {
			err = errors.Join(err, r.close())
		}
	}()
	for range n {
		r, err := t.subscribe(ctx, "")
		if err != nil {
			return err
		}
		readers = append(readers, r)
	}
	emitted := make(chan error, 1)
	go func() { emitted <- t.emitAll(ctx, fanoutWriters, events) }()
	deadline := time.Now().Add(fanoutTime)
	next := make(chan *reader, n)
	for _, r := range readers {
		next <- r
	}
	read := together(n, func() error { return (<-next).until(events, deadline) })
	return errors.Join(<-emitted, read)
}
