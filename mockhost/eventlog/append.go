package eventlog

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// Append implements parts.Log.
func (h *Hub) Append(ctx context.Context, p parts.Principal, d parts.Draft, also func(store.Tx, store.Event) error) (store.Event, error) {
	e := store.Event{Tenant: p.Tenant, Type: d.Type, Workspace: d.Workspace}
	if d.Delivery == parts.Ephemeral {
		return h.appendEphemeral(ctx, e, d, also)
	}
	t, err := h.tenant(ctx, p.Tenant)
	if err != nil {
		return store.Event{}, err
	}
	err = h.store.Write(ctx, func(tx store.Tx) error {
		slot, err := tx.NextSlot(p.Tenant, instant(h.parts.Clock.Now()))
		if err != nil {
			return err
		}
		e.Seq, e.At = slot.Seq, slot.At
		if e.ID, err = newID(e.At); err != nil {
			return err
		}
		if e.Envelope, err = h.parts.Encoder.Encode(e, d.Delivery, d.Payload); err != nil {
			return err
		}
		if err := tx.InsertEvent(e); err != nil {
			return err
		}
		if slot.Unswept {
			w := store.Work{Kind: SweepWork, Key: p.Tenant, Due: h.parts.Retention.FirstDue(e.At)}
			if err := tx.PutWork(w); err != nil {
				return err
			}
		}
		if also != nil {
			if err := also(tx, e); err != nil {
				return err
			}
		}
		frame := &parts.Frame{Event: e, Bytes: h.parts.Framer.Frame(e)}
		tx.AfterCommit(func() {
			t.extend(e.Seq-1, []*parts.Frame{frame}, e.Seq)
			h.announce(store.Signal{Tenant: e.Tenant, Head: e.Seq})
		})
		return nil
	})
	if err != nil {
		return store.Event{}, fmt.Errorf("append a host event: %w", err)
	}
	return e, nil
}

func (h *Hub) appendEphemeral(ctx context.Context, e store.Event, d parts.Draft, also func(store.Tx, store.Event) error) (store.Event, error) {
	var err error
	e.At = instant(h.parts.Clock.Now())
	if e.ID, err = newID(e.At); err != nil {
		return store.Event{}, err
	}
	if e.Envelope, err = h.parts.Encoder.Encode(e, d.Delivery, d.Payload); err != nil {
		return store.Event{}, err
	}
	if also != nil {
		err := h.store.Write(ctx, func(tx store.Tx) error { return also(tx, e) })
		if err != nil {
			return store.Event{}, fmt.Errorf("keep the answer of an ephemeral event: %w", err)
		}
	}
	if err := h.parts.Ephemerals.Publish(ctx, e); err != nil {
		return store.Event{}, fmt.Errorf("send an ephemeral event: %w", err)
	}
	return e, nil
}

// Publish implements parts.Ephemerals: every instance hears the event, this one included.
func (h *Hub) Publish(ctx context.Context, e store.Event) error {
	return h.store.Announce(ctx, store.Signal{Tenant: e.Tenant, Ephemeral: &e})
}

func (h *Hub) announce(s store.Signal) {
	if err := h.store.Announce(context.Background(), s); err != nil {
		h.log.Warn("other instances were not told", "error", err)
	}
}

// Find implements parts.Log.
func (h *Hub) Find(ctx context.Context, p parts.Principal, id string) (store.Event, bool, error) {
	e, ok, err := h.store.FindEvent(ctx, p.Tenant, id)
	if err != nil || !ok || !h.parts.Visibility.Sees(p, e) {
		return store.Event{}, false, err
	}
	return e, true, nil
}

// Head implements parts.Log.
func (h *Hub) Head(ctx context.Context, p parts.Principal) (int64, error) {
	return h.store.Head(ctx, p.Tenant)
}

// Remove implements parts.Log.
func (h *Hub) Remove(ctx context.Context, p parts.Principal, id string) (bool, error) {
	_, ok, err := h.Find(ctx, p, id)
	if err != nil || !ok {
		return false, err
	}
	err = h.store.Write(ctx, func(tx store.Tx) error {
		e, found, err := tx.RemoveEvent(p.Tenant, id)
		if err != nil {
			return err
		}
		ok = found
		tx.AfterCommit(func() { h.announce(store.Signal{Tenant: p.Tenant, Removed: e.Seq}) })
		return nil
	})
	if err != nil {
		return false, fmt.Errorf("remove a host event: %w", err)
	}
	return ok, nil
}

// instant is a time as the envelope can carry it, so that the stored and the sent one are equal.
func instant(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// newID makes an event id: 26 characters of RFC 0236's grammar, unguessable.
func newID(at time.Time) (string, error) {
	id, err := ulid.New(ulid.Timestamp(at), rand.Reader)
	if err != nil {
		return "", fmt.Errorf("make an event id: %w", err)
	}
	return id.String(), nil
}
