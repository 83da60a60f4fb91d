// Package keep is the agent worker's records in the store, each under its type: how it is written down, and what it is
// looked up by.
//
// It never decides anything. Start at Kind; kinds.go is the list of them.
package keep

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/store"
)

// Kind is one kind of record of the type T.
type Kind[T any] struct {
	name string
	// row gives the record's name and what it is looked up by; the kind and the body are added.
	row func(v T) store.Record
	// placed gives the value what its body doesn't hold.
	placed func(v *T, tenant string, seq int64)
}

func (k Kind[T]) encode(v T) (store.Record, error) {
	r := k.row(v)
	body, err := json.Marshal(v)
	if err != nil {
		return r, fmt.Errorf("write %s %s down: %w", k.name, r.ID, err)
	}
	r.Kind, r.Body = k.name, body
	return r, nil
}

func (k Kind[T]) decode(r store.Record) (v T, err error) {
	if err := json.Unmarshal(r.Body, &v); err != nil {
		return v, fmt.Errorf("read %s %s: %w", k.name, r.ID, err)
	}
	k.placed(&v, r.Tenant, r.Seq)
	return v, nil
}

// Insert keeps a new value, and gives it its place; false, and nothing is changed, where its name is taken.
func (k Kind[T]) Insert(tx store.RecordTx, v *T) (bool, error) {
	r, err := k.encode(*v)
	if err != nil {
		return false, err
	}
	inserted, err := tx.InsertRecord(&r)
	if inserted {
		k.placed(v, r.Tenant, r.Seq)
	}
	return inserted, err
}

// Put keeps a value, new or changed.
func (k Kind[T]) Put(tx store.RecordTx, v T) error {
	r, err := k.encode(v)
	if err != nil {
		return err
	}
	return tx.PutRecord(r)
}

// Drop removes the value of that name.
func (k Kind[T]) Drop(tx store.RecordTx, tenant, id string) error {
	return tx.DropRecord(tenant, k.name, id)
}

// Get reads the value of that name; false where there is none.
func (k Kind[T]) Get(from store.RecordReader, tenant, id string) (v T, ok bool, err error) {
	r, ok, err := from.Record(tenant, k.name, id)
	if err != nil || !ok {
		return v, false, err
	}
	v, err = k.decode(r)
	return v, err == nil, err
}

// List reads what fits, oldest first. The query's kind is this one.
func (k Kind[T]) List(from store.RecordReader, tenant string, q store.RecordQuery) ([]T, error) {
	q.Kind = k.name
	rs, err := from.Records(tenant, q)
	if err != nil {
		return nil, err
	}
	out := make([]T, 0, len(rs))
	for _, r := range rs {
		v, err := k.decode(r)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// Count counts what fits. The query's kind is this one.
func (k Kind[T]) Count(from store.RecordReader, tenant string, q store.RecordQuery) (store.Tally, error) {
	q.Kind = k.name
	return from.CountRecords(tenant, q)
}

// Instant is a time as the wire carries it, so that the kept and the shown one are equal.
func Instant(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }
