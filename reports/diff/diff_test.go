package diff_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wopwitness/wopwitness/reports/bundle"
	"github.com/wopwitness/wopwitness/reports/diff"
	"github.com/wopwitness/wopwitness/reports/rejudge"
	"github.com/wopwitness/wopwitness/scenarios/registry"
)

func with(rows ...registry.Row) bundle.Bundle {
	b := bundle.Bundle{Host: bundle.Host{Name: "acme", Build: &bundle.Build{Kind: "commit", ID: "1"}}}
	b.Results.Requirements = rows
	b.ClaimedProfiles = []bundle.Claim{{ID: "p", Certified: true}}
	return b
}

func row(id string, result registry.Result, detail string) registry.Row {
	return registry.Row{ID: id, Result: result, Detail: detail, Assertions: 1, Observation: "one"}
}

func TestBundles(t *testing.T) {
	base := with(row("a", registry.Pass, ""), row("b", registry.Inapplicable, "no-cause"))
	later := func(change func(*bundle.Bundle)) bundle.Bundle {
		b := with(row("a", registry.Pass, ""), row("b", registry.Inapplicable, "no-cause"))
		change(&b)
		return b
	}
	member := func(id, name, was, is string) []rejudge.Difference {
		return []rejudge.Difference{{ID: id, Member: name, Was: was, Is: is}}
	}
	for _, c := range []struct {
		name      string
		is        bundle.Bundle
		want      diff.Report
		regressed bool
	}{
		{"the same host again", later(func(b *bundle.Bundle) {
			b.Results.Requirements[0].Observation, b.GeneratedAt, b.WitnessSha256 = "another", "later", "x"
		}), diff.Report{}, false},
		{"a pass lost", later(func(b *bundle.Bundle) {
			b.Results.Requirements[0] = registry.Row{ID: "a", Result: registry.Blocked, Assertions: 1, Detail: "timeout"}
		}), diff.Report{LostPasses: 1, Rows: []diff.Row{{ID: "a", Kind: diff.PassLost, Members: []rejudge.Difference{
			{ID: "a", Member: "result", Was: "executed-pass", Is: "blocked"}, {ID: "a", Member: "detail", Is: "timeout"},
		}}}}, true},
		{"a passed row gone", later(func(b *bundle.Bundle) { b.Results.Requirements = b.Results.Requirements[1:] }),
			diff.Report{LostPasses: 1, Rows: []diff.Row{{ID: "a", Kind: diff.PassLost, Members: member("a", "row", "executed-pass", "")}}}, true},
		{"a pass gained", later(func(b *bundle.Bundle) { b.Results.Requirements[1] = row("b", registry.Pass, "no-cause") }),
			diff.Report{GainedPasses: 1, Rows: []diff.Row{{ID: "b", Kind: diff.PassGained, Members: member("b", "result", "inapplicable", "executed-pass")}}}, false},
		{"another reason", later(func(b *bundle.Bundle) { b.Results.Requirements[1].Detail = "not-advertised" }),
			diff.Report{Rows: []diff.Row{{ID: "b", Kind: diff.Changed, Members: member("b", "detail", "no-cause", "not-advertised")}}}, false},
		{"another number of checks in a pass", later(func(b *bundle.Bundle) { b.Results.Requirements[0].Assertions = 2 }),
			diff.Report{Rows: []diff.Row{{ID: "a", Kind: diff.Changed, Members: member("a", "assertions", "1", "2")}}}, false},
		{"a row gone that did not pass", later(func(b *bundle.Bundle) { b.Results.Requirements = b.Results.Requirements[:1] }),
			diff.Report{Rows: []diff.Row{{ID: "b", Kind: diff.Removed, Members: member("b", "row", "inapplicable", "")}}}, false},
		{"a failing row added", later(func(b *bundle.Bundle) {
			b.Results.Requirements = append(b.Results.Requirements, row("c", registry.Fail, "convicted"))
		}), diff.Report{Rows: []diff.Row{{ID: "c", Kind: diff.Added, Members: member("c", "row", "", "executed-fail")}}}, false},
		{"a certificate lost", later(func(b *bundle.Bundle) { b.ClaimedProfiles[0].Certified = false }), diff.Report{Uncertified: []string{"p"}}, true},
		{"a certificate gained", later(func(b *bundle.Bundle) {
			b.ClaimedProfiles = append(b.ClaimedProfiles, bundle.Claim{ID: "q", Certified: true})
		}), diff.Report{Certified: []string{"q"}}, false},
		{"another build", later(func(b *bundle.Bundle) { b.Host.Build = &bundle.Build{Kind: "commit", ID: "2"} }),
			diff.Report{Facts: []diff.Fact{{Name: "host.build", Was: "commit:1", Is: "commit:2"}}}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := diff.Bundles(base, c.is)
			if got.Rows == nil || got.Facts == nil || got.Certified == nil || got.Uncertified == nil {
				t.Error("a list is null")
			}
			want := c.want
			if want.Rows == nil {
				want.Rows = []diff.Row{}
			}
			if want.Facts == nil {
				want.Facts = []diff.Fact{}
			}
			if want.Certified == nil {
				want.Certified = []string{}
			}
			if want.Uncertified == nil {
				want.Uncertified = []string{}
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("want −, got +:\n%s", d)
			}
			if got.Regressed() != c.regressed || got.Same() != (c.name == "the same host again") {
				t.Errorf("regressed %v, same %v", got.Regressed(), got.Same())
			}
		})
	}
}

func TestTwoMajorsAreNoticed(t *testing.T) {
	of := func(major int) bundle.Bundle { return bundle.Bundle{Suite: bundle.Suite{TargetMajor: major}} }
	if was, is, differ := diff.Bundles(of(1), of(2)).Majors(); !differ || was != "1" || is != "2" {
		t.Errorf("got %q, %q, %v", was, is, differ)
	}
	if _, _, differ := diff.Bundles(of(2), of(2)).Majors(); differ {
		t.Error("one major is said to be two")
	}
}
