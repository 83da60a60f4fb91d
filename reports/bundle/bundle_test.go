package bundle_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/reports/bundle"
	"github.com/wopwitness/wopwitness/reports/ledger"
	"github.com/wopwitness/wopwitness/scenarios/registry"
)

// wholeProfile is a row for each leg of the replay profile and of the one it leans on, all passed but those named.
func wholeProfile(except map[registry.LegID]registry.Result) []ledger.Row {
	var rows []ledger.Row
	for _, leg := range registry.Legs() {
		if leg.Profile != registry.ProfileReplay && leg.Profile != registry.ProfileHostEvents {
			continue
		}
		r := ledger.Row{Leg: leg, Major: 2}
		r.ID, r.Scenario, r.Result, r.Assertions = leg.ID.RequirementID(), leg.Title, registry.Pass, 2
		if result, ok := except[leg.ID]; ok {
			r.Result, r.Assertions, r.Detail = result, 0, "no-cause"
		}
		rows = append(rows, r)
	}
	return rows
}

func someFacts() bundle.Facts {
	return bundle.Facts{
		Major: 2, GeneratedAt: time.Date(2026, 3, 1, 12, 0, 0, 500, time.FixedZone("", 3600)), SuiteVersion: "0.1.0", ContractSha256: "c0",
		Build:        &bundle.Build{Kind: "commit", ID: "3f2a91c"},
		DiscoveryURL: "http://host.example/.well-known/openwop",
		DiscoveryBody: []byte(`{"preferredVersion":"2.0", "protocolVersions":["1.0","2.0"],
			"implementation":{"name":"a <host>","version":"9"}}`),
	}
}

func TestNewSaysWhatItWasGiven(t *testing.T) {
	b, err := bundle.New(wholeProfile(nil), someFacts())
	if err != nil {
		t.Fatal(err)
	}
	canonical := `{"implementation":{"name":"a <host>","version":"9"},"preferredVersion":"2.0","protocolVersions":["1.0","2.0"]}`
	sum := sha256.Sum256([]byte(canonical))
	switch d := b.Discovery; {
	case d == nil:
		t.Fatal("no discovery")
	case string(d.Document) != canonical || d.Sha256 != hex.EncodeToString(sum[:]):
		t.Errorf("document %s with digest %s", d.Document, d.Sha256)
	case strings.Join(d.ProtocolVersions, " ") != "1.0 2.0" || d.PreferredVersion != "2.0":
		t.Errorf("versions %v, preferred %q", d.ProtocolVersions, d.PreferredVersion)
	}
	if b.Host.Name != "a <host>" || b.Host.Version != "9" || b.GeneratedAt != "2026-03-01T11:00:00Z" {
		t.Errorf("host %+v at %s", b.Host, b.GeneratedAt)
	}
	n := len(b.Results.Requirements)
	if b.AssertionCount != 2*n || b.Results.Totals != (ledger.Totals{ExecutedPass: n}) || b.Detail != nil {
		t.Errorf("%d assertions, totals %+v, detail %v over %d rows", b.AssertionCount, b.Results.Totals, b.Detail, n)
	}
	for i := 1; i < n; i++ {
		if b.Results.Requirements[i-1].ID >= b.Results.Requirements[i].ID {
			t.Errorf("rows are not sorted by id at %d", i)
		}
	}
}

func TestNewListsWhatIsNoPass(t *testing.T) {
	b, err := bundle.New(wholeProfile(map[registry.LegID]registry.Result{"0250.shape": registry.Inapplicable}), someFacts())
	if err != nil {
		t.Fatal(err)
	}
	want := []bundle.NonPass{{ID: "openwop.requirement.0250.shape", Result: registry.Inapplicable, Reason: "no-cause"}}
	if b.Detail == nil || len(b.Detail.NonPass) != 1 || b.Detail.NonPass[0] != want[0] {
		t.Errorf("detail %+v, want %+v", b.Detail, want)
	}
}

func TestWhatCertifies(t *testing.T) {
	tests := map[string]struct {
		rows      []ledger.Row
		facts     func(*bundle.Facts)
		claimed   bool
		certified bool
	}{
		"all passed":                        {wholeProfile(nil), nil, true, true},
		"an optional row doesn't apply":     {wholeProfile(map[registry.LegID]registry.Result{"0250.shape": registry.Inapplicable}), nil, true, true},
		"no build":                          {wholeProfile(nil), func(f *bundle.Facts) { f.Build = nil }, true, false},
		"relaxed":                           {wholeProfile(nil), func(f *bundle.Facts) { f.Relaxations = []string{"slow"} }, true, false},
		"interrupted":                       {wholeProfile(nil), func(f *bundle.Facts) { f.Incomplete = true }, true, false},
		"a required row doesn't apply":      {wholeProfile(map[registry.LegID]registry.Result{"0250.refusal-uniform": registry.Inapplicable}), nil, true, false},
		"any row failed":                    {wholeProfile(map[registry.LegID]registry.Result{"0250.legacy-unchanged": registry.Fail}), nil, true, false},
		"any row opted out of":              {wholeProfile(map[registry.LegID]registry.Result{"0250.legacy-unchanged": registry.Skipped}), nil, true, false},
		"any row blocked":                   {wholeProfile(map[registry.LegID]registry.Result{"0250.legacy-unchanged": registry.Blocked}), nil, true, false},
		"another profile's row blocked":     {append(wholeProfile(nil), blockedElsewhere()), nil, true, false},
		"a row that it leans on failed":     {wholeProfile(map[registry.LegID]registry.Result{"0236.ephemeral.no-resume": registry.Fail}), nil, true, false},
		"one it leans on opted out of":      {wholeProfile(map[registry.LegID]registry.Result{"0236.ephemeral.no-resume": registry.Skipped}), nil, true, false},
		"one it leans on doesn't apply":     {wholeProfile(map[registry.LegID]registry.Result{"0236.ephemeral.no-resume": registry.Inapplicable}), nil, true, true},
		"another text's row failed":         {append(wholeProfile(nil), failedElsewhere()), nil, true, true},
		"a part of the profile selected":    {without("0250.handoff"), nil, true, false},
		"a leg that it leans on left out":   {without("0241.trigger.idempotent"), nil, true, false},
		"nothing of the profile applied":    {nothingApplied(), nil, false, false},
		"only what needs no host was there": {only("0250.shape"), nil, false, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			facts := someFacts()
			if tt.facts != nil {
				tt.facts(&facts)
			}
			b, err := bundle.New(tt.rows, facts)
			if err != nil {
				t.Fatal(err)
			}
			if claimed := len(b.ClaimedProfiles) == 1; claimed != tt.claimed {
				t.Fatalf("claims %+v, want one: %v", b.ClaimedProfiles, tt.claimed)
			}
			if tt.claimed && b.ClaimedProfiles[0].Certified != tt.certified {
				t.Errorf("certified %v, want %v", b.ClaimedProfiles[0].Certified, tt.certified)
			}
		})
	}
}

// only is wholeProfile's row of one leg; without is all its rows but that one.
func only(id registry.LegID) []ledger.Row {
	return slices.DeleteFunc(wholeProfile(nil), func(r ledger.Row) bool { return r.Leg.ID != id })
}

func without(id registry.LegID) []ledger.Row {
	return slices.DeleteFunc(wholeProfile(nil), func(r ledger.Row) bool { return r.Leg.ID == id })
}

func failedElsewhere() ledger.Row {
	r := ledger.Row{Leg: registry.Leg{ID: "0053.x", Profile: registry.ProfileDeadLetter, Observes: registry.Shape}, Major: 2}
	r.ID, r.Result, r.Detail = "openwop.requirement.0053.x", registry.Fail, "convicted"
	return r
}

func TestLacksNamesEachRowThatTheCertificateNeeds(t *testing.T) {
	changed := wholeProfile(map[registry.LegID]registry.Result{
		"0236.ephemeral.no-resume": registry.Fail, "0250.refusal-uniform": registry.Inapplicable, "0250.handoff": registry.Skipped,
		"0250.legacy-unchanged": registry.Inapplicable,
	})
	for name, tt := range map[string]struct {
		rows []ledger.Row
		want []string
	}{
		"whole":   {wholeProfile(nil), nil},
		"nothing": {nil, nil},
		"several": {changed, []string{
			"0236.ephemeral.no-resume failed", "0250.refusal-uniform did not apply (no-cause) and must have passed", "0250.handoff was opted out of",
		}},
		"one not run":        {without("0241.trigger.idempotent"), []string{"0241.trigger.idempotent was not run"}},
		"blocked, elsewhere": {append(wholeProfile(nil), blockedElsewhere()), []string{"0236.x was blocked (timeout)"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := bundle.Lacks(registry.ProfileReplay, tt.rows); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	if got := bundle.Lacks("no.such", without("0250.handoff")); got != nil {
		t.Errorf("a profile that nobody certifies lacks %q", got)
	}
}

func TestWithholdSaysWhatNoRowCanMend(t *testing.T) {
	if got := someFacts().Withhold(); got != nil {
		t.Errorf("nothing withholds, and it says %q", got)
	}
	got := bundle.Facts{Relaxations: []string{"slow"}, Incomplete: true}.Withhold()
	want := []string{"it is not said which build was tested (--build)", "the operator declared relaxations", "the run was interrupted"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func blockedElsewhere() ledger.Row {
	r := ledger.Row{Leg: registry.Leg{ID: "0236.x", Profile: registry.ProfileHostEvents, Observes: registry.Behaviour}, Major: 2}
	r.ID, r.Result, r.Detail = "openwop.requirement.0236.x", registry.Blocked, "timeout"
	return r
}

func nothingApplied() []ledger.Row {
	rows := wholeProfile(nil)
	for i := range rows {
		if rows[i].Leg.Observes == registry.Behaviour {
			rows[i].Result, rows[i].Detail = registry.Inapplicable, "not-advertised"
		}
	}
	return rows
}

func TestDiscoveryThatCannotBeReadIsLeftOut(t *testing.T) {
	for name, body := range map[string]string{
		"nothing": "", "a page": "<!doctype html>", "a list": "[1]", "a name twice": `{"a":1,"a":2}`, "cut off": `{"a":`,
	} {
		t.Run(name, func(t *testing.T) {
			facts := someFacts()
			facts.DiscoveryBody = []byte(body)
			b, err := bundle.New(nil, facts)
			if err != nil || b.Discovery != nil {
				t.Errorf("got %v, %v", b.Discovery, err)
			}
			if b.Host.Name != "unknown" {
				t.Errorf("host is called %q", b.Host.Name)
			}
		})
	}
}

func TestWitnessDigest(t *testing.T) {
	rows := []registry.Row{{ID: "a", Scenario: "s", Result: registry.Pass, Assertions: 1}}
	sum := func(text string) string { s := sha256.Sum256([]byte(text)); return hex.EncodeToString(s[:]) }
	plain := `[{"assertions":1,"id":"a","result":"executed-pass","scenario":"s"}]`
	for name, tt := range map[string]struct {
		relaxations []string
		want        string
	}{
		"rows alone":       {nil, sum(plain)},
		"with relaxations": {[]string{"x"}, sum(`{"relaxations":["x"],"rows":` + plain + `}`)},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := bundle.WitnessDigest(rows, tt.relaxations); err != nil || got != tt.want {
				t.Errorf("got %s, %v, want %s", got, err, tt.want)
			}
		})
	}
}

func TestTheBundlesFileReadsBack(t *testing.T) {
	b, err := bundle.New(wholeProfile(nil), someFacts())
	if err != nil {
		t.Fatal(err)
	}
	raw, err := b.JSON()
	if err != nil {
		t.Fatal(err)
	}
	var again bundle.Bundle
	if err := json.Unmarshal(raw, &again); err != nil {
		t.Fatal(err)
	}
	first, err := b.SignedBytes()
	if err != nil {
		t.Fatal(err)
	}
	second, err := again.SignedBytes()
	if err != nil || string(first) != string(second) {
		t.Errorf("canonical form changed by writing and reading: %v\n%s\n%s", err, first, second)
	}
}
