package render_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/wopwitness/wopwitness/reports/ledger"
	"github.com/wopwitness/wopwitness/reports/render"
	"github.com/wopwitness/wopwitness/scenarios/registry"
)

// outsideCode is what a renderer would act on in Markdown: everything but fenced blocks and code spans, found as
// CommonMark finds them (sections 4.5 and 6.1).
func outsideCode(text string) string {
	var kept []string
	fence := ""
	for line := range strings.SplitSeq(text, "\n") {
		run := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		switch {
		case fence == "" && len(run) >= 3 && !strings.Contains(line[len(run):], "`"):
			fence = run
		case fence == "":
			kept = append(kept, outsideSpans(line))
		case len(run) >= len(fence) && strings.TrimSpace(line) == run:
			fence = ""
		}
	}
	return strings.Join(kept, "\n")
}

func outsideSpans(line string) string {
	runs := regexp.MustCompile("`+").FindAllStringIndex(line, -1)
	out, from := "", 0
	for i := 0; i < len(runs); i++ {
		for j := i + 1; j < len(runs); j++ {
			if runs[j][1]-runs[j][0] == runs[i][1]-runs[i][0] {
				out += line[from:runs[i][0]]
				from, i = runs[j][1], j
				break
			}
		}
	}
	return out + line[from:]
}

// TestASummaryIsInertAndCanBeReadAsItIs gives a host's texts every way out of a code span and of a table's cell.
func TestASummaryIsInertAndCanBeReadAsItIs(t *testing.T) {
	for _, said := range []string{
		"`", "``` ``", "a`b``c", "\\", "`\\", "\\|", "a | b", "|`|", "x` <img src=x> `y", "<!-- ", "[a](http://b)", "@somebody", "fixes #12",
		"http://evil.example", "WWW.evil.example", "a@evil.example", "*b*", "__b__", "~~b~~", "$x$", "&lt;", "",
	} {
		t.Run(said, func(t *testing.T) {
			h := head()
			h.HostName, h.BaseURL, h.HostVersion = said, said, said
			row := ledger.Row{Leg: leg("0250.x", "a title"), Major: 2, Reason: registry.Convicted, Says: said}
			row.ID, row.Result = "openwop.requirement.0250.x", registry.Fail
			var out strings.Builder
			if err := render.Summary(&out, ledger.Ledger{Rows: []ledger.Row{row}}, h); err != nil {
				t.Fatal(err)
			}
			rest := strings.TrimPrefix(outsideCode(out.String()), "##")
			if strings.ContainsAny(rest, "`<>[]@#*~$&\\") || strings.Contains(strings.ToLower(rest), "evil") {
				t.Errorf("alive outside of code:\n%s", rest)
			}
			for line := range strings.SplitSeq(out.String(), "\n") {
				if strings.HasPrefix(line, "| executed-fail") && strings.Count(line, "|") != 5 {
					t.Errorf("its row has other cells: %s", line)
				}
			}
		})
	}
}

func TestASummaryAsAPersonReadsIt(t *testing.T) {
	fail := ledger.Row{Leg: leg("0250.x", "a title"), Major: 2, Reason: registry.Convicted, Says: "expected: host_event_resync_required, and got 'x'"}
	fail.ID, fail.Result = "openwop.requirement.0250.x", registry.Fail
	h := render.Head{BaseURL: "http://127.0.0.1:8077", HostName: "acme", HostVersion: "1.2", SuiteVersion: "0.1.0", GeneratedAt: "2026-03-01T12:00:00Z",
		Build: "commit:3f2a91c", Uncertified: []string{"hostEvents.replay (major 2): 0250.x failed"}, Ending: render.Ending{Exit: 1}}
	var out strings.Builder
	if err := render.Summary(&out, ledger.Ledger{Rows: []ledger.Row{fail}}, h); err != nil {
		t.Fatal(err)
	}
	want := `## wopwitness: the host does not do what the text says

Host acme 1.2 at ` + "`http://127.0.0.1:8077`" + `, build commit:3f2a91c

| major | passed | failed | inapplicable | skipped | blocked |
| ---: | ---: | ---: | ---: | ---: | ---: |
| 2 | 0 | 1 | 0 | 0 | 0 |

Not certified: hostEvents.replay (major 2): 0250.x failed

| result | leg | text | what |
| --- | --- | --- | --- |
| executed-fail | 0250.x | RFC 0250 §C | expected: host_event_resync_required, and got 'x' |

` + "```text" + `
FAIL  0250.x   RFC 0250 §C   expected: host_event_resync_required, and got 'x'
      ` + registry.Convicted.Explain() + `
` + "```" + `

wopwitness 0.1.0, 2026-03-01T12:00:00Z
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

func TestAReportSaysWhyNothingIsCertified(t *testing.T) {
	const none = "no behaviour of a profile that can be certified was driven"
	for name, c := range map[string]struct {
		head  render.Head
		says  string
		never string
	}{
		"a profile falls short":     {render.Head{Uncertified: []string{"deadLetter (major 1): x failed"}}, "deadLetter (major 1): x failed", none},
		"no profile was shown":      {render.Head{}, none, "deadLetter"},
		"all that there is":         {render.Head{Ending: render.Ending{Certified: []string{"deadLetter (major 1)"}}}, "ertified: deadLetter (major 1)", none},
		"nothing could be measured": {render.Head{Uncertified: []string{"deadLetter (major 1): x"}, Ending: render.Ending{Problem: "nobody listens"}}, "nobody listens", "deadLetter"},
	} {
		t.Run(name, func(t *testing.T) {
			var page, summary strings.Builder
			if err := render.HTML(&page, mixed(), c.head); err != nil {
				t.Fatal(err)
			}
			if err := render.Summary(&summary, mixed(), c.head); err != nil {
				t.Fatal(err)
			}
			for _, text := range []string{page.String(), summary.String()} {
				if !strings.Contains(text, c.says) || strings.Contains(text, c.never) {
					t.Errorf("want %q and not %q:\n%s", c.says, c.never, text)
				}
			}
		})
	}
}

// TestThePageListsWhatIsWrongUnderItsVerdict: failures first, then what was blocked, each a way to its row.
func TestThePageListsWhatIsWrongUnderItsVerdict(t *testing.T) {
	h := head()
	h.Build = "commit:3f2a91c"
	var out strings.Builder
	if err := render.HTML(&out, mixed(), h); err != nil {
		t.Fatal(err)
	}
	at := -1
	for _, next := range []string{"<dd>commit:3f2a91c</dd>", `<nav `, `href="#v2-0250-refusal-uniform"`, `href="#v2-0250-resume-backlog"`, "</nav>", "<section", `id="v2-0250-refusal-uniform"`} {
		found := strings.Index(out.String(), next)
		if found <= at {
			t.Errorf("%s is not there, or not after what goes before it", next)
		}
		at = found
	}
	one := head()
	one.Ending.Problem = hostile
	for name, c := range map[string]struct {
		rows []ledger.Row
		head render.Head
	}{
		"nothing is wrong":       {mixed().Rows[:1], head()},
		"one problem blocks all": {mixed().Rows[2:3], one},
	} {
		out.Reset()
		if err := render.HTML(&out, ledger.Ledger{Rows: c.rows}, c.head); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String(), "<nav") {
			t.Errorf("%s, and the page lists it", name)
		}
	}
}
