package bench

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestQuantity(t *testing.T) {
	for _, c := range []struct {
		value float64
		unit  string
		want  string
	}{
		{0, "", "0"},
		{0.8, "", "0.8"},
		{0.84567, "", "0.846"},
		{1412.3, perSecond, "1,410/s"},
		{141_234, perSecond, "141,000/s"},
		{1_000_000, perSecond, "1,000,000/s"},
		{999.6, perSecond, "1,000/s"},
		{0.7612, milliseconds, "0.761 ms"},
		{41.25, "MiB", "41.3 MiB"},
	} {
		if got := quantity(c.value, c.unit); got != c.want {
			t.Errorf("%v %q: expected %q, got %q", c.value, c.unit, c.want, got)
		}
	}
}

// sample is a row whose first bound holds and whose second does not.
func sample() Result {
	row := Row{Name: "fanout", What: "fan-out", Limit: "a hub", Unit: perSecond, Rounds: []Pair{{Host: 900, Limit: 1000}}}
	row.settle()
	row.mustReach("of the limit", row.Ratio, 0.75, "")
	row.mustNotPass("peak memory", 120, 100, "MiB")
	return Result{Machine: Machine{OS: "linux", Arch: "amd64", CPUs: 2, Go: "go1.26.0"}, Rows: []Row{row}}
}

func TestTable(t *testing.T) {
	var out bytes.Buffer
	if err := Table(&out, sample()); err != nil {
		t.Fatal(err)
	}
	want := `linux/amd64, 2 processors, go1.26.0

row     what     measured  limit    check         got      bound      holds
fanout  fan-out  900/s     1,000/s  of the limit  0.9      ≥ 0.75     yes
                                    peak memory   120 MiB  ≤ 100 MiB  NO

fanout is compared with a hub

these bounds don't hold: fanout (peak memory)
`
	if got := out.String(); got != want {
		t.Errorf("expected\n%s\ngot\n%s", want, got)
	}
}

func TestJSON(t *testing.T) {
	raw, err := json.Marshal(sample())
	if err != nil {
		t.Fatal(err)
	}
	want := `{"machine":{"os":"linux","arch":"amd64","cpus":2,"go":"go1.26.0"},"rows":[{"row":"fanout","what":"fan-out",` +
		`"limit":"a hub","unit":"/s","host":900,"limitValue":1000,"ratio":0.9,"rounds":[{"host":900,"limit":1000}],"checks":[` +
		`{"name":"of the limit","got":0.9,"bound":0.75,"rule":"at-least","holds":true},` +
		`{"name":"peak memory","got":120,"bound":100,"rule":"at-most","unit":"MiB","holds":false}]}],"holds":false}`
	if string(raw) != want {
		t.Errorf("expected\n%s\ngot\n%s", want, raw)
	}
}

func TestWhichRowsAreMeasured(t *testing.T) {
	for name, c := range map[string]struct {
		named []string
		full  bool
		want  string
	}{
		"all but the slow ones":    {nil, false, "append-1 append-32 latency fanout resume intercept suite verify"},
		"all":                      {nil, true, "append-1 append-32 latency fanout resume intercept suite verify selfcheck"},
		"named, in table's order":  {[]string{"resume", "append-1"}, false, "append-1 resume"},
		"a slow one that is named": {[]string{"selfcheck"}, false, "selfcheck"},
		"named twice":              {[]string{"verify", "verify"}, true, "verify"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, e := range chosen(c.named, c.full) {
				got = append(got, e.name)
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("expected %q, got %q", c.want, got)
			}
		})
	}
}

func TestAnUnknownRowIsRefusedWithTheNearest(t *testing.T) {
	if err := CheckRows([]string{"fanout", "resume"}); err != nil {
		t.Errorf("known rows were refused: %v", err)
	}
	err := CheckRows([]string{"fanot"})
	if err == nil || !strings.Contains(err.Error(), `"fanot" is not a row; nearest: fanout`) {
		t.Errorf("got %v", err)
	}
}

func TestRecordedRequestsAreCounted(t *testing.T) {
	observations := `{"run":{"suite":"0.1.0"}}
{"leg":"a","exchanges":[{"request":{"method":"GET"},"response":{"status":200}},{"request":{"method":"POST"}}]}
{"leg":"b","stream":{"segments":[{"exchange":{"request":{"method":"GET"}}}]},"note":"a request"}`
	got, err := requests(strings.NewReader(observations))
	if err != nil || got != 3 {
		t.Errorf("expected 3, got %d, %v", got, err)
	}
	if _, err := requests(strings.NewReader("{}\nnot JSON\n")); err == nil {
		t.Error("a broken line was passed over")
	}
}
