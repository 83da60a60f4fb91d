package impact_test

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/wopwitness/wopwitness/mockhost/agent/impact"
	"github.com/wopwitness/wopwitness/mockhost/parts"
)

func effects(pairs ...string) []string { return pairs }

// told is each step's state, with its compensation where there is one.
func told(es []parts.ImpactStep) []string {
	out := make([]string, len(es))
	for i, e := range es {
		out[i] = e.State
		if e.Compensation != "" {
			out[i] += "+" + e.Compensation
		}
	}
	return out
}

func TestEachStepIsTold(t *testing.T) {
	cases := map[string]struct {
		steps []impact.Step
		want  []string
	}{
		"nothing wrong": {
			[]impact.Step{{Done: true, SideEffect: true}, {Done: true, DependsOn: []int{0}}},
			effects("done", "done"),
		},
		"failed in the middle": {
			[]impact.Step{{Done: true, SideEffect: true}, {Unresolved: true, DependsOn: []int{0}}, {DependsOn: []int{1}}, {DependsOn: []int{2}}, {DependsOn: []int{0}}, {}},
			effects("done+offered", "failed", "suspect", "suspect", "blocked", "blocked"),
		},
		"one that ran on a failed one": {
			[]impact.Step{{Unresolved: true}, {Done: true, SideEffect: true, DependsOn: []int{0}}, {Done: true}},
			effects("failed", "suspect+offered", "done"),
		},
		"taken back": {
			[]impact.Step{{Done: true, SideEffect: true, Compensated: true}, {Unresolved: true}},
			effects("done+done", "failed"),
		},
		"taken back, then resolved": {
			[]impact.Step{{Done: true, SideEffect: true, Compensated: true}, {Done: true, DependsOn: []int{0}}},
			effects("done+done", "done"),
		},
		"skipped without an entry": {
			[]impact.Step{{Done: true}, {}, {DependsOn: []int{1}}},
			effects("done", "blocked", "blocked"),
		},
		"no steps": {nil, effects()},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := impact.Of(c.steps)
			if told := told(got); !reflect.DeepEqual(told, append([]string{}, c.want...)) {
				t.Errorf("got  %v\nwant %v", told, c.want)
			}
			for i, e := range got {
				if e.Step != i || e.DependsOn == nil {
					t.Errorf("step %d is %+v", i, e)
				}
			}
		})
	}
}

// TestSuspicionFollowsTheDependencies compares with reachability, worked out the slow way.
func TestSuspicionFollowsTheDependencies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steps := make([]impact.Step, rapid.IntRange(1, 8).Draw(t, "steps"))
		for i := range steps {
			steps[i] = impact.Step{Done: rapid.Bool().Draw(t, "done"), SideEffect: rapid.Bool().Draw(t, "effect")}
			if i > 0 {
				steps[i].DependsOn = rapid.SliceOfDistinct(rapid.IntRange(0, i-1), rapid.ID[int]).Draw(t, "on")
			}
		}
		failed := rapid.IntRange(0, len(steps)-1).Draw(t, "failed")
		steps[failed].Unresolved, steps[failed].Done = true, false
		var rests func(i int) bool
		rests = func(i int) bool {
			for _, on := range steps[i].DependsOn {
				if on == failed || rests(on) {
					return true
				}
			}
			return false
		}
		for i, e := range impact.Of(steps) {
			if want := i != failed && rests(i); (e.State == impact.Suspect) != want {
				t.Fatalf("step %d is %s, suspect %v expected", i, e.State, want)
			}
			if want := steps[i].Done && steps[i].SideEffect; (e.Compensation == impact.Offered) != want {
				t.Fatalf("step %d has compensation %q, offered %v expected", i, e.Compensation, want)
			}
		}
	})
}
