package selfcheck

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/pages"
	"github.com/wopwitness/wopwitness/reports/bundle"
	"github.com/wopwitness/wopwitness/reports/ledger"
	"github.com/wopwitness/wopwitness/reports/observations"
	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
)

// asCertify makes the test binary a program that certifies hosts of the test's invention.
const asCertify = "WOPWITNESS_TEST_AS_CERTIFY"

func TestMain(m *testing.M) {
	if os.Getenv(asCertify) == "" {
		os.Exit(m.Run())
	}
	if err := pretend(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

// pretend writes what certify would write of a host with the named defect. Convictions are those of strict mode, which
// need no observation.
func pretend(args []string) error {
	value := func(flag string) string {
		if i := slices.Index(args, flag); i >= 0 {
			return args[i+1]
		}
		return ""
	}
	convicts := map[string][]registry.LegID{
		"caught": {"0250.cursor-refused"}, "caught-by-two": {"0250.cursor-refused", "0250.legacy-unchanged"},
		"edited": {"0250.cursor-refused"},
	}[value("--defect")]
	if value("--defect") == "broken" {
		return errors.New("the host would not start")
	}
	var cases []registry.Case
	for _, id := range []registry.LegID{"0250.cursor-refused", "0250.legacy-unchanged"} {
		leg, _ := registry.Find(id)
		cases = append(cases, registry.Case{Leg: leg, Major: 2})
	}
	policy := ledger.Policy{Strict: true}
	var records []witness.Record
	for _, c := range cases {
		reason := registry.NoCause
		if slices.Contains(convicts, c.Leg.ID) {
			reason = registry.NotAdvertised
		}
		records = append(records, witness.Record{Leg: c.Leg.ID, Major: 2, Stop: &witness.Stop{Result: registry.Inapplicable, Reason: reason}})
	}
	l := ledger.Build(cases, records, nil, policy, false)
	if value("--defect") == "edited" {
		l.Rows[1].Result = registry.Blocked
	}
	b, err := bundle.New(l.Rows, bundle.Facts{Major: 2})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(value("--out"), 0o755); err != nil {
		return err
	}
	file, err := os.Create(filepath.Join(value("--out"), "observations.jsonl"))
	if err != nil {
		return err
	}
	w, err := observations.NewWriter(file, observations.Run{Policy: policy, Cases: observations.Named(cases)})
	if err != nil {
		return err
	}
	for _, r := range records {
		if err := w.Record(r); err != nil {
			return err
		}
	}
	return errors.Join(w.End(false), file.Close(), json.NewEncoder(os.Stdout).Encode(map[string]any{"bundles": []bundle.Bundle{b}}))
}

func options(t *testing.T, defects ...pages.Defect) Options {
	t.Helper()
	t.Setenv(asCertify, "1")
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Options{Executable: executable, Defects: defects, Jobs: 2}
}

func TestRunFindsWhatIsWrong(t *testing.T) {
	one := []string{"0250.cursor-refused"}
	two := []string{"0250.cursor-refused", "0250.legacy-unchanged"}
	tests := map[string]struct {
		defect pages.Defect
		want   []string
	}{
		"a defect that its leg convicts": {pages.Defect{Name: "caught", RFC: "0250", Convicts: one}, nil},
		"a defect that survives": {pages.Defect{Name: "lawful", RFC: "0250", Convicts: one}, []string{
			"lawful: 0250.cursor-refused claims to convict it and did not (inapplicable: no-cause)", "lawful: it survives: no leg convicts it"}},
		"a leg that convicts unclaimed": {pages.Defect{Name: "caught-by-two", RFC: "0250", Convicts: one}, []string{
			"caught-by-two: 0250.legacy-unchanged convicts it and does not claim to: not-advertised"}},
		"a leg that may convict, and does":    {pages.Defect{Name: "caught-by-two", RFC: "0250", Convicts: one, May: two}, nil},
		"a leg that may convict, and doesn't": {pages.Defect{Name: "caught", RFC: "0250", Convicts: one, May: two}, nil},
		"a leg that claims in vain": {pages.Defect{Name: "caught", RFC: "0250", Convicts: two}, []string{
			"caught: 0250.legacy-unchanged claims to convict it and did not (inapplicable: no-cause)"}},
		"a host that does not start": {pages.Defect{Name: "broken", RFC: "0250", Convicts: one}, []string{
			"broken: certify ended with 2: the host would not start"}},
		"observations that give other rows": {pages.Defect{Name: "edited", RFC: "0250", Convicts: one}, []string{
			`edited: re-judging the recorded observations differs: openwop.requirement.0250.legacy-unchanged: result is "blocked" in the bundle and "inapplicable" by the observations`}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			told := 0
			r, err := Run(t.Context(), options(t, tt.defect), func(int, int, Tried) { told++ })
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(r.Problems, tt.want) && len(r.Problems)+len(tt.want) > 0 {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(r.Problems, "\n"), strings.Join(tt.want, "\n"))
			}
			if told != 2 {
				t.Errorf("told of %d hosts, want the right one and the defect", told)
			}
		})
	}
}

func TestALegMustKillSomething(t *testing.T) {
	o := options(t, pages.Defect{Name: "caught", RFC: "0250", Convicts: []string{"0250.cursor-refused"}})
	o.Legs = []registry.Leg{{ID: "0250.cursor-refused", RFC: "0250"}, {ID: "0250.legacy-unchanged", RFC: "0250"},
		{ID: "0053.shape.vectors", RFC: "0053", Observes: registry.Vectors}}
	for all, want := range map[bool][]string{
		true: {"0250.legacy-unchanged kills nothing: no defect is convicted by it"}, false: {},
	} {
		o.All = all
		r, err := Run(t.Context(), o, func(int, int, Tried) {})
		if err != nil || !slices.Equal(r.Problems, want) {
			t.Errorf("all %v: got %q, %v, want %q", all, r.Problems, err, want)
		}
	}
}

func TestTheRightHostMustNotBeConvictedOrBlocked(t *testing.T) {
	o := Options{}
	r := o.conclude([]Tried{{Problems: []string{"0250.a convicts it and does not claim to: convicted"}}})
	if want := "the right host: 0250.a convicts it and does not claim to: convicted"; len(r.Problems) != 1 || r.Problems[0] != want {
		t.Errorf("got %q, want %q", r.Problems, want)
	}
}

func TestRunStopsWhenItIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, options(t, pages.Defect{Name: "caught", RFC: "0250"}), func(int, int, Tried) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestArguments(t *testing.T) {
	legs := []registry.Leg{{ID: "0236.a", RFC: "0236"}, {ID: "0250.volume", RFC: "0250"}}
	agentLegs := []registry.Leg{{ID: "agentdlq.route.a", RFC: agents}, {ID: "agentdlq.drain.b", RFC: agents}, {ID: "agentdlq.entry.c", RFC: agents}}
	tests := map[string]struct {
		options Options
		defect  pages.Defect
		want    string
	}{
		"the right host":         {Options{}, pages.Defect{}, "certify --json --out r"},
		"a defect of one text":   {Options{}, pages.Defect{Name: "d", RFC: "0250"}, "certify --json --out r --defect d --bare --event-timeout 1s --timeout 3m --leg 0250.* --volume 100"},
		"convicted in two texts": {Options{Legs: legs}, pages.Defect{Name: "d", RFC: "0250", Convicts: []string{"0236.a"}}, "certify --json --out r --defect d --bare --event-timeout 1s --timeout 3m --leg 0236.* --leg 0250.* --volume 100"},
		"of an agent, by part": {Options{Legs: agentLegs}, pages.Defect{Name: "d", RFC: "agentdlq", Convicts: []string{"agentdlq.route.a"}, May: []string{"agentdlq.drain.b"}},
			"certify --json --out r --defect d --bare --event-timeout 1s --timeout 3m --leg agentdlq.drain.* --leg agentdlq.route.* --volume 100"},
		"what volume shows": {Options{Legs: legs}, pages.Defect{Name: "d", RFC: "0250", Convicts: []string{"0250.volume"}}, "certify --json --out r --defect d --bare --event-timeout 1s --timeout 3m --leg 0250.*"},
		"in full":           {Options{Full: true}, pages.Defect{Name: "d", RFC: "0250"}, "certify --json --out r --defect d"},
		"a file each":       {Options{Store: "sqlite"}, pages.Defect{}, "certify --json --out r --store sqlite:f/host.db"},
		"a store for all":   {Options{Store: "postgres://x"}, pages.Defect{}, "certify --json --out r --store postgres://x"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(tt.options.arguments(tt.defect, "f", "r"), " "); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestMatrix(t *testing.T) {
	r := Result{Defects: []Tried{
		{Name: "first", Claims: []string{"a", "b"}, Convicted: []string{"a"}}, {Name: "second-one", Convicted: []string{"c"}, Claims: nil},
	}}
	var out strings.Builder
	if err := Matrix(&out, r, []registry.Leg{{ID: "a"}, {ID: "b"}, {ID: "c"}, {ID: "d"}}); err != nil {
		t.Fatal(err)
	}
	want := `             1 a
             2 b
             3 c

             1  2  3
first        X  -  .
second-one   .  .  !
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

func TestLongestFirst(t *testing.T) {
	o := Options{Legs: []registry.Leg{{ID: "0053.a", RFC: "0053"}, {ID: "0250.a", RFC: "0250"}, {ID: "0250.b", RFC: "0250"}}}
	hosts := []pages.Defect{
		{Name: "short", RFC: "0053", Convicts: []string{"0053.a"}}, {Name: "long", RFC: "0250", Convicts: []string{"0250.a", "0250.b"}},
		{Name: "longer shown", RFC: "0250", Convicts: []string{"0250.b"}}, {}, {Name: "as short", RFC: "0053", Convicts: []string{"0053.a"}},
	}
	if got := o.longestFirst(hosts); !slices.Equal(got, []int{3, 1, 2, 0, 4}) {
		t.Errorf("the order is %v", got)
	}
}
