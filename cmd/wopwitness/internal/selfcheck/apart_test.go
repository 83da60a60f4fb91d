package selfcheck

import (
	"slices"
	"testing"

	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/pages"
)

// TestALegMayConvictWhereInstancesAreApart is about a leg that is claimed to convict over PostgreSQL alone: there it must,
// and over another store it must not.
func TestALegMayConvictWhereInstancesAreApart(t *testing.T) {
	one, also := []string{"0250.cursor-refused"}, []string{"0250.legacy-unchanged"}
	for _, c := range []struct{ name, store, want string }{
		{"caught-by-two", "postgres://db.example/test", ""},
		{"caught-by-two", "memory", "caught-by-two: 0250.legacy-unchanged convicts it and does not claim to: not-advertised"},
		{"caught", "postgres://db.example/test", "caught: 0250.legacy-unchanged claims to convict it and did not (inapplicable: no-cause)"},
		{"caught", "memory", ""},
	} {
		o := options(t, pages.Defect{Name: c.name, RFC: "0250", Convicts: one, Apart: also})
		o.Store = c.store
		r, err := Run(t.Context(), o, func(int, int, Tried) {})
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		if c.want != "" {
			want = []string{c.want}
		}
		if !slices.Equal(r.Problems, want) && len(r.Problems)+len(want) > 0 {
			t.Errorf("%s on %s: got %q, want %q", c.name, c.store, r.Problems, want)
		}
	}
}
