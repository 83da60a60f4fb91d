package postgres

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/wopwitness/wopwitness/mockhost/store"
)

// PostgreSQL takes notifications under 8,000 bytes. A chunk of an ephemeral event is this many bytes at most before
// base64, and so is under 6 KB with all that is around it.
const chunkBytes = 4000

// note is a notification as it travels. Several of them carry one ephemeral event, which nothing else does.
type note struct {
	From    string `json:"f"`
	Tenant  string `json:"t,omitempty"`
	Head    int64  `json:"h,omitempty"`
	Removed int64  `json:"r,omitempty"`
	SweptTo int64  `json:"s,omitempty"`
	Run     string `json:"n,omitempty"`
	Clock   bool   `json:"c,omitempty"`

	Event string `json:"e,omitempty"` // id of the ephemeral event that this is a chunk of
	Part  int    `json:"p,omitempty"` // from 0
	Parts int    `json:"q,omitempty"`
	Chunk string `json:"d,omitempty"` // base64
}

func encode(self string, s store.Signal) string {
	b, _ := json.Marshal(note{ // of such a struct it never fails
		From: self, Tenant: s.Tenant, Head: s.Head, Removed: s.Removed, SweptTo: s.SweptTo, Run: s.Run, Clock: s.Clock,
	})
	return string(b)
}

func (n note) signal() store.Signal {
	return store.Signal{Tenant: n.Tenant, Head: n.Head, Removed: n.Removed, SweptTo: n.SweptTo, Run: n.Run, Clock: n.Clock}
}

// notification is a statement that tells the other instances of what a transaction did: of one head, the last.
func (s *Store) notification(signals []store.Signal) string {
	var payloads []string
	told := map[store.Signal]bool{}
	for i := len(signals) - 1; i >= 0; i-- {
		once := signals[i]
		if once.Head > 0 {
			once.Head = 1
		}
		if !told[once] {
			told[once] = true
			payloads = append(payloads, encode(s.self, signals[i]))
		}
	}
	calls := make([]string, 0, len(payloads))
	for _, p := range slices.Backward(payloads) {
		calls = append(calls, fmt.Sprintf("pg_notify('%s', '%s')", s.channel, strings.ReplaceAll(p, "'", "''")))
	}
	return "SELECT " + strings.Join(calls, ", ")
}

// chunks divides an ephemeral event into payloads.
func chunks(self string, e store.Event) ([]string, error) {
	whole, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	n := (len(whole) + chunkBytes - 1) / chunkBytes
	out := make([]string, 0, n)
	for part := range slices.Chunk(whole, chunkBytes) {
		b, err := json.Marshal(note{
			From: self, Tenant: e.Tenant, Event: e.ID, Part: len(out), Parts: n, Chunk: base64.StdEncoding.EncodeToString(part),
		})
		if err != nil {
			return nil, err
		}
		out = append(out, string(b))
	}
	return out, nil
}

// assembly puts ephemeral events together again. One sender's chunks come in order, since one transaction sends them.
type assembly struct {
	parts map[[2]string][]byte // by sender and event
	next  map[[2]string]int
}

func newAssembly() *assembly {
	return &assembly{parts: map[[2]string][]byte{}, next: map[[2]string]int{}}
}

// add takes a chunk, and gives the event with its last one. An event that chunks are missing of isn't given.
func (a *assembly) add(n note) (*store.Event, bool) {
	key := [2]string{n.From, n.Event}
	chunk, err := base64.StdEncoding.DecodeString(n.Chunk)
	if err != nil || n.Part != a.next[key] {
		delete(a.parts, key)
		delete(a.next, key)
		return nil, false
	}
	a.parts[key] = append(a.parts[key], chunk...)
	a.next[key]++
	if a.next[key] < n.Parts {
		return nil, false
	}
	whole := a.parts[key]
	delete(a.parts, key)
	delete(a.next, key)
	var e store.Event
	if json.Unmarshal(whole, &e) != nil {
		return nil, false
	}
	return &e, true
}

// Announce implements store.Store. What a transaction did the others hear by its commit; only an ephemeral event, of
// which the store keeps nothing, is sent from here.
func (s *Store) Announce(ctx context.Context, sig store.Signal) error {
	if s.queue.Closed() {
		return store.ErrClosed
	}
	if sig.Ephemeral != nil {
		payloads, err := chunks(s.self, *sig.Ephemeral)
		if err != nil {
			return s.failed("divide an ephemeral event", err)
		}
		ctx, cancel := context.WithTimeout(ctx, statementLimit)
		defer cancel()
		_, err = s.pool.Exec(ctx, `SELECT pg_notify($1, part) FROM unnest($2::text[]) AS part`,
			s.channel, pgtype.FlatArray[string](payloads))
		if err != nil {
			return s.failed("send an ephemeral event to other instances", err)
		}
	}
	s.listeners.Tell(sig)
	return nil
}

// Listen implements store.Store.
func (s *Store) Listen(f func(store.Signal)) (stop func()) { return s.listeners.Listen(f) }
