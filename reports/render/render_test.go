package render_test

import (
	"encoding/xml"
	"fmt"
	"strings"
	"testing"

	"github.com/wopwitness/wopwitness/reports/ledger"
	"github.com/wopwitness/wopwitness/reports/render"
	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
)

// hostile is text as a host that fights back would send it.
const hostile = "\x1b[2J\x1b]0;owned\x07<script>alert(1)</script>\u202e|`![x](http://evil.example)\r\n::set-output x\xff"

func leg(id registry.LegID, title string) registry.Leg {
	return registry.Leg{ID: id, RFC: "0250", Section: "§C", Title: title, Profile: "hostEvents.replay", Majors: []int{2}, Observes: registry.Behaviour}
}

// mixed is a ledger with a row of each disposition; the failure shows what a hostile host sent.
func mixed() ledger.Ledger {
	row := func(id registry.LegID, result registry.Result, reason registry.Reason) ledger.Row {
		r := ledger.Row{Leg: leg(id, "title of "+string(id)), Major: 2, Reason: reason, Says: reason.Explain()}
		r.ID, r.Result, r.Detail = id.RequirementID(), result, string(reason)
		if result == registry.Pass {
			r.Says, r.Detail = "", ""
			r.Verdict = &witness.Verdict{Checks: []string{"status"}, Notes: []witness.Note{{Code: "seen", Says: hostile}}}
		}
		return r
	}
	fail := row("0250.refusal-uniform", registry.Fail, registry.Convicted)
	fail.Says = "the refusal for another tenant's cursor differs from an unknown one"
	fail.Record = &witness.Record{Leg: fail.Leg.ID, Major: 2}
	fail.Verdict = &witness.Verdict{Checks: []string{"uniform"}, Findings: []witness.Finding{{
		Check: "uniform", Says: fail.Says, Section: "RFC 0250 §C",
		Shown:   []witness.Shown{{Label: "unknown", Text: `409  {"error":"host_event_resync_required"}`}, {Label: "foreign", Text: "404  " + hostile}},
		Differs: "status; then body byte 10", Why: "the answer tells a caller that the id exists in another tenant",
	}}}
	blocked := row("0250.resume-backlog", registry.Blocked, registry.Timeout)
	blocked.Says = hostile
	return ledger.Ledger{Rows: []ledger.Row{
		row("0250.cursor-refused", registry.Pass, ""), fail, blocked,
		row("0250.legacy-unchanged", registry.Inapplicable, registry.NotAdvertised), row("0250.ephemeral-not-replayed", registry.Skipped, registry.OptedOut),
	}}
}

func head() render.Head {
	return render.Head{BaseURL: "http://127.0.0.1:1", HostName: hostile, HostVersion: "9", SuiteVersion: "0.1.0", GeneratedAt: "2026-03-01T12:00:00Z",
		Ending: render.Ending{Transcript: "reports/out/observations.jsonl", Exit: 1}}
}

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"plain é 漢 😀":       "plain é 漢 😀",
		"a\x1b[31mb":        `a\x1b[31mb`,
		"a\r\nb\tc\x00\x7f": `a\r\nb\tc\x00\x7f`,
		"a\u202eb\u200bc":   `a\u{202e}b\u{200b}c`,
		"a\xffb":            `a\xffb`,
		"a\u0085b\u009bc":   `a\x85b\x9bc`,
		"a\u2028b\ue000":    `a\u{2028}b\u{e000}`,
	} {
		if got := render.Plain(text); got != want {
			t.Errorf("Plain(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestAFailureAsAPersonReadsIt(t *testing.T) {
	var out strings.Builder
	l := mixed()
	l.Rows[1].Verdict.Findings[0].Shown[1].Text = `404  {"error":"not_found"}`
	render.Failure(&out, l.Rows[1], "reports/out/observations.jsonl", render.Paint{})
	want := `FAIL  0250.refusal-uniform   RFC 0250 §C   the refusal for another tenant's cursor differs from an unknown one
      unknown  409  {"error":"host_event_resync_required"}
      foreign  404  {"error":"not_found"}
      first difference: status; then body byte 10
      why it matters: the answer tells a caller that the id exists in another tenant
      transcript: reports/out/observations.jsonl#0250.refusal-uniform
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

// TestNothingOfAHostIsAliveInAReport looks for what each medium would act on.
func TestAReasonThatSaysItAllIsSaidOnce(t *testing.T) {
	row := ledger.Row{Leg: leg("0250.volume", "a title"), Major: 2, Reason: registry.Interrupted, Says: registry.Interrupted.Explain()}
	for _, says := range []string{row.Says, "interrupted before there was anything to judge"} {
		row.Says = says
		var out strings.Builder
		render.Failure(&out, row, "", render.Paint{})
		if n := strings.Count(out.String(), registry.Interrupted.Explain()); n != 1 {
			t.Errorf("%q is explained %d times:\n%s", says, n, out.String())
		}
	}
}

func TestNothingOfAHostIsAliveInAReport(t *testing.T) {
	write := func(f func(*strings.Builder) error) string {
		t.Helper()
		var out strings.Builder
		if err := f(&out); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	everywhere := []string{"\x1b", "\x07", "\u202e", "\xff", "\r"}
	for name, tt := range map[string]struct {
		text  string
		never []string
	}{
		"terminal": {write(func(b *strings.Builder) error {
			render.Final(b, mixed(), head().Ending, render.Paint{})
			return nil
		}), []string{"\n::set-output"}},
		"markdown": {outsideCode(write(func(b *strings.Builder) error { return render.Summary(b, mixed(), head()) })) + "owned",
			[]string{"<script", "](http", "http://evil", "\n::set-output"}},
		"page":  {write(func(b *strings.Builder) error { return render.HTML(b, mixed(), head()) }), []string{"<script", "<img", "href=\"h", "src="}},
		"junit": {write(func(b *strings.Builder) error { return render.JUnit(b, mixed(), render.Ending{}) }), []string{"<script"}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, never := range append(everywhere, tt.never...) {
				if strings.Contains(tt.text, never) {
					t.Errorf("%q is in it:\n%s", never, tt.text)
				}
			}
			if !strings.Contains(tt.text, "owned") {
				t.Error("what the host sent is not shown at all")
			}
		})
	}
}

func TestJUnitReadsBack(t *testing.T) {
	var out strings.Builder
	if err := render.JUnit(&out, mixed(), render.Ending{}); err != nil {
		t.Fatal(err)
	}
	var read struct {
		Tests   int `xml:"tests,attr"`
		Failed  int `xml:"failures,attr"`
		Errors  int `xml:"errors,attr"`
		Skipped int `xml:"skipped,attr"`
		Cases   []struct {
			Name    string  `xml:"name,attr"`
			Class   string  `xml:"classname,attr"`
			Failure *string `xml:"failure"`
			Error   *string `xml:"error"`
			Skipped *struct {
				Message string `xml:"message,attr"`
			} `xml:"skipped"`
		} `xml:"testsuite>testcase"`
	}
	if err := xml.Unmarshal([]byte(out.String()), &read); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(read.Tests, read.Failed, read.Errors, read.Skipped); got != "5 1 1 2" {
		t.Errorf("tests, failures, errors and skipped are %s", got)
	}
	var got []string
	for _, c := range read.Cases {
		state := "pass"
		switch {
		case c.Failure != nil:
			state = "failure"
		case c.Error != nil:
			state = "error"
		case c.Skipped != nil:
			state = "skipped " + c.Skipped.Message
		}
		got = append(got, c.Class+"/"+c.Name+" "+state)
	}
	want := `openwop.v2.hostEvents.replay/0250.cursor-refused pass
openwop.v2.hostEvents.replay/0250.refusal-uniform failure
openwop.v2.hostEvents.replay/0250.resume-backlog error
openwop.v2.hostEvents.replay/0250.legacy-unchanged skipped not-advertised: the host does not advertise what this requirement is about
openwop.v2.hostEvents.replay/0250.ephemeral-not-replayed skipped opted-out: the operator opted out of it by name`
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
	if failure := read.Cases[1].Failure; failure == nil || !strings.Contains(*failure, "first difference: status") {
		t.Errorf("the failure is not inside its case: %v", failure)
	}
}

func TestFinalSaysOneCauseOnce(t *testing.T) {
	var l ledger.Ledger
	for _, id := range []registry.LegID{"a", "b", "c"} {
		r := ledger.Row{Leg: leg(id, "t"), Major: 2, Reason: registry.Unreachable, Says: "nothing listens at http://x"}
		r.Result = registry.Blocked
		l.Rows = append(l.Rows, r)
	}
	for name, problem := range map[string]string{"known before": "nothing listens at http://x", "found on the way": ""} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			render.Final(&out, l, render.Ending{Exit: 3, Problem: problem}, render.Paint{})
			if n := strings.Count(out.String(), "nothing listens"); n != 1 {
				t.Errorf("it is said %d times:\n%s", n, out.String())
			}
			if !strings.HasSuffix(out.String(), "0 passed, 0 failed, 0 inapplicable, 0 skipped, 3 blocked\nverdict: none, something stopped the measurement\n") {
				t.Errorf("ends with\n%s", out.String())
			}
		})
	}
}

func TestColourOnlyOnATerminalThatWantsIt(t *testing.T) {
	for name, tt := range map[string]struct {
		terminal bool
		noColor  string
		want     bool
	}{"terminal": {true, "", true}, "pipe": {false, "", false}, "NO_COLOR": {true, "1", false}} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Contains(render.Painting(tt.terminal, tt.noColor).Result(registry.Fail), "\x1b["); got != tt.want {
				t.Errorf("coloured: %v, want %v", got, tt.want)
			}
		})
	}
}
