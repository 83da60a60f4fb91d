package rejudge_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wopwitness/wopwitness/reports/bundle"
	"github.com/wopwitness/wopwitness/reports/observations"
	"github.com/wopwitness/wopwitness/reports/rejudge"
	"github.com/wopwitness/wopwitness/scenarios/registry"
)

func TestOrigin(t *testing.T) {
	of := func(version, address string) bundle.Bundle {
		return bundle.Bundle{Suite: bundle.Suite{Version: version}, Discovery: &bundle.Discovery{URL: address}}
	}
	run := observations.Run{Suite: "0.1.0", BaseURL: "http://acme.test:8080/"}
	for _, c := range []struct {
		name string
		b    bundle.Bundle
		want []rejudge.Difference
	}{
		{"of one run", of("0.1.0", "http://acme.test:8080/.well-known/openwop"), []rejudge.Difference{}},
		{"no document", bundle.Bundle{Suite: bundle.Suite{Version: "0.1.0"}}, []rejudge.Difference{}},
		{"another suite", of("0.2.0", "http://acme.test:8080/.well-known/openwop"),
			[]rejudge.Difference{{ID: "the run", Member: "suite.version", Was: "0.2.0", Is: "0.1.0"}}},
		{"another host that begins alike", of("0.1.0", "http://acme.test:8080.evil.test/.well-known/openwop"),
			[]rejudge.Difference{{ID: "the run", Member: "address", Was: "http://acme.test:8080.evil.test", Is: "http://acme.test:8080"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, rejudge.Origin(run, c.b)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAnotherRun(t *testing.T) {
	var b bundle.Bundle
	b.Results.Requirements = []registry.Row{{ID: "a", Observation: "0"}, {ID: "b", Observation: "1"}, {ID: "c"}}
	other := func(id string) rejudge.Difference {
		return rejudge.Difference{ID: id, Member: "observationSha256", Was: "0", Is: "9"}
	}
	for name, c := range map[string]struct {
		differences []rejudge.Difference
		want        bool
	}{
		"nothing":               {nil, false},
		"one row of two":        {[]rejudge.Difference{other("a")}, false},
		"every observed row":    {[]rejudge.Difference{other("a"), other("b")}, true},
		"one other, one absent": {[]rejudge.Difference{other("a"), {ID: "b", Member: "row", Was: "executed-pass"}}, true},
		"verdicts alone":        {[]rejudge.Difference{{ID: "a", Member: "result", Was: "x", Is: "y"}, {ID: "b", Member: "result", Was: "x", Is: "y"}}, false},
		"another address":       {[]rejudge.Difference{{ID: "the run", Member: "address", Was: "x", Is: "y"}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := rejudge.AnotherRun(b, c.differences); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
	b.Results.Requirements = append(b.Results.Requirements, registry.Row{ID: "vectors", Observation: "2"})
	if !rejudge.AnotherRun(b, []rejudge.Difference{other("a"), other("b")}) {
		t.Error("a row that is the same in every run makes two runs one")
	}
	if rejudge.AnotherRun(b, []rejudge.Difference{other("a")}) {
		t.Error("one row of three makes one run two")
	}
}

func TestADifferenceIsALineInWords(t *testing.T) {
	for want, d := range map[string]rejudge.Difference{
		`a: result is "executed-pass" in the bundle and "executed-fail" by the observations`: {ID: "a", Member: "result", Was: "executed-pass", Is: "executed-fail"},
		`a: detail is not there in the bundle and "convicted" by the observations`:           {ID: "a", Member: "detail", Is: "convicted"},
		"a: the bundle has a row (executed-pass), and the observations give none":            {ID: "a", Member: "row", Was: "executed-pass"},
		"a: the observations give a row (executed-fail), and the bundle has none":            {ID: "a", Member: "row", Is: "executed-fail"},
	} {
		if got := d.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
