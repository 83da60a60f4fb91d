package bench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/curves"
	"github.com/wopwitness/wopwitness/mockhost/store"
	"github.com/wopwitness/wopwitness/mockhost/store/sqlite"
	"github.com/wopwitness/wopwitness/scenarios/registry"
)

func tenants() []int { return []int{1, 10, 30, 100, 300} }

// The sizes of a point of the tenants' curves.
const (
	ownBacklog   = 5_000 // of the tenant that is measured
	othersEvents = 500   // of each other
	ownResumes   = 10
	ownAppends   = 3_000
	ownWriters   = 16
)

func storePage() store.Page { return store.Page{Rows: 1, Bytes: 1} }

// overTenants measures one tenant's resume and append in a store where others have events too.
func (b *bench) overTenants(ctx context.Context) (curves.Picture, error) {
	p := curves.Picture{
		Name: "tenants", Title: "What a tenant's events cost, by the tenants beside it",
		Note: "The host's processor time for each event of one tenant, with 500 events of each other in the store.", Log: true,
		X: "tenants in the store", Y: "µs an event", Series: []curves.Series{{Name: "append"}, {Name: "resume"}},
	}
	for _, n := range tenants() {
		f, err := b.fillAmong(ctx, n)
		if err != nil {
			return p, err
		}
		cursor, err := f.cursor(ctx, ownBacklog)
		if err != nil {
			return p, err
		}
		at := func() string { return onDisk(f.path) }
		resumed, err := b.cost(ctx, at, ownResumes*ownBacklog, nothing, func(t target) error {
			for range ownResumes {
				if err := t.resumeBehind(ctx, cursor, ownBacklog); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return p, err
		}
		appended, err := b.cost(ctx, at, ownAppends, nothing, func(t target) error { return t.emitAll(ctx, ownWriters, ownAppends) })
		if err != nil {
			return p, err
		}
		b.add(&p, 0, n, appended)
		b.add(&p, 1, n, resumed)
	}
	return p, nil
}

// fillAmong fills a log of one tenant, and shorter ones of so many others that there are n.
func (b *bench) fillAmong(ctx context.Context, n int) (f filled, err error) {
	if f, err = b.fill(ctx, ownBacklog+1); err != nil || n == 1 {
		return f, err
	}
	s, err := sqlite.Open(ctx, f.path)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for i := range n - 1 {
		other := filled{tenant: fmt.Sprintf("neighbour-%04d", i)}
		if err := s.Write(ctx, func(tx store.Tx) error { return other.add(tx, othersEvents) }); err != nil {
			return f, fmt.Errorf("fill another tenant's log: %w", err)
		}
	}
	return f, nil
}

// overLegs measures the suite with more and more of its legs, in the order of the registry.
func (b *bench) overLegs(ctx context.Context) (curves.Picture, error) {
	p := curves.Picture{
		Name: "legs", Title: "What the suite costs, by its legs",
		Note: "A certify with the first legs of the registry, the mock host's share and the reports included.",
		X:    "legs", Y: "seconds of processor time", Series: []curves.Series{{Name: "certify"}},
	}
	var ids []string
	for _, l := range registry.Legs() {
		ids = append(ids, string(l.ID))
	}
	for _, share := range []float64{0.05, 0.2, 0.4, 0.6, 0.8, 1} {
		n := max(1, int(share*float64(len(ids))))
		args := []string{"certify", "--json"}
		for _, id := range ids[:n] {
			args = append(args, "--leg", id)
		}
		var used []float64
		for range b.Rounds {
			state, err := b.program(ctx, append(slices.Clone(args), "--out", filepath.Join(b.folder, "certified"))...)
			if err != nil && !strings.Contains(err.Error(), "exit status 3") {
				return p, err // few legs may be of shapes alone, which is no verdict and no matter here
			}
			if err == nil {
				used = append(used, (state.UserTime() + state.SystemTime()).Seconds())
			}
		}
		if len(used) == 0 {
			continue
		}
		b.add(&p, 0, n, slices.Min(used))
	}
	return p, nil
}
