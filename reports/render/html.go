package render

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/wopwitness/wopwitness/reports/ledger"
	"github.com/wopwitness/wopwitness/reports/timeline"
	"github.com/wopwitness/wopwitness/scenarios/registry"
)

//go:embed report.html.tmpl
var pageSource string

//go:embed page.css
var pageStyle string

// How much of a leg's exchanges the page shows; the transcript has all of it.
const exchangesLimit = 60_000

// page is what the template shows. Every text from a host is already plain; the template escapes it for HTML.
type page struct {
	Style      template.CSS
	Head       Head
	Conclusion string
	Good       bool
	Counts     []pageCount
	Unexpected []string  // what passed and was expected to fail
	Wrong      []pageRow // what failed or was blocked, to be found without reading on
	Texts      []pageText
	Groups     []pageGroup
}

// pageCount is one disposition: its number, and the filter that hides or shows its rows.
type pageCount struct {
	Result registry.Result
	Number int
}

// pageText is one RFC as a filter.
type pageText struct {
	Class, Name string
}

type pageGroup struct {
	Class, Title string
	Rows         []pageRow
}

type pageRow struct {
	Name      string
	Major     int
	Anchor    string
	Result    registry.Result
	Outcome   string // the disposition, and whether it was expected
	Open      bool
	Title     string
	Section   string
	Source    string
	Says      string
	Full      string // a row that isn't a pass, in full
	Exchanges string // what was sent and what came, of a row that isn't a pass
	Timeline  template.HTML
	Checks    []string
	Notes     []string
	Cause     string
}

// HTML writes the ledger as one page: no script, no network, nothing alive in what a host sent. It works on a phone, in
// dark and in light, and filters by what the reader ticks, in style sheets alone.
func HTML(out io.Writer, l ledger.Ledger, head Head) error {
	t, err := template.New("report").Parse(pageSource)
	if err != nil {
		return fmt.Errorf("report page: %w", err)
	}
	count := ledger.Count(l.Rows)
	p := page{
		Style:      template.CSS(pageStyle),
		Head:       head,
		Conclusion: headline(conclusion(l, head.Ending)),
		Good:       head.Ending.Exit == ledger.ExitOK,
		Counts: []pageCount{
			{registry.Fail, count.ExecutedFail}, {registry.Blocked, count.Blocked}, {registry.Pass, count.ExecutedPass},
			{registry.Inapplicable, count.Inapplicable}, {registry.Skipped, count.Skipped},
		},
	}
	p.Head.HostName, p.Head.HostVersion, p.Head.BaseURL = Plain(head.HostName), Plain(head.HostVersion), Plain(head.BaseURL)
	p.Head.Build, p.Head.Uncertified = Plain(head.Build), nil
	for _, why := range head.uncertified() {
		p.Head.Uncertified = append(p.Head.Uncertified, clip(Plain(why), factLimit))
	}
	p.Head.Ending.Problem = clip(Plain(head.Ending.Problem), factLimit)
	for _, r := range l.Expect(head.Ending.ExpectFail).Unexpected {
		p.Unexpected = append(p.Unexpected, passedUnexpectedly(r))
	}
	for i, row := range pageRows(l.Rows, head) {
		p.add(l.Rows[i], row)
	}
	p.Wrong = p.wrong(clip(Plain(head.Ending.Problem), factLimit))
	if err := t.Execute(out, p); err != nil {
		return fmt.Errorf("write report page: %w", err)
	}
	return nil
}

// headline is the verdict as a heading: "verdict: none, …" is "no verdict: …".
func headline(conclusion string) string {
	said := strings.TrimPrefix(conclusion, "verdict: ")
	if why, none := strings.CutPrefix(said, "none, "); none {
		return "no verdict: " + why
	}
	return said
}

// wrong lists the rows that failed, then the blocked ones. What one problem blocked stands above as that problem.
func (p *page) wrong(problem string) []pageRow {
	var failed, blocked []pageRow
	for _, g := range p.Groups {
		for _, r := range g.Rows {
			switch r.Result {
			case registry.Fail:
				failed = append(failed, r)
			case registry.Blocked:
				if problem == "" || r.Says != problem {
					blocked = append(blocked, r)
				}
			}
		}
	}
	return append(failed, blocked...)
}

// add puts a row under its RFC and major, in the ledger's order.
func (p *page) add(r ledger.Row, row pageRow) {
	text := pageText{Class: "text-" + className(r.Leg.RFC), Name: rfcName(r.Leg.RFC, "")}
	if !slices.Contains(p.Texts, text) {
		p.Texts = append(p.Texts, text)
	}
	title := fmt.Sprintf("%s, major %d", text.Name, r.Major)
	i := slices.IndexFunc(p.Groups, func(g pageGroup) bool { return g.Title == title })
	if i < 0 {
		i = len(p.Groups)
		p.Groups = append(p.Groups, pageGroup{Class: text.Class, Title: title})
	}
	p.Groups[i].Rows = append(p.Groups[i].Rows, row)
}

// pageRows draws the rows, several at once: a picture is read out of all that a leg observed, and the run waits for the page.
func pageRows(rows []ledger.Row, head Head) []pageRow {
	drawn := make([]pageRow, len(rows))
	var (
		drawing sync.WaitGroup
		next    atomic.Int64
	)
	for range runtime.GOMAXPROCS(0) {
		drawing.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(rows); i = int(next.Add(1)) - 1 {
				drawn[i] = rowOf(rows[i], head)
			}
		})
	}
	drawing.Wait()
	return drawn
}

func rowOf(r ledger.Row, head Head) pageRow {
	row := pageRow{
		Name: string(r.Leg.ID), Major: r.Major, Anchor: fmt.Sprintf("v%d-%s", r.Major, className(string(r.Leg.ID))),
		Result: r.Result, Outcome: head.Ending.outcome(r), Open: r.Result == registry.Fail,
		Title: r.Leg.Title, Section: rfcName(r.Leg.RFC, r.Leg.Section), Source: r.Leg.Source, Cause: r.Cause,
	}
	if r.Result != registry.Pass {
		row.Says = clip(Plain(r.Says), factLimit)
		var full strings.Builder
		Failure(&full, r, head.Ending.Transcript, Paint{})
		row.Full = full.String()
	}
	if r.Verdict != nil {
		row.Checks = r.Verdict.Checks
		for _, n := range r.Verdict.Notes {
			row.Notes = append(row.Notes, clip(Plain(n.Code+": "+n.Says), factLimit))
		}
	}
	if r.Record == nil || len(r.Record.Observation) == 0 {
		return row
	}
	if picture, ok := timeline.Of(r.Record.Observation); ok {
		row.Timeline = template.HTML(picture.SVG()) // it draws no text of a host, and escapes what it writes
	}
	if r.Result == registry.Fail || r.Result == registry.Blocked {
		var trace strings.Builder
		Trace(&trace, *r.Record, head.BaseURL)
		row.Exchanges = clip(trace.String(), exchangesLimit)
	}
	return row
}

// className makes an id into a name of a class: letters, digits and hyphens.
func className(id string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		}
		return '-'
	}, id)
}
