package sqlite_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/store"
	"github.com/wopwitness/wopwitness/mockhost/store/sqlite"
)

// TestAFullDiskIsTold fills the file to its bound: what doesn't fit is told to be unavailable, what was acknowledged is
// all there, and with room again the log goes on where it was.
func TestAFullDiskIsTold(t *testing.T) {
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "host.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	insert := func(n int) error {
		return s.Write(t.Context(), func(tx store.Tx) error {
			slot, err := tx.NextSlot("a", time.Unix(0, 0))
			if err != nil {
				return err
			}
			return tx.InsertEvent(store.Event{Tenant: "a", Seq: slot.Seq, ID: fmt.Sprint(n), Type: "a.b", At: slot.At, Envelope: make([]byte, 1000)})
		})
	}
	if err := s.LimitPages(t.Context(), 20); err != nil {
		t.Fatal(err)
	}
	kept := 0
	for err = insert(kept); err == nil && kept < 1000; err = insert(kept) {
		kept++
	}
	if !errors.Is(err, store.ErrUnavailable) || kept == 0 {
		t.Fatalf("after %d events: %v", kept, err)
	}
	if err := s.LimitPages(t.Context(), 100); err != nil {
		t.Fatal(err)
	}
	if err := insert(kept); err != nil {
		t.Fatalf("with room again: %v", err)
	}
	events, err := s.EventsAfter(t.Context(), "a", 0, store.Page{Rows: 2000, Bytes: 1 << 30})
	if err != nil || len(events) != kept+1 {
		t.Fatalf("%d of %d acknowledged events, %v", len(events), kept+1, err)
	}
	for i, e := range events {
		if e.Seq != int64(i+1) || e.ID != fmt.Sprint(i) {
			t.Errorf("place %d has %s at %d", i, e.ID, e.Seq)
		}
	}
}
