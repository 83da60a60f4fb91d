package bench

import (
	"testing"
)

func TestMedian(t *testing.T) {
	for name, c := range map[string]struct {
		values []float64
		want   float64
	}{
		"none":                 {nil, 0},
		"one":                  {[]float64{3}, 3},
		"odd, out of order":    {[]float64{9, 1, 5}, 5},
		"even":                 {[]float64{4, 1, 3, 2}, 2.5},
		"an outlier moves nil": {[]float64{1, 1, 1, 1000, 1}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			before := append([]float64(nil), c.values...)
			if got := median(c.values); got != c.want {
				t.Errorf("expected %v, got %v", c.want, got)
			}
			for i := range before {
				if before[i] != c.values[i] {
					t.Fatalf("the values were reordered: %v", c.values)
				}
			}
		})
	}
}

func TestTheRatioIsTheMedianOfEachRounds(t *testing.T) {
	// The machine was ten times slower in the second round: each round's own ratio doesn't show that, medians would.
	r := Row{Rounds: []Pair{{Host: 900, Limit: 1000}, {Host: 70, Limit: 100}, {Host: 800, Limit: 1000}}}
	r.settle()
	if r.Host != 800 || r.LimitValue != 1000 || r.Ratio != 0.8 {
		t.Errorf("host %v, limit %v, ratio %v", r.Host, r.LimitValue, r.Ratio)
	}
}

func TestARowWithoutLimitHasNoRatio(t *testing.T) {
	r := Row{Rounds: []Pair{{Host: 0.4}, {Host: 0.2}}}
	r.settle()
	if r.Host < 0.299 || r.Host > 0.301 || r.LimitValue != 0 || r.Ratio != 0 {
		t.Errorf("host %v, limit %v, ratio %v", r.Host, r.LimitValue, r.Ratio)
	}
}

func TestBoundsHoldAtTheBoundItself(t *testing.T) {
	for name, c := range map[string]struct {
		check func(*Row)
		holds bool
	}{
		"at least, above":   {func(r *Row) { r.mustReach("x", 0.81, 0.8, "") }, true},
		"at least, on it":   {func(r *Row) { r.mustReach("x", 0.8, 0.8, "") }, true},
		"at least, below":   {func(r *Row) { r.mustReach("x", 0.79, 0.8, "") }, false},
		"at most, below":    {func(r *Row) { r.mustNotPass("x", 1.9, 2, "") }, true},
		"at most, on it":    {func(r *Row) { r.mustNotPass("x", 2, 2, "") }, true},
		"at most, above":    {func(r *Row) { r.mustNotPass("x", 2.1, 2, "") }, false},
		"nobody missed any": {func(r *Row) { r.mustNotPass("x", 0, 0, "") }, true},
		"somebody did":      {func(r *Row) { r.mustNotPass("x", 1, 0, "") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			var r Row
			c.check(&r)
			if r.Checks[0].Holds != c.holds {
				t.Errorf("expected %v: %+v", c.holds, r.Checks[0])
			}
			if got := (Result{Rows: []Row{r}}).holds(); got != c.holds {
				t.Errorf("the result: expected %v, got %v", c.holds, got)
			}
		})
	}
}

func TestNothingMeasuredHoldsNothing(t *testing.T) {
	if (Result{}).holds() || (Result{Rows: []Row{{Name: "append-1"}}}).holds() {
		t.Error("a bound was said to hold though none was checked")
	}
}

func TestPeakMemory(t *testing.T) {
	got, err := peakOf("Name:\twopwitness\nVmHWM:\t   51200 kB\nVmRSS:\t 4 kB\n")
	if err != nil || got != 50 {
		t.Errorf("expected 50 MiB, got %v, %v", got, err)
	}
	if _, err := peakOf("Name:\tother\n"); err == nil {
		t.Error("a status without a peak was read")
	}
}
