package mockhost

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/wopwitness/wopwitness/mockhost/clock"
	"github.com/wopwitness/wopwitness/mockhost/http"
	"github.com/wopwitness/wopwitness/mockhost/store"
	"github.com/wopwitness/wopwitness/mockhost/store/postgres"
	"github.com/wopwitness/wopwitness/mockhost/store/sqlite"
)

// openStore opens the store that the configuration names. alone tells that no other process can have it open.
func openStore(ctx context.Context, name string) (_ store.Store, alone bool, err error) {
	path, isSQLite := strings.CutPrefix(name, "sqlite:")
	switch {
	case name == "memory":
		st, err := sqlite.OpenTemporary(ctx)
		return st, true, err
	case isSQLite && path != "":
		st, err := sqlite.Open(ctx, path)
		if errors.Is(err, sqlite.ErrInUse) {
			err = fmt.Errorf("store %q: %w", name, err)
		}
		return st, true, err
	case strings.HasPrefix(name, "postgres://"), strings.HasPrefix(name, "postgresql://"):
		st, err := postgres.Open(ctx, name)
		return st, false, err
	}
	return nil, false, fmt.Errorf("store %q: it is memory, sqlite:PATH or postgres://…", name)
}

// Peer starts a second instance over the same store, with its own ring and its own subscribers; the Shutdown of the host
// it was made from ends it first. On PostgreSQL it is a host like any other process's, with a pool, a clock and due work
// of its own. On SQLite, which is one process's, these remain with the host it was made from.
func (h *Host) Peer(ctx context.Context) (*Host, error) {
	h.shared.mu.Lock()
	defer h.shared.mu.Unlock()
	var p *Host
	if h.shared.alone {
		p = compose(h.config, h.shared, false)
	} else {
		var err error
		if p, err = New(ctx, h.config); err != nil {
			return nil, fmt.Errorf("start another instance: %w", err)
		}
	}
	h.shared.peers = append(h.shared.peers, p)
	return p, nil
}

// Replace shuts the host and its peers down and starts another in its place, which knows what the store and the
// configuration hold and nothing else. A store that only this process can have open is handed on as it is.
func (h *Host) Replace(ctx context.Context) (*Host, error) {
	h.shared.handedOn = h.shared.alone
	if err := h.Shutdown(ctx); err != nil {
		return nil, err
	}
	if !h.shared.alone {
		return New(ctx, h.config)
	}
	next, err := start(ctx, h.config, h.shared.store, true)
	if err != nil {
		return nil, fmt.Errorf("start the host again: %w", errors.Join(err, h.shared.store.Close()))
	}
	return next, nil
}

// hearClock has the runner look at the store's clock again, where another instance moved it or may have moved it.
func (s *shared) hearClock(sig store.Signal) {
	if sig.Clock || sig.CatchUp {
		s.runner.Wake()
	}
}

// inStep answers no request with a clock that another instance has moved: whoever was told of the move may ask here next.
// A clock that can't be moved, or by nobody else, needs no looking at.
func (s *shared) inStep(mode string, next http.Handler) http.Handler {
	if s.alone || mode != hostclock.Manual {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := s.runner.Sync(r.Context()); err != nil {
			hosthttp.WriteProblem(w, hosthttp.Away())
			return
		}
		next.ServeHTTP(w, r)
	})
}
