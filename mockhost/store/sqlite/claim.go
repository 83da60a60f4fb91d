package sqlite

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/store"
)

// claim is who does some work, and until when nobody else may. All instances over a SQLite file share this process, so a
// claim is kept in memory, and one whose claimer died is gone with it. One that is replaced within the process ends its own.
type claim struct {
	by    string
	until time.Time
}

// ClaimWork implements store.Store.
func (s *Store) ClaimWork(ctx context.Context, c store.Claim) (_ store.Work, _ bool, err error) {
	s.claimMu.Lock()
	defer s.claimMu.Unlock()
	rows, err := s.reads.dueWork.QueryContext(ctx, c.UpTo.UnixNano())
	if err != nil {
		return store.Work{}, false, s.failed("claim due work", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var w store.Work
		var due int64
		if err := rows.Scan(&w.Kind, &w.Key, &due); err != nil {
			return store.Work{}, false, s.failed("claim due work", err)
		}
		w.Due = fromNano(due)
		held, ok := s.claims[named(w)]
		if ok && held.by != c.By && held.until.After(c.Now) {
			continue
		}
		s.claims[named(w)] = claim{by: c.By, until: c.Until}
		return w, true, nil
	}
	if err := rows.Err(); err != nil {
		return store.Work{}, false, s.failed("claim due work", err)
	}
	return store.Work{}, false, nil
}

// FreeWork implements store.Store.
func (s *Store) FreeWork(_ context.Context, by string) error {
	s.claimMu.Lock()
	defer s.claimMu.Unlock()
	maps.DeleteFunc(s.claims, func(_ store.Work, c claim) bool { return c.by == by })
	return nil
}

// free ends the claim of work that was rescheduled or dropped.
func (s *Store) free(w store.Work) {
	s.claimMu.Lock()
	defer s.claimMu.Unlock()
	delete(s.claims, named(w))
}

// named is work by its name alone.
func named(w store.Work) store.Work { return store.Work{Kind: w.Kind, Key: w.Key} }
