package sqlite_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/store"
	"github.com/wopwitness/wopwitness/mockhost/store/sqlite"
	"github.com/wopwitness/wopwitness/mockhost/store/storetest"
)

func TestContract(t *testing.T) {
	t.Run("file", func(t *testing.T) {
		storetest.Run(t, func(t *testing.T) store.Store {
			s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "a name with spaces & signs?.db"))
			if err != nil {
				t.Fatal(err)
			}
			return s
		})
	})
	t.Run("temporary", func(t *testing.T) {
		storetest.Run(t, func(t *testing.T) store.Store {
			s, err := sqlite.OpenTemporary(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return s
		})
	})
}

func TestReopenedFileHasEverything(t *testing.T) {
	path := filepath.Join(t.TempDir(), "host.db")
	open := func() store.Store {
		s, err := sqlite.Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := open()
	now := time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
	err := s.Write(t.Context(), func(tx store.Tx) error {
		slot, err := tx.NextSlot("a", now)
		_, _, moved := tx.MoveClock(0, time.Hour)
		return errors.Join(err, moved,
			tx.InsertEvent(store.Event{Tenant: "a", Seq: slot.Seq, ID: "e1", Type: "a.b", At: slot.At, Envelope: []byte("{}")}),
			tx.PutWork(store.Work{Kind: "k", Key: "a", Due: now}))
	})
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	s = open()
	defer func() { _ = s.Close() }()
	head, err := s.Head(t.Context(), "a")
	if err != nil || head != 1 {
		t.Errorf("head: %d, %v", head, err)
	}
	if w, ok, err := s.NextWork(t.Context()); err != nil || !ok || !w.Due.Equal(now) {
		t.Errorf("work: %v %v %v", w, ok, err)
	}
	if d, err := s.ClockOffset(t.Context()); err != nil || d != time.Hour {
		t.Errorf("offset: %s, %v", d, err)
	}
}

func TestTemporaryStoreLeavesNothing(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s, err := sqlite.OpenTemporary(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadDir(os.TempDir())
	if err != nil || len(before) != 1 {
		t.Fatalf("while open: %v, %v", before, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadDir(os.TempDir())
	if err != nil || len(after) != 0 {
		t.Errorf("after Close: %v, %v", after, err)
	}
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	folder := t.TempDir()
	notSQLite := filepath.Join(folder, "notes.txt")
	if err := os.WriteFile(notSQLite, []byte(strings.Repeat("these are notes, not a database\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{
		"no such folder": filepath.Join(folder, "missing", "host.db"),
		"another file":   notSQLite,
	} {
		if s, err := sqlite.Open(t.Context(), path); err == nil {
			t.Errorf("%s: opened", name)
			_ = s.Close()
		} else if !strings.Contains(err.Error(), filepath.Base(path)) {
			t.Errorf("%s: the error doesn't name the file: %v", name, err)
		} else if path != notSQLite && !strings.Contains(err.Error(), "its folder must be there") {
			t.Errorf("%s: the error doesn't say what to do: %v", name, err)
		}
	}
}

func TestWriteOfACallerThatLeftDoesNothing(t *testing.T) {
	s, err := sqlite.OpenTemporary(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	ran := []bool{}
	err = s.Write(ctx, func(store.Tx) error { ran = append(ran, true); return nil })
	if !errors.Is(err, context.Canceled) || slices.Contains(ran, true) {
		t.Errorf("got %v, ran %v", err, ran)
	}
}
