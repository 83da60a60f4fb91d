package render_test

import (
	"strings"
	"testing"

	"github.com/wopwitness/wopwitness/reports/bundle"
	"github.com/wopwitness/wopwitness/reports/diff"
	"github.com/wopwitness/wopwitness/reports/render"
)

func TestADifferenceOfMajorsIsWarnedOfFirst(t *testing.T) {
	of := func(major int) bundle.Bundle { return bundle.Bundle{Suite: bundle.Suite{TargetMajor: major}} }
	for name, c := range map[string]struct {
		is   int
		says string
	}{
		"two majors": {2, "warning: these bundles are of two majors (1 and 2), whose rows are not the same requirements\n" +
			"~ suite.targetMajor: 1 → 2\nnothing was lost\n"},
		"one": {1, "nothing changed\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			render.Difference(&out, diff.Bundles(of(1), of(c.is)), render.Paint{})
			if out.String() != c.says {
				t.Errorf("got\n%s", out.String())
			}
		})
	}
}
