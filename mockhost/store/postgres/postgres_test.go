package postgres_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/wopwitness/wopwitness/mockhost/store"
	"github.com/wopwitness/wopwitness/mockhost/store/postgres"
	"github.com/wopwitness/wopwitness/mockhost/store/postgres/pgtest"
	"github.com/wopwitness/wopwitness/mockhost/store/storetest"
)

func open(t *testing.T, address string) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store { return open(t, pgtest.Schema(t)) })
}

func TestContractOfInstances(t *testing.T) {
	storetest.RunInstances(t, func(t *testing.T) (store.Store, store.Store) {
		address := pgtest.Schema(t)
		return open(t, address), open(t, address)
	})
}

func TestManyInstancesMayStartAtOnce(t *testing.T) {
	address := pgtest.Schema(t)
	outcomes := make(chan error)
	const instances = 4
	for range instances {
		go func() {
			s, err := postgres.Open(context.WithoutCancel(t.Context()), address)
			if err == nil {
				err = s.Close()
			}
			outcomes <- err
		}()
	}
	for range instances {
		if err := <-outcomes; err != nil {
			t.Error(err)
		}
	}
}

func TestSchemasDontHearEachOther(t *testing.T) {
	a, b := open(t, pgtest.Schema(t)), open(t, pgtest.Schema(t))
	defer func() { _, _ = a.Close(), b.Close() }()
	heard := make(chan store.Signal, 100)
	defer b.Listen(func(s store.Signal) { heard <- s })()
	for i, s := range []store.Store{a, b} { // b's own event comes by its own call, so a's is looked for behind another of b's schema
		err := s.Announce(t.Context(), store.Signal{Tenant: "t", Ephemeral: &store.Event{Tenant: "t", ID: fmt.Sprint(i)}})
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := <-heard; got.Ephemeral.ID != "1" {
		t.Errorf("heard of another schema's event: %v", got)
	}
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	address := pgtest.Schema(t)
	u, _ := url.Parse(address)
	q := u.Query()
	q.Set("search_path", "no_such_schema")
	u.RawQuery = q.Encode()
	for name, c := range map[string]struct{ address, says string }{
		"not an address": {"postgres://%zz", "read the database's address"},
		"nobody there":   {"postgres://postgres@127.0.0.1:1/test", "connect to the database: see that it runs"},
		"at two":         {"postgres://postgres@127.0.0.1:1,127.0.0.1:2/test", "connect to the database: see that it runs"},
		"no schema":      {u.String(), "none of the schemas in search_path exists"},
	} {
		s, err := postgres.Open(t.Context(), c.address)
		if err == nil {
			t.Errorf("%s: opened", name)
			_ = s.Close()
		} else if !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
