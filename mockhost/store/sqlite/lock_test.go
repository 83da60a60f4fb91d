package sqlite_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/wopwitness/wopwitness/mockhost/store/sqlite"
)

func TestAFileIsOpenOnce(t *testing.T) {
	folder := t.TempDir()
	path, link := filepath.Join(folder, "host.db"), filepath.Join(folder, "link.db")
	first := opened(t, path)
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, link} {
		if s, err := sqlite.Open(t.Context(), name); !errors.Is(err, sqlite.ErrInUse) {
			t.Errorf("%s: %v", filepath.Base(name), err)
			if err == nil {
				_ = s.Close()
			}
		}
	}
	if err := first.Write(t.Context(), sweeps); err != nil {
		t.Errorf("the first, after others were refused: %v", err)
	}
	opened(t, filepath.Join(folder, "other.db"))
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	opened(t, path)
}

// asked is a context that tells when somebody first waits for its end, as Open does while the file is taken.
type asked struct {
	context.Context
	once sync.Once
	told chan struct{}
}

func (a *asked) Done() <-chan struct{} {
	a.once.Do(func() { close(a.told) })
	return a.Context.Done()
}

func TestASuccessorWaitsForTheOneItReplaces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "host.db")
	first := opened(t, path)
	ctx := &asked{Context: t.Context(), told: make(chan struct{})}
	outcome := make(chan error, 1)
	go func() {
		s, err := sqlite.Open(ctx, path)
		if err == nil {
			err = s.Close()
		}
		outcome <- err
	}()
	select {
	case <-ctx.told:
	case err := <-outcome:
		t.Fatalf("it did not wait: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-outcome; err != nil {
		t.Error(err)
	}
}
