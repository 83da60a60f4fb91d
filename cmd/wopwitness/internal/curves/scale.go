package curves

import (
	"math"
	"strconv"
	"strings"
)

// scale places values along one axis.
type scale struct {
	place func(float64) float64
	ticks []tick
}

// linear goes from 0 at begin to a round number at end that every value keeps below, with that part of room, in about so
// many steps.
func linear(values []float64, begin, end float64, steps int, room float64) scale {
	most := 0.0
	for _, v := range values {
		most = max(most, v)
	}
	if most == 0 {
		most = 1
	}
	most *= 1 + room
	step := round(most / float64(steps))
	upTo := math.Ceil(most/step-1e-9) * step
	s := scale{place: func(v float64) float64 { return begin + (end-begin)*v/upTo }}
	for n := 0; float64(n)*step <= upTo*1.0001; n++ {
		s.ticks = append(s.ticks, tick{At: s.place(float64(n) * step), Text: grouped(float64(n) * step)})
	}
	return s
}

// round is the next of 1, 2, 5, 10, 20 … at or above a step.
func round(step float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(step)))
	for _, m := range []float64{1, 2, 5} {
		if step <= m*unit*1.0001 {
			return m * unit
		}
	}
	return 10 * unit
}

// logarithmic goes from the least value to the greatest, with some room, and marks the values themselves.
func logarithmic(values []float64, begin, end float64) scale {
	least, most := math.Inf(1), 0.0
	for _, v := range values {
		least, most = min(least, v), max(most, v)
	}
	span := math.Max(math.Log10(most/least), 0.1)
	s := scale{place: func(v float64) float64 { return begin + (end-begin)*(0.04+0.92*math.Log10(v/least)/span) }}
	marked := map[float64]bool{}
	for _, v := range values {
		if !marked[v] {
			marked[v] = true
			s.ticks = append(s.ticks, tick{At: s.place(v), Text: grouped(v)})
		}
	}
	return s
}

// figure is a value with three significant digits.
func figure(v float64) string {
	if v == 0 {
		return "0"
	}
	digits := max(0, 2-int(math.Floor(math.Log10(math.Abs(v)))))
	return group(strconv.FormatFloat(v, 'f', digits, 64))
}

// grouped is a value as it is, its thousands apart.
func grouped(v float64) string { return group(strconv.FormatFloat(v, 'g', 12, 64)) }

func group(text string) string {
	whole, rest, split := strings.Cut(text, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if split {
		whole += "." + rest
	}
	return whole
}
