package coverage_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wopwitness/wopwitness/reports/coverage"
	"github.com/wopwitness/wopwitness/scenarios/registry"
)

// parcels is an RFC of a protocol that doesn't exist, in the form that the real ones have.
const parcels = `# RFC 9001: Parcels that come back

| Field | Value |
| --- | --- |
| **RFC** | 9001 |
| **Status** | ` + "`Draft`" + ` |

## Summary

A courier MUST be polite; this is no section of the proposal.

## Proposal

### A. The label

The label is closed. A courier SHOULD print it in *ink*.

### §B — Returning

A courier that offers returns MUST:
- take back every **sealed** parcel, in the order of delivery;
- never open a parcel.

A sender MUST NOT ask twice. Nothing else obliges here.

### Examples

| Case | Result |
| --- | --- |
| a sealed parcel | taken back |

## Conformance

| Id | Case | Expect |
| --- | --- | --- |
| ` + "`9001.returned`" + ` | a sealed parcel | taken back |

### Falsifiability

| Requirement | Observable | Who | Verdict |
| --- | --- | --- | --- |
| §A closed label | label vectors | the suite | witnessable-unaided |
| §B sealed parcels taken back in order | what comes back | the suite | witnessable-gated |
| §B never opened | nothing | nobody | unwitnessable — a seal can't be seen from outside |
`

func leg(id registry.LegID, section, title string) registry.Leg {
	return registry.Leg{ID: id, RFC: "9001", Section: section, Title: title, Source: "in the suite's words"}
}

func legs() []registry.Leg {
	return []registry.Leg{
		leg("9001.label", "§A", "the label is closed, in the vectors"),
		leg("9001.returned", "§B", "sealed parcels are taken back in order"),
		{ID: "9002.other", RFC: "9002", Section: "§A", Title: "the label of another RFC is closed, in the vectors"},
	}
}

func parsed(t *testing.T, text string) coverage.Document {
	t.Helper()
	d, err := coverage.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestParse(t *testing.T) {
	want := coverage.Document{
		RFC: "9001", Title: "RFC 9001: Parcels that come back", Sections: []string{"§A", "§B"},
		Rows: []coverage.Row{
			{Section: "§A", Requirement: "§A closed label", Observable: "label vectors", Verdict: "witnessable-unaided"},
			{Section: "§B", Requirement: "§B sealed parcels taken back in order", Observable: "what comes back", Verdict: "witnessable-gated"},
			{Section: "§B", Requirement: "§B never opened", Observable: "nothing", Verdict: "unwitnessable — a seal can't be seen from outside"},
		},
		Cases: []coverage.Case{{ID: "9001.returned", Says: "a sealed parcel; taken back"}},
		Sentences: []coverage.Sentence{
			{Section: "§A", Keyword: "SHOULD", Text: "A courier SHOULD print it in ink."},
			{Section: "§B", Keyword: "MUST", Text: "take back every sealed parcel, in the order of delivery;"},
			{Section: "§B", Keyword: "MUST", Text: "never open a parcel."},
			{Section: "§B", Keyword: "MUST NOT", Text: "A sender MUST NOT ask twice."},
		},
		Tables: []coverage.Table{
			{Heading: "RFC 9001: Parcels that come back", Columns: []string{"Field", "Value"}, Rows: 2, Read: 1, As: coverage.Head},
			{Heading: "Examples", Columns: []string{"Case", "Result"}, Rows: 1, As: coverage.Other},
			{Heading: "Conformance", Columns: []string{"Id", "Case", "Expect"}, Rows: 1, Read: 1, As: coverage.Conformance},
			{Heading: "Falsifiability", Columns: []string{"Requirement", "Observable", "Who", "Verdict"}, Rows: 3, Read: 3, As: coverage.Falsifiability},
		},
	}
	if diff := cmp.Diff(want, parsed(t, parcels)); diff != "" {
		t.Errorf("want −, got +:\n%s", diff)
	}
}

func TestAConformanceListIsReadToo(t *testing.T) {
	d := parsed(t, "# RFC 9001\n\n## Conformance\n\n- **`parcel-returned.test.ts`** — a sealed parcel is taken back.\n- Nothing else.\n\n1. `label.test.ts` shows the label.\n")
	want := []coverage.Case{
		{ID: "parcel-returned", Says: "parcel-returned.test.ts — a sealed parcel is taken back."},
		{ID: "label", Says: "label.test.ts shows the label."},
	}
	if diff := cmp.Diff(want, d.Cases); diff != "" {
		t.Error(diff)
	}
}

func TestCompare(t *testing.T) {
	defects := []coverage.Defect{{Name: "loses-parcels", Convicts: []string{"9001.returned"}}, {Name: "open-label", Convicts: []string{"9001.label"}}}
	without := func(id registry.LegID) []registry.Leg {
		var kept []registry.Leg
		for _, l := range legs() {
			if l.ID != id {
				kept = append(kept, l)
			}
		}
		return kept
	}
	status := func(r coverage.Report) (all []coverage.Status) {
		for _, row := range r.Rows {
			all = append(all, row.Status)
		}
		for _, c := range r.Cases {
			all = append(all, c.Status)
		}
		return all
	}
	const w, u, none = coverage.Witnessed, coverage.Unwitnessable, coverage.Uncovered
	for _, c := range []struct {
		name   string
		text   string
		legs   []registry.Leg
		status []coverage.Status
		strays int
		whole  bool
	}{
		{"everything is covered", parcels, legs(), []coverage.Status{w, w, u, w}, 0, true},
		{"a row that nobody covers", parcels, without("9001.label"), []coverage.Status{none, w, u, w}, 0, false},
		{"a case whose leg isn't there", parcels, without("9001.returned"), []coverage.Status{w, none, u, none}, 0, false},
		{"a leg of the right section and another subject", parcels,
			append(without("9001.label"), leg("9001.price", "§A", "postage costs money")), []coverage.Status{none, w, u, w}, 0, false},
		{"a leg that cites a section that isn't there", parcels, append(legs(), leg("9001.more", "§Z", "more")), []coverage.Status{w, w, u, w}, 1, false},
		{"a leg that cites a part of a section", parcels, append(legs(), leg("9001.more", "§B.2", "more")), []coverage.Status{w, w, u, w}, 0, true},
		{"a row that stops being unwitnessable", strings.Replace(parcels, "unwitnessable — a seal can't be seen from outside", "witnessable-gated", 1),
			legs(), []coverage.Status{w, w, none, w}, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := coverage.Compare(parsed(t, c.text), c.legs, defects, func(id registry.LegID) bool { return id != "9001.label" })
			if diff := cmp.Diff(c.status, status(r)); diff != "" {
				t.Error(diff)
			}
			if len(r.Strays) != c.strays || r.Whole() != c.whole {
				t.Errorf("strays %v, whole %v", r.Strays, r.Whole())
			}
		})
	}
	r := coverage.Compare(parsed(t, parcels), legs(), defects, func(id registry.LegID) bool { return id != "9001.label" })
	want := []coverage.Witness{{Leg: "9001.label", Judged: false, Kills: []string{"open-label"}}}
	if diff := cmp.Diff(want, r.Rows[0].Witnesses); diff != "" {
		t.Error(diff)
	}
	if why := r.Rows[2].Why; why != "a seal can't be seen from outside" {
		t.Errorf("why: %q", why)
	}
}

func TestTextsWithoutRequirementsAreEmpty(t *testing.T) {
	for name, text := range map[string]string{
		"nothing": "", "prose": "# A poem\n\nRoses MUST be red.\n", "no UTF-8": "\xff\xfe", "a table of nothing": "| a |\n| - |\n", "a heading of nothing": "#\n\n##\n",
	} {
		if r := coverage.Compare(parsed(t, text), legs(), nil, func(registry.LegID) bool { return true }); !r.Empty() {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// TestATextThatWouldKeepTheParserBusyIsNotRead: a megabyte of each of the refused ones took minutes to hours.
func TestATextThatWouldKeepTheParserBusyIsNotRead(t *testing.T) {
	for _, c := range []struct{ name, text, says string }{
		{"too long", strings.Repeat("x", 1<<20+1), "more than 1048576 bytes"},
		{"as long as may be", strings.Repeat("x", 1<<20), ""},
		{"quotes in quotes", "a\n\n" + strings.Repeat(">", 201), "line 3 opens 201 quotes and lists"},
		{"lists in lists", strings.Repeat("- ", 201) + "x", "line 1 opens 201"},
		{"numbered lists in lists", strings.Repeat("1. ", 201) + "x", "line 1 opens 201"},
		{"a few of them", strings.Repeat("> - 1. ", 60) + "x", ""},
		{"a long line that parts", strings.Repeat("-", 1000) + "\n\n" + strings.Repeat("*", 1000) + "\n", ""},
		{"emphasis without end", strings.Repeat("*a_ ", 20_000), "too many delimiters"},
		{"pictures without end", strings.Repeat("![a](", 20_000), "too many delimiters"},
		{"as many of them in many paragraphs", strings.Repeat("*a* _b_ ![c](d)\n\n", 2_000), ""},
		{"many sections", strings.Repeat("## §A1x\n\n", 2_000), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := coverage.Parse([]byte(c.text))
			if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("got %v, want %q", err, c.says)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(parcels))
	f.Add([]byte("| Requirement | Verdict |\n| --- | --- |\n| §A | x | y |\n"))
	f.Add([]byte("## Conformance\n- `x`\n  - > `y`\n\n|Id|\n|-|\n||\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, err := coverage.Parse(raw)
		if err != nil {
			return
		}
		r := coverage.Compare(d, legs(), nil, func(registry.LegID) bool { return true })
		if r.Rows == nil || r.Cases == nil || r.Sentences == nil || r.Strays == nil || r.Beyond == nil {
			t.Error("a list is null")
		}
	})
}
