package timeline

import (
	"fmt"
	"html"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/wopwitness/wopwitness/witness/observe"
)

// The picture's measures, in pixels of its own coordinates.
const (
	width   = 960.0
	gutter  = 170.0 // lane names
	right   = width - 24
	top     = 26.0 // the axis of time
	laneGap = 44.0
)

// SVG is the picture. Its colours are the page's custom properties, so it follows dark and light.
func (t Timeline) SVG() string {
	d := &drawing{Timeline: t, scale: newScale(t.moments(), t.together(), gutter+14, right)}
	rows := d.credentials()
	height := top + laneGap*float64(len(rows)+len(t.Lanes)) + 14
	d.f(`<svg class="timeline" viewBox="0 0 %.0f %.0f" role="img" aria-label="%s">`, width, height, text(d.spoken()))
	d.axis(height)
	y := top + laneGap/2
	for _, credential := range rows {
		d.emits(credential, y)
		y += laneGap
	}
	for _, l := range t.Lanes {
		d.lane(l, y)
		y += laneGap
	}
	d.f(`</svg>`)
	if t.Left > 0 {
		d.f(`<p class="quiet">%d more streams are not drawn.</p>`, t.Left)
	}
	return d.String()
}

type drawing struct {
	Timeline
	scale
	strings.Builder
}

func (d *drawing) f(format string, args ...any) { fmt.Fprintf(d, format, args...) }

// text makes any text safe inside the picture; what can't be seen is left out.
func text(s string) string {
	return html.EscapeString(strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, strings.ToValidUTF8(s, "")))
}

// spoken says in words what the picture shows at a glance.
func (d *drawing) spoken() string {
	var parts []string
	for _, l := range d.Lanes {
		again := 0
		for _, f := range l.Frames {
			if f.Kind == Again {
				again++
			}
		}
		parts = append(parts, fmt.Sprintf("%s: %d frames, %d seen again, %d sent and not seen", l.Name, len(l.Frames), again, len(l.Missing)))
	}
	return fmt.Sprintf("%d events sent. %s", len(d.Emits), strings.Join(parts, ". "))
}

// credentials lists whose events were sent, in the order of the first.
func (d *drawing) credentials() []string {
	var all []string
	for _, e := range d.Emits {
		if !slices.Contains(all, e.Credential) {
			all = append(all, e.Credential)
		}
	}
	return all
}

func (d *drawing) axis(height float64) {
	last := -1000.0
	for i, m := range d.scale.moments {
		x := d.at[i]
		if x-last < 84 || x > right-20 {
			continue
		}
		last = x
		d.f(`<line class="grid" x1="%.1f" y1="%.0f" x2="%.1f" y2="%.0f"/><text class="tick" x="%.1f" y="14">%s</text>`, x, top-8, x, height, x, span(m))
	}
	for _, m := range d.Moves {
		x := d.x(m)
		d.f(`<line class="move" x1="%.1f" y1="%.0f" x2="%.1f" y2="%.0f"><title>the host's clock was moved</title></line>`, x, top-8, x, height)
	}
}

func span(m observe.Micros) string {
	at := m.Duration()
	if at < 10*time.Second {
		return fmt.Sprintf("%.1f ms", float64(at.Microseconds())/1000)
	}
	return fmt.Sprintf("%.1f s", at.Seconds())
}

func (d *drawing) name(y float64, name, under string) {
	d.f(`<text class="lane" x="0" y="%.1f">%s</text><text class="under" x="0" y="%.1f">%s</text>`, y-1, text(short(name)), y+12, text(under))
	d.f(`<line class="base" x1="%.0f" y1="%.1f" x2="%.0f" y2="%.1f"/>`, gutter, y, width, y)
}

func short(name string) string {
	runes := []rune(name)
	if len(runes) > 25 {
		return string(runes[:24]) + "…"
	}
	return name
}

func (d *drawing) emits(credential string, y float64) {
	d.name(y, "sent", whose(credential))
	m := d.marks(y)
	for _, e := range d.Emits {
		if e.Credential != credential {
			continue
		}
		k := mark{at: e.At, shape: "durable", label: e.Label, title: "sent " + e.Label}
		if !e.Durable {
			k.shape = "ephemeral"
		}
		if slices.Contains(d.Sentinels, e.Label) {
			k.title += ", the sentinel"
			m.ring(d.x(e.At))
		}
		if e.ID == "" {
			k.shape, k.title = "refused", e.Label+" was not taken"
		}
		m.put(d.x(e.At), k)
	}
}

func whose(credential string) string {
	switch credential {
	case observe.CredentialNone:
		return "no key"
	case observe.CredentialLow, observe.CredentialWorkspace, observe.CredentialBad:
		return credential + " key"
	}
	return "tenant " + credential
}

func (d *drawing) lane(l Lane, y float64) {
	d.name(y, l.Name, whose(l.Credential))
	for _, c := range l.Connections {
		d.connection(c, y)
	}
	m := d.marks(y)
	all := l.marked(d.Sentinels)
	for i := 0; i < len(all); {
		n := i + 1
		for n < len(all) && all[n].at == all[i].at {
			n++
		}
		for j, k := range all[i:n] {
			x := d.place(k.at, j, n-i)
			if k.ring {
				m.ring(x)
			}
			m.put(x, k)
		}
		i = n
	}
}

// mark is one thing on a lane.
type mark struct {
	at                  observe.Micros
	shape, label, title string
	ring                bool
}

// marked lists what stands on the lane from left to right.
func (l Lane) marked(sentinels []string) []mark {
	var all []mark
	for _, e := range l.Missing {
		all = append(all, mark{at: e.At, shape: "missing", label: e.Label, title: e.Label + " was sent and not seen on this stream"})
	}
	for _, f := range l.Frames {
		k := mark{at: f.At, shape: string(f.Kind), label: f.Label, title: f.Label + " came"}
		switch f.Kind {
		case Comment:
			k.title = "a comment"
		case Other:
			k.title = "somebody else's event"
		case Again:
			k.label, k.title = f.Label+" again", f.Label+" came again"
		default:
			k.ring = slices.Contains(sentinels, f.Label)
		}
		all = append(all, k)
	}
	slices.SortStableFunc(all, func(a, b mark) int { return int(a.at - b.at) })
	return all
}

// connection is a dashed line from asking to the answer and a bar while the stream was open; the window of reading on for
// what must not come is the bar's last, hatched part.
func (d *drawing) connection(c Connection, y float64) {
	asked, answered, ended := d.x(c.SentAt), d.x(c.AnsweredAt), d.x(c.EndedAt)
	d.f(`<line class="asking" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, asked, y, answered, y)
	if !c.Opened {
		label := "no answer"
		if c.Status != 0 {
			label = fmt.Sprint(c.Status)
		}
		d.f(`<path class="closed" d="M%.1f %.1fl8 8m0 -8l-8 8"/><text class="mark" x="%.1f" y="%.1f">%s</text>`, answered-4, y-4, answered+8, y-7, label)
		return
	}
	d.f(`<rect class="open" x="%.1f" y="%.1f" width="%.1f" height="12" rx="3"/>`, answered, y-6, max(ended-answered, 2))
	if start := c.EndedAt - d.Quiet; c.End == observe.EndSuite && d.Quiet > 0 && start > c.AnsweredAt {
		x := d.x(start)
		d.f(`<rect class="window" x="%.1f" y="%.1f" width="%.1f" height="12"><title>read on for %s</title></rect>`, x, y-6, max(ended-x, 1), span(d.Quiet))
	}
	if c.End != observe.EndSuite {
		d.f(`<line class="cut" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"><title>ended by the host</title></line>`, ended, y-10, ended, y+10)
	}
}
