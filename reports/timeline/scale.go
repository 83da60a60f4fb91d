package timeline

import (
	"math"
	"slices"

	"github.com/wopwitness/wopwitness/witness/observe"
)

// scale places moments from left to right. Distances grow with the logarithm of time, so that a burst can be looked into
// and a long wait doesn't push it out of sight; order is always kept.
type scale struct {
	moments []observe.Micros
	at      []float64
	room    map[observe.Micros]float64 // how wide a moment is at which several frames came in one read
}

// Shares of the width, beside what time takes.
const (
	leastGap  = 0.4
	frameRoom = 0.7
	mostRoom  = 12 // frames of one read that get room of their own; more stand closer
)

// newScale places the moments between left and right, in pixels. together says how many frames one read brought at a
// moment, where it was more than one.
func newScale(moments []observe.Micros, together map[observe.Micros]int, left, right float64) scale {
	moments = slices.Clone(moments)
	slices.Sort(moments)
	s := scale{moments: slices.Compact(moments), room: map[observe.Micros]float64{}}
	total := 0.0
	s.at = make([]float64, len(s.moments))
	for i, m := range s.moments {
		if i > 0 {
			gap := (m - s.moments[i-1]).Duration()
			total += leastGap + math.Log2(1+gap.Seconds()*1000)
		}
		s.at[i] = total
		s.room[m] = frameRoom * float64(min(together[m], mostRoom))
		total += s.room[m]
	}
	share := 0.0
	if total > 0 {
		share = (right - left) / total
	}
	for i, m := range s.moments {
		s.at[i] = left + s.at[i]*share
		s.room[m] *= share
	}
	return s
}

// place is the place of the nth of several frames that one read brought.
func (s scale) place(m observe.Micros, nth, of int) float64 {
	return s.x(m) + s.room[m]*float64(nth)/float64(max(of, 1))
}

// together counts for each moment the most frames that one lane has there, where it is more than one.
func (t Timeline) together() map[observe.Micros]int {
	most := map[observe.Micros]int{}
	for _, l := range t.Lanes {
		count := map[observe.Micros]int{}
		for _, f := range l.Frames {
			if count[f.At]++; count[f.At] > 1 {
				most[f.At] = max(most[f.At], count[f.At])
			}
		}
	}
	return most
}

// x is the place of a moment; between two known moments it is between their places.
func (s scale) x(m observe.Micros) float64 {
	i, found := slices.BinarySearch(s.moments, m)
	switch {
	case len(s.moments) == 0:
		return 0
	case found:
		return s.at[i]
	case i == 0:
		return s.at[0]
	case i == len(s.moments):
		return s.at[i-1]
	}
	share := float64(m-s.moments[i-1]) / float64(s.moments[i]-s.moments[i-1])
	return s.at[i-1] + share*(s.at[i]-s.at[i-1])
}

// moments lists everything that the picture has to place.
func (t Timeline) moments() []observe.Micros {
	all := slices.Clone(t.Moves)
	for _, e := range t.Emits {
		all = append(all, e.At)
	}
	for _, l := range t.Lanes {
		for _, c := range l.Connections {
			all = append(all, c.SentAt, c.AnsweredAt, c.EndedAt)
			if start := c.EndedAt - t.Quiet; c.End == observe.EndSuite && start > c.AnsweredAt {
				all = append(all, start)
			}
		}
		for _, f := range l.Frames {
			all = append(all, f.At)
		}
	}
	return all
}
