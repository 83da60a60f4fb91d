package boot

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/wopwitness/wopwitness/mockhost/store/postgres"
)

// NamesSchema says whether a store is a PostgreSQL database's and names the schema in it (search_path), which then is the
// operator's own affair.
func NamesSchema(store string) bool {
	u, err := url.Parse(store)
	return onPostgres(store) && err == nil && u.Query().Get("search_path") != ""
}

func onPostgres(store string) bool {
	return strings.HasPrefix(store, "postgres://") || strings.HasPrefix(store, "postgresql://")
}

// OwnStore gives a store that nobody else is in: of a PostgreSQL database without a schema's name, a fresh schema, which
// release drops; any other store as it is.
func OwnStore(ctx context.Context, store string) (own string, release func() error, err error) {
	if !onPostgres(store) || NamesSchema(store) {
		return store, func() error { return nil }, nil
	}
	own, drop, err := postgres.OwnSchema(ctx, store)
	if err != nil {
		return "", nil, fmt.Errorf("prepare the store: %w", err)
	}
	return own, func() error {
		ctx, cancel := context.WithTimeout(context.Background(), shutdownLimit)
		defer cancel()
		return drop(ctx)
	}, nil
}
