package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/wopwitness/wopwitness/mockhost/store"
)

// oneLine is an error whose text is one line: the driver's has a line for each address that it tried.
type oneLine struct{ error }

func (o oneLine) Error() string {
	return strings.NewReplacer(":\n\t", ": ", "\n\t", "; ", "\n", " ").Replace(o.error.Error())
}

func (o oneLine) Unwrap() error { return o.error }

// failed wraps an error, and says plainly when the cause is that the store was closed or that the database is away.
func (s *Store) failed(doing string, err error) error {
	switch {
	case err == nil:
		return nil
	case s.queue.Closed():
		return fmt.Errorf("%s: %w", doing, store.ErrClosed)
	case away(err):
		return fmt.Errorf("%s: %w: %w", doing, store.ErrUnavailable, err)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// away reports whether the database couldn't be reached or couldn't go on, rather than refused what was asked.
func away(err error) bool {
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		// Classes: connection exceptions, a conflict that a repetition may not meet, lack of resources (a full disk, too many
		// connections), an operator's intervention, a system error. And: a session that was ended, a server that only reads.
		return len(refused.Code) == 5 && slices.Contains([]string{"08", "40", "53", "57", "58"}, refused.Code[:2]) ||
			refused.Code == "25P03" || refused.Code == "25006"
	}
	return !errors.Is(err, context.Canceled)
}
