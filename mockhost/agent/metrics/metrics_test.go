package metrics

import (
	"reflect"
	"testing"

	"github.com/wopwitness/wopwitness/mockhost/agent/keep"
)

func TestAQuantileIsAValueThatWasThere(t *testing.T) {
	hundred := make([]float64, 100)
	for i := range hundred {
		hundred[i] = float64(100 - i)
	}
	cases := map[string]struct {
		values []float64
		q      float64
		want   any
	}{
		"of nothing":       {nil, 0.5, nil},
		"of one":           {[]float64{12.5}, 0.99, 12.5},
		"the middle":       {hundred, 0.5, 50.0},
		"one in twenty":    {hundred, 0.95, 95.0},
		"one in a hundred": {hundred, 0.99, 99.0},
		"of two":           {[]float64{9, 1}, 0.5, 1.0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := quantile(c.values, c.q); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
	if hundred[0] != 100 {
		t.Error("the values were put in order where they are kept")
	}
}

func TestBucketsAreThereBeforeAnythingIsCounted(t *testing.T) {
	want := []any{
		map[string]any{"le": 0.5, "count": 0}, map[string]any{"le": 0.85, "count": 0},
		map[string]any{"le": 0.95, "count": 0}, map[string]any{"le": 1.0, "count": 0},
	}
	if got := buckets(keep.Counter{}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v", got)
	}
	if got := buckets(keep.Counter{Below: []int{0, 1, 2, 2}}); got[2].(map[string]any)["count"] != 2 {
		t.Errorf("got %v", got)
	}
}

func TestAPartOfNothingIsNone(t *testing.T) {
	if got := part(3, 0); got != nil {
		t.Errorf("got %v", got)
	}
	if got := part(3, 4); got != 0.75 {
		t.Errorf("got %v", got)
	}
}
