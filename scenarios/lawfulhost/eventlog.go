package lawfulhost

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"slices"
	"sync"
	"time"
)

// hostEvent is one event, whatever its class.
type hostEvent struct {
	ID, Type, Delivery, Workspace string
	At                            time.Time
	Payload                       json.RawMessage
}

// visible says whether a key bound to the workspace ("" for none) sees the event.
func (e hostEvent) visible(workspace string) bool {
	return e.Workspace == "" || e.Workspace == workspace
}

// tenantLog holds a tenant's durable events in commit order, and who is reading now.
type tenantLog struct {
	mu      sync.Mutex
	kept    []hostEvent
	readers []*reader
}

func newTenantLog() *tenantLog { return &tenantLog{} }

// commit makes the event visible: kept where it is durable, and handed to every reader either way.
func (l *tenantLog) commit(e hostEvent) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e.Delivery == classDurable {
		l.kept = append(l.kept, e)
	}
	for _, r := range l.readers {
		if e.visible(r.workspace) {
			r.push(arrival{event: e, committed: time.Now()})
		}
	}
}

// join adds a reader that first gets the backlog after the cursor, where there is one. Both happen under the lock that
// commits take, so nothing is lost or doubled between the two. It says false where the cursor cannot be resumed, and
// then nobody has joined.
func (l *tenantLog) join(r *reader, cursor string, usable func(hostEvent) bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if cursor != "" {
		at := slices.IndexFunc(l.kept, func(e hostEvent) bool { return e.ID == cursor })
		if at < 0 || !l.kept[at].visible(r.workspace) || !usable(l.kept[at]) {
			return false
		}
		for _, e := range l.kept[at+1:] {
			if e.visible(r.workspace) {
				r.push(arrival{event: e, replayed: true})
			}
		}
	}
	l.readers = append(l.readers, r)
	return true
}

// joinFromStart adds a reader that first gets all that is kept.
func (l *tenantLog) joinFromStart(r *reader) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.kept {
		if e.visible(r.workspace) {
			r.push(arrival{event: e, replayed: true})
		}
	}
	l.readers = append(l.readers, r)
}

func (l *tenantLog) leave(r *reader) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.readers = slices.DeleteFunc(l.readers, func(other *reader) bool { return other == r })
}

// remove deletes kept events, and says how many.
func (l *tenantLog) remove(which func(hostEvent) bool) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := len(l.kept)
	l.kept = slices.DeleteFunc(l.kept, which)
	return before - len(l.kept)
}

// arrival is one event on its way to one reader.
type arrival struct {
	event     hostEvent
	replayed  bool
	committed time.Time // zero for the backlog
}

// reader is one stream's queue, without a limit: this host lives as long as a test.
type reader struct {
	workspace string
	mu        sync.Mutex
	queue     []arrival
	wake      chan struct{}
}

func newReader(workspace string) *reader {
	return &reader{workspace: workspace, wake: make(chan struct{}, 1)}
}

func (r *reader) push(a arrival) {
	r.mu.Lock()
	r.queue = append(r.queue, a)
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

func (r *reader) take() []arrival {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.queue
	r.queue = nil
	return taken
}

// newID is an event id in the grammar of RFC 0236.
func (h *Host) newID() string {
	if !h.options.LongIDs {
		return "evt." + randomHex(12)
	}
	return "~A.z_0-9~" + randomHex(58) + "-._"
}

func randomHex(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // crypto/rand.Read never fails
	return hex.EncodeToString(b)
}

// clock is real time plus what the clock seam added, or one moment plus that where it stands still in between.
type clock struct {
	mu    sync.Mutex
	ahead time.Duration
	still time.Time
	tick  time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.still.IsZero() {
		return c.still.Add(c.ahead)
	}
	return time.Now().Add(c.ahead).Truncate(c.tick)
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += d
}
