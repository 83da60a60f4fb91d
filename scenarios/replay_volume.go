package scenarios

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/seams/cause"
	"github.com/wopwitness/wopwitness/seams/client"
	"github.com/wopwitness/wopwitness/seams/sse"
	"github.com/wopwitness/wopwitness/witness/hostevents"
	"github.com/wopwitness/wopwitness/witness/observe"
)

const (
	defaultVolume = 1200
	volumeWriters = 8
	// The host's rate is measured on the first events; where all of them would take longer than volumeTime, the emit seam
	// is tried, and then the leg gives up.
	volumeSample = 20
	volumeTime   = 60 * time.Second
)

// volume drives 0250.volume: a cursor, more newer events than hubs are known to keep, by several writers at once, and two
// behind them, the first of which is a cursor as well.
func volume(ctx context.Context, d *Drive) (any, error) {
	observer, emits, err := d.backlog(ctx, "D")
	if err != nil {
		return nil, err
	}
	count := d.run.config.Volume
	if count <= 0 {
		count = defaultVolume
	}
	open := d.Resume(ctx, "open throughout", observe.CredentialA, emits[0].EventID)
	write := d.triggerOne
	sample := min(volumeSample, count)
	began := time.Now()
	more, err := d.writeMany(ctx, 1, sample, write)
	if err != nil {
		return nil, err
	}
	emits = append(emits, more...)
	if rest := count - sample; rest > 0 {
		if each := time.Since(began) / time.Duration(sample); each*time.Duration(rest) > volumeTime {
			eventType, mounted := d.seamType(ctx, &emits)
			if !mounted {
				return nil, inapplicable(registry.RateTooLow, "%d events took %s, so %d would take longer than %s, and no emit seam is mounted",
					sample, time.Since(began).Round(time.Millisecond), count, volumeTime)
			}
			d.By(causeSeam)
			write = d.seamWriter(eventType)
		}
		timed, cancel := context.WithTimeoutCause(ctx, 2*volumeTime, errTooSlow)
		defer cancel()
		if more, err = d.writeMany(timed, sample+1, rest, write); err != nil {
			if ctx.Err() == nil && errors.Is(context.Cause(timed), errTooSlow) {
				return nil, inapplicable(registry.RateTooLow, "%d events took longer than %s", count, 2*volumeTime)
			}
			return nil, err
		}
		emits = append(emits, more...)
	}
	last, err := d.emitEach(ctx, observer, observe.CredentialA, "R", "S")
	if err != nil {
		return nil, err
	}
	emits = append(emits, last...)
	return d.recordVolume(ctx, observer, open, emits), nil
}

// recordVolume resumes at the cursor before the events and at the one behind them, and reads the streams out. The observer
// is given the time that they took.
func (d *Drive) recordVolume(ctx context.Context, observer, open *sse.Subscription, emits []observe.Emit) hostevents.Volume {
	resumed := d.Resume(ctx, "resumed behind many", observe.CredentialA, emits[0].EventID)
	late := emits[len(emits)-2]
	recent := d.Resume(ctx, "resumed at "+late.Label, observe.CredentialA, late.EventID)
	if recent.Opened() {
		d.Await(ctx, recent, observe.CredentialA, Shows(last(emits).EventID))
	}
	all := idsAfter(emits, 0)
	for _, s := range []*sse.Subscription{observer, open, resumed} {
		if s.Opened() {
			d.Await(ctx, s, observe.CredentialA, Shows(all...))
		}
	}
	d.Linger(ctx, resumed, d.Quiet())
	open.Close()
	recent.Close()
	return hostevents.Volume{
		Suffix: d.closeSuffix(observer, resumed, emits), Open: open.Record(),
		Late: hostevents.Subscriber{Cursor: late.Label, Stream: recent.Record()},
	}
}

var errTooSlow = errors.New("the host takes events too slowly")

type writeOne func(ctx context.Context, label string) (observe.Emit, error)

// writeMany emits count events by several writers at once, labelled from first on, and gives them in the order sent. The
// first error stops all of them.
func (d *Drive) writeMany(ctx context.Context, first, count int, write writeOne) ([]observe.Emit, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		writing sync.WaitGroup
		next    atomic.Int64
		failed  sync.Once
		err     error
	)
	emits := make([]observe.Emit, count)
	for range min(volumeWriters, count) {
		writing.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= count {
					return
				}
				e, wrong := write(ctx, fmt.Sprintf("V%d", first+i))
				if wrong != nil {
					failed.Do(func() { err = wrong; cancel() })
					return
				}
				emits[i] = e
			}
		})
	}
	writing.Wait()
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(emits, func(a, b observe.Emit) int { return cmp.Compare(a.SentAt(), b.SentAt()) })
	return emits, nil
}

func (d *Drive) triggerOne(ctx context.Context, label string) (observe.Emit, error) {
	return d.Send(ctx, cause.TriggerCall{Label: label, Credential: observe.CredentialA, Delivery: durable})
}

func (d *Drive) seamWriter(eventType string) writeOne {
	return func(ctx context.Context, label string) (observe.Emit, error) {
		return d.EmitSeam(ctx, cause.EmitCall{Label: label, Type: eventType})
	}
}

// EmitSeam causes one durable event of the first tenant through the emit seam. Anything but an acceptance ends the leg;
// a seam that is not mounted gives it no cause.
func (d *Drive) EmitSeam(ctx context.Context, c cause.EmitCall) (observe.Emit, error) {
	c.Credential, c.Delivery, c.Major, c.MaxWait = observe.CredentialA, durable, d.Major, triggerPatience
	e := cause.EmitSeam(ctx, d.Session, c)
	x := e.Answer()
	switch {
	case x.Response == nil && x.Failure != nil:
		return e, blocked(failureReason(x.Failure.Kind), "POST %s: %s", x.Request.Target, x.Failure.Text)
	case x.Status() == 429:
		return e, inapplicable(registry.RateTooLow, "the emit seam kept answering 429 for longer than %s", triggerPatience)
	case !cause.SeamMounted(x):
		return e, inapplicable(registry.NoCause, "the host mounts no emit seam (POST %s answered %d)", x.Request.Target, x.Status())
	case e.EventID == "":
		return e, blocked(registry.UnexpectedAnswer, "POST %s for a %s answered %d without an accepted event", x.Request.Target, c.Type, x.Status())
	}
	return e, nil
}

// seamType finds a durable type that the emit seam takes, by emitting one event of it, which is added to the emits.
func (d *Drive) seamType(ctx context.Context, emits *[]observe.Emit) (string, bool) {
	eventType, listed := d.durableType()
	if !listed {
		return "", false
	}
	e, err := d.EmitSeam(ctx, cause.EmitCall{Label: "V0", Type: eventType})
	if err != nil {
		return "", false
	}
	*emits = append(*emits, e)
	return eventType, true
}

// durableType is a durable type that the host lists for the emit seam. The reserved ones are the trigger's alone.
func (d *Drive) durableType() (string, bool) {
	events, _ := d.run.host.Discovery[d.Major].HostEvents()
	for _, t := range events.Types {
		if t.Delivery == durable && t.Type != client.DurableTriggered && !strings.HasPrefix(t.Type, "host-test.") {
			return t.Type, true
		}
	}
	return "", false
}
