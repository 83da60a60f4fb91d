package conforming

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

func TestProjectionIsOneSegmentAndComesBack(t *testing.T) {
	segment := regexp.MustCompile(`^([A-Za-z0-9._-]|~[0-9A-F]{2})*$`)
	rapid.Check(t, func(rt *rapid.T) {
		id := rapid.String().Draw(rt, "id")
		shown := ProjectID(id)
		if !segment.MatchString(shown) {
			rt.Fatalf("%q projects to %q", id, shown)
		}
		if back, ok := unproject(shown); !ok || back != id {
			rt.Fatalf("%q projects to %q, which is %q, %v", id, shown, back, ok)
		}
	})
}

func TestSegmentsThatNameATenant(t *testing.T) {
	for segment, want := range map[string][2]string{
		"acme~2Fr-9f":        {"acme", "r-9f"},
		"acme/r-9f":          {"acme", "r-9f"}, // "acme%2Fr-9f", decoded
		"anon~3Aacme~2Fr-9f": {"anon:acme", "r-9f"},
		"anon:acme/r-9f":     {"anon:acme", "r-9f"},
		"a~2Fb~2Fc":          {"a", "b/c"},
		"r-9f":               {}, // opaque
		"acme~2fr-9f":        {}, // a projection has upper-case digits
		"acme~2":             {},
		"acme~":              {},
		"acme~ZZr":           {},
		"acme:r~2F9":         {}, // a colon would have been projected
		"":                   {},
	} {
		tenant, opaque, bound := boundID(segment)
		if bound != (want != [2]string{}) || bound && want != [2]string{tenant, opaque} {
			t.Errorf("%q: got %q, %q, %v", segment, tenant, opaque, bound)
		}
	}
}

func FuzzSegments(f *testing.F) {
	for _, s := range []string{"acme~2Fr-9f", "acme/r-9f", "r-9f", "~", "~~", "~2F", "a~2F~2F", "\x00~FF"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, segment string) {
		tenant, opaque, bound := boundID(segment)
		if bound && !strings.Contains(segment, "/") && ProjectID(tenant+"/"+opaque) != segment {
			t.Errorf("%q names %q of %q, which projects to another segment", segment, opaque, tenant)
		}
	})
}

// oneRun is an engine with a single run, of the tenant acme.
type oneRun struct{ parts.Runs }

func (oneRun) Find(_ context.Context, p parts.Principal, id string) (store.Run, bool, error) {
	return store.Run{Tenant: "acme", ID: "r-9f"}, p.Tenant == "acme" && id == "r-9f", nil
}

func TestFinderTellsNothingOfOtherTenants(t *testing.T) {
	f := RunFinder{Parts: &parts.Parts{Runs: oneRun{}}}
	for name, c := range map[string]struct {
		tenant, segment string
		one, two        string // the problem on either major, "" for found
	}{
		"its own, opaque":           {"acme", "r-9f", "", ""},
		"its own, projected":        {"acme", "acme~2Fr-9f", "not_found", ""},
		"its own, never there":      {"acme", "acme~2Fr-00", "not_found", "not_found"},
		"another's, there":          {"birch", "acme~2Fr-9f", "not_found", "id_tenant_mismatch"},
		"another's, never there":    {"birch", "acme~2Fr-00", "not_found", "id_tenant_mismatch"},
		"another's, opaque":         {"birch", "r-9f", "not_found", "not_found"},
		"a tenant that isn't there": {"acme", "nobody~2Fr-9f", "not_found", "id_tenant_mismatch"},
	} {
		for major, want := range map[int]string{1: c.one, 2: c.two} {
			_, err := f.Named(t.Context(), parts.Principal{Tenant: c.tenant}, major, parts.DoorRead, c.segment)
			got := ""
			var p *parts.Problem
			if errors.As(err, &p) {
				got = p.Code
			}
			if got != want || err != nil && p == nil {
				t.Errorf("%s, major %d: got %v, want %q", name, major, err, want)
			}
		}
	}
}
