package defects

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// retentionDefects are wrong about events past the bound or removed (RFC 0250 §C and §D).
func retentionDefects() []Defect {
	r := func(name, says string, convicts []string, apply func(*parts.Parts, *journal)) Defect {
		return Defect{Info{Name: name, Says: says, RFC: "0250", Convicts: convicts}, remembering(apply)}
	}
	expired, gone := []string{"0250.expired"}, []string{"0250.removed"}
	return []Defect{
		r("expired-cursor-gone", "answers a cursor past the bound with 410", expired, expiredGone),
		r("expired-cursor-loses-younger", "resumes a cursor past the bound, and begins live", expired, expiredLosesYounger),
		{Info{
			Name: "retention-by-count", Says: "keeps the newest 1,000 events, whatever it promised in seconds", RFC: "0250",
			Convicts: []string{"0250.volume"},
		}, wraps(retentionByCount)},
		{Info{
			Name: "retention-sweeps-young", Says: "sweeps the whole log when its oldest event falls due", RFC: "0250", Convicts: expired,
		}, wraps(sweepsYoung)},
		r("removed-cursor-message", "says in the refusal that the event was deleted", gone, removedMessage),
		r("removed-cursor-resumed", "still resumes from the place of a removed event", gone, removedResumed),
		r("removed-event-replayed", "removes an event as a cursor, and goes on replaying it", []string{"0250.removed", "0250.restart"}, removedReplayed),
	}
}

// swept is the events that the journal knows and the log doesn't: past the bound, or removed.
func swept(p *parts.Parts, wasRemoved func(id string) bool) func(parts.Principal, entry) bool {
	return func(pr parts.Principal, e entry) bool {
		return e.event.Durable() && e.event.Tenant == pr.Tenant && !wasRemoved(e.event.ID) && p.Visibility.Sees(pr, e.event)
	}
}

func expiredGone(p *parts.Parts, j *journal) {
	refusesKnown(p, j, swept(p, removals(p)), http.StatusGone, "gone", "that event is past the retention")
}

func expiredLosesYounger(p *parts.Parts, j *journal) {
	resumesKnown(p, j, swept(p, removals(p)), atHead)
}

// removals remembers what the removal operation removed.
func removals(p *parts.Parts) func(id string) bool {
	var mu sync.Mutex
	ids := map[string]bool{}
	removed(p, func(right parts.Log, ctx context.Context, pr parts.Principal, id string) (bool, error) {
		ok, err := right.Remove(ctx, pr, id)
		if err == nil && ok {
			mu.Lock()
			ids[id] = true
			mu.Unlock()
		}
		return ok, err
	})
	return func(id string) bool {
		mu.Lock()
		defer mu.Unlock()
		return ids[id]
	}
}

func removedOnly(p *parts.Parts) func(parts.Principal, entry) bool {
	was := removals(p)
	return func(pr parts.Principal, e entry) bool { return e.event.Tenant == pr.Tenant && was(e.event.ID) }
}

func removedMessage(p *parts.Parts, j *journal) {
	refusesKnown(p, j, removedOnly(p), http.StatusConflict, resyncCode, "that event was deleted; "+resyncMessage)
}

func removedResumed(p *parts.Parts, j *journal) {
	resumesKnown(p, j, removedOnly(p), func(e entry, _ int64) int64 { return e.place })
}

// removedReplayed hides the removed event from the lookup of a cursor and leaves it in the log.
func removedReplayed(p *parts.Parts, _ *journal) {
	log := &hidingLog{Log: p.Log, hidden: map[string]bool{}}
	p.Log = log
}

type hidingLog struct {
	parts.Log
	mu     sync.Mutex
	hidden map[string]bool
}

func (l *hidingLog) Remove(ctx context.Context, pr parts.Principal, id string) (bool, error) {
	_, ok, err := l.Find(ctx, pr, id)
	if err != nil || !ok {
		return false, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hidden[id] = true
	return true, nil
}

func (l *hidingLog) Find(ctx context.Context, pr parts.Principal, id string) (store.Event, bool, error) {
	l.mu.Lock()
	hidden := l.hidden[id]
	l.mu.Unlock()
	if hidden {
		return store.Event{}, false, nil
	}
	return l.Log.Find(ctx, pr, id)
}

// keptEvents is how many events such a host keeps of a tenant.
const keptEvents = 1000

// retentionByCount removes, with each event, those that are more than keptEvents back.
func retentionByCount(p *parts.Parts) {
	p.Log = &countingLog{Log: p.Log, at: map[string][]time.Time{}}
}

type countingLog struct {
	parts.Log
	mu sync.Mutex
	at map[string][]time.Time // of each tenant's kept events, oldest first
}

func (l *countingLog) Append(ctx context.Context, pr parts.Principal, d parts.Draft, also func(store.Tx, store.Event) error) (store.Event, error) {
	if d.Delivery != parts.Durable {
		return l.Log.Append(ctx, pr, d, also)
	}
	return l.Log.Append(ctx, pr, d, func(tx store.Tx, e store.Event) error {
		if oldest, full := l.count(e); full {
			if _, err := tx.SweepEvents(e.Tenant, oldest); err != nil {
				return err
			}
		}
		if also != nil {
			return also(tx, e)
		}
		return nil
	})
}

func (l *countingLog) count(e store.Event) (oldest time.Time, full bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	kept := append(l.at[e.Tenant], e.At)
	if len(kept) > keptEvents {
		kept = kept[1:]
		full = true
	}
	l.at[e.Tenant] = kept
	return kept[0], full
}

// impatient is a retention that sweeps what isn't due yet.
type impatient struct{ parts.Retention }

func (r impatient) Sweep(ctx context.Context, tenant string, now time.Time) error {
	return r.Retention.Sweep(ctx, tenant, now.AddDate(1, 0, 0))
}

func sweepsYoung(p *parts.Parts) { p.Retention = impatient{p.Retention} }
