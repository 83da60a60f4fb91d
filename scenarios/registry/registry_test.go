package registry

import (
	"slices"
	"strings"
	"testing"
)

func TestTheTableIsComplete(t *testing.T) {
	if err := Validate(); err != nil {
		t.Error(err)
	}
}

func TestSelect(t *testing.T) {
	ids := func(cases []Case) []string {
		var got []string
		for _, c := range cases {
			got = append(got, string(c.Leg.ID))
		}
		return got
	}
	for _, c := range []struct {
		name        string
		globs, rfcs []string
		majors      []int
		want        []string // exact, where short
		major       int      // of the first case, where it matters
		err         string   // a part of the error
	}{
		{name: "one leg", globs: []string{"0250.shape"}, majors: []int{2}, want: []string{"0250.shape"}},
		{name: "its requirement id", globs: []string{"openwop.requirement.0250.shape"}, majors: []int{2}, want: []string{"0250.shape"}},
		{name: "a major without the leg", globs: []string{"0250.shape"}, majors: []int{1}},
		{name: "a pattern", globs: []string{"0250.ref*uniform"}, majors: []int{1, 2}, want: []string{"0250.refusal-uniform"}},
		{name: "an RFC narrows a pattern", globs: []string{"*idempotent"}, rfcs: []string{"0241"}, majors: []int{2}, want: []string{"0241.trigger.idempotent"}},
		{name: "a leg of one major runs on the highest", globs: []string{"agentdlq.route.malformed-message"}, majors: []int{1, 2},
			want: []string{"agentdlq.route.malformed-message"}, major: 2},
		{name: "and where that isn't served on the other", globs: []string{"agentdlq.route.malformed-message"}, majors: []int{1},
			want: []string{"agentdlq.route.malformed-message"}, major: 1},
		{name: "a typo", globs: []string{"0250.resume-backlgo"}, majors: []int{2}, err: "0250.resume-backlog"},
		{name: "a broken pattern", globs: []string{"0250.[a"}, majors: []int{2}, err: "not a valid pattern"},
		{name: "an unknown RFC", rfcs: []string{"0251"}, majors: []int{2}, err: "0250"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Select(c.globs, c.rfcs, c.majors)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("error %v, want one that offers %q", err, c.err)
				}
				return
			}
			if err != nil || !slices.Equal(ids(got), c.want) {
				t.Errorf("Select = %v, %v; want %v", ids(got), err, c.want)
			}
			if c.major != 0 && len(got) > 0 && got[0].Major != c.major {
				t.Errorf("on major %d, want %d", got[0].Major, c.major)
			}
		})
	}
}

func TestLegsThatMoveTheClockComeLast(t *testing.T) {
	cases, err := Select(nil, nil, []int{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	moved := false
	for _, c := range cases {
		if moved && !c.Leg.Last {
			t.Errorf("%s comes after a leg that moves the clock", c.Leg.ID)
		}
		moved = moved || c.Leg.Last
	}
}

func TestEveryReasonExplainsItself(t *testing.T) {
	for _, r := range []Reason{NotAdvertised, ClassNotListed, NoCause, RateTooLow, OptedOut, Convicted, Unreachable, Unauthorized, SameTenant,
		Timeout, UnexpectedAnswer, ClockMoved, Unreadable, Interrupted, Panicked, NotRun, Vacuous} {
		if r.Explain() == "unknown reason" || !r.Known() {
			t.Errorf("%s has no explanation", r)
		}
	}
	if Reason("").Known() || Reason("not-run:x").Known() {
		t.Error("a reason is known that there is none of")
	}
}
