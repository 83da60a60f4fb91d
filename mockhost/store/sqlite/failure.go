package sqlite

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/wopwitness/wopwitness/mockhost/store"
)

// away marks an error that tells of a full disk, a busy file or a failing device: what was asked was right, and may be
// done later.
func away(err error) error {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code() & 0xff { // an extended code has its class in the lowest byte
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_IOERR:
		return fmt.Errorf("%w: %w", store.ErrUnavailable, err)
	}
	return err
}
