package timeline

import (
	"fmt"
	"math"
)

// marks puts the events of one lane. Where many fall on one place, one of each shape is drawn, and labels that would
// stand on each other are left to the mark's title.
type marks struct {
	d     *drawing
	y     float64
	drawn map[string]bool
	free  [2]float64 // where the next label may begin, above and below the lane
}

func (d *drawing) marks(y float64) *marks {
	return &marks{d: d, y: y, drawn: map[string]bool{}, free: [2]float64{math.Inf(-1), math.Inf(-1)}}
}

// ring surrounds a mark: the event that closes a wait.
func (m *marks) ring(x float64) {
	m.d.f(`<circle class="sentinel" cx="%.1f" cy="%.1f" r="9"/>`, x, m.y)
}

func (m *marks) put(x float64, k mark) {
	shape, label := k.shape, k.label
	key := fmt.Sprintf("%s %.0f", shape, x)
	if m.drawn[key] {
		return
	}
	m.drawn[key] = true
	hint := "<title>" + text(k.title) + " at " + span(k.at) + "</title>"
	switch shape {
	case "durable":
		m.d.f(`<circle class="durable" cx="%.1f" cy="%.1f" r="4.5">%s</circle>`, x, m.y, hint)
	case "ephemeral":
		m.d.f(`<path class="ephemeral" d="M%.1f %.1fl5 5l-5 5l-5 -5z">%s</path>`, x, m.y-5, hint)
	case "again":
		m.d.f(`<rect class="again" x="%.1f" y="%.1f" width="10" height="10">%s</rect>`, x-5, m.y-5, hint)
	case "missing", "refused":
		m.d.f(`<circle class="%s" cx="%.1f" cy="%.1f" r="5.5">%s</circle>`, shape, x, m.y, hint)
	case "other":
		m.d.f(`<circle class="other" cx="%.1f" cy="%.1f" r="3">%s</circle>`, x, m.y, hint)
	default:
		m.d.f(`<line class="comment" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f">%s</line>`, x, m.y-4, x, m.y+4, hint)
	}
	// What came again or didn't come is named below the lane, so that no other label takes its place.
	side, at := 0, m.y-10
	if shape == "again" || shape == "missing" || shape == "refused" {
		side, at = 1, m.y+18
	}
	// A label is about 6.5 pixels a character.
	half := float64(len([]rune(label))) * 6.5 / 2
	if label != "" && x-half > m.free[side] {
		m.d.f(`<text class="mark %s-label" x="%.1f" y="%.1f">%s</text>`, shape, x, at, text(label))
		m.free[side] = x + half + 3
	}
}
