package bench

import (
	"math"
	"slices"
)

// Result is one run of the bench.
type Result struct {
	Machine Machine `json:"machine"`
	Rows    []Row   `json:"rows"`
	Holds   bool    `json:"holds"` // every check of every row
}

// Machine is what the figures were measured on.
type Machine struct {
	OS   string `json:"os"`
	Arch string `json:"arch"`
	CPUs int    `json:"cpus"`
	Go   string `json:"go"`
}

// The units of a row.
const (
	perSecond    = "/s"
	milliseconds = "ms"
	seconds      = "s"
)

// Row is one measurement beside its limit. Host and LimitValue are medians over the rounds, in Unit.
type Row struct {
	Name       string   `json:"row"`
	What       string   `json:"what"`
	Limit      string   `json:"limit,omitempty"` // what it is compared with
	Unit       string   `json:"unit"`
	Host       float64  `json:"host"`
	LimitValue float64  `json:"limitValue,omitempty"`
	Ratio      float64  `json:"ratio,omitempty"` // median of each round's own ratio
	Rounds     []Pair   `json:"rounds"`
	Checks     []Check  `json:"checks"`
	Notes      []string `json:"notes,omitempty"`
}

// Pair is one round: both sides, one right after the other.
type Pair struct {
	Host  float64 `json:"host"`
	Limit float64 `json:"limit,omitempty"`
}

// The two directions of a bound.
const (
	atLeast = "at-least"
	atMost  = "at-most"
)

// Check is one bound and whether it holds.
type Check struct {
	Name  string  `json:"name"`
	Got   float64 `json:"got"`
	Bound float64 `json:"bound"`
	Rule  string  `json:"rule"` // at-least or at-most
	Unit  string  `json:"unit,omitempty"`
	Holds bool    `json:"holds"`
}

// settle takes the medians of the rounds. The ratio is the median of ratios, not the ratio of medians: the two sides of a
// round met the same machine, those of different rounds perhaps not.
func (r *Row) settle() {
	var host, limit, ratios []float64
	for _, p := range r.Rounds {
		host, limit = append(host, p.Host), append(limit, p.Limit)
		if p.Limit > 0 {
			ratios = append(ratios, p.Host/p.Limit)
		}
	}
	r.Host, r.LimitValue, r.Ratio = median(host), median(limit), median(ratios)
}

func (r *Row) mustReach(name string, got, bound float64, unit string) {
	r.Checks = append(r.Checks, Check{Name: name, Got: got, Bound: bound, Rule: atLeast, Unit: unit, Holds: got >= bound})
}

func (r *Row) mustNotPass(name string, got, bound float64, unit string) {
	r.Checks = append(r.Checks, Check{Name: name, Got: got, Bound: bound, Rule: atMost, Unit: unit, Holds: got <= bound})
}

// holds says whether everything that was measured keeps its bounds. No row at all holds nothing.
func (r Result) holds() bool {
	for _, row := range r.Rows {
		if len(row.Checks) == 0 || slices.ContainsFunc(row.Checks, func(c Check) bool { return !c.Holds }) {
			return false
		}
	}
	return len(r.Rows) > 0
}

// median is the middle value, or the mean of the two in the middle; 0 of none.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// rounded keeps three significant digits, which is more than one run of a benchmark knows.
func rounded(v float64) float64 {
	if v == 0 {
		return 0
	}
	scale := math.Pow(10, 2-math.Floor(math.Log10(math.Abs(v))))
	return math.Round(v*scale) / scale
}
