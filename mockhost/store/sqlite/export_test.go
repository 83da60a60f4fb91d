package sqlite

import (
	"context"
	"fmt"
)

// LimitPages bounds the file to so many pages more than it has, as a full disk does.
func (s *Store) LimitPages(ctx context.Context, more int) error {
	var pages int
	if err := s.conn.QueryRowContext(ctx, "PRAGMA page_count").Scan(&pages); err != nil {
		return err
	}
	_, err := s.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA max_page_count = %d", pages+more))
	return err
}

// Queued is how many closures wait for the committer.
func (s *Store) Queued() int { return s.queue.Len() }
