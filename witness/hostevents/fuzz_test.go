package hostevents

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// FuzzJudges feeds every judge JSON of any kind. None panics, none passes on nothing, each says the same twice, and a
// finding is always one of a check that was counted.
func FuzzJudges(f *testing.F) {
	f.Add([]byte(`{}`))
	f.Add([]byte(`null`))
	f.Add([]byte(`[{"label":"D1"}]`))
	f.Add([]byte(`{"observer":{"segments":[{}]},"backlog":[{},{"label":"D1","eventId":"x","delivery":"durable"}],"cursor":"D1"}`))
	for _, o := range []any{
		resumeAt(rightOrder...), beside(resync()), refusesAll(), deliveredBoth(func(_, s string) string { return s }),
		deaf(": hello\n\n", 3), twoTenants(func(*Tenants) {}), cameLater(func(*NoResume) {}), askedTwice(func(*Once) {}),
		rightBounded(), rightVolume(3), Advertisement{Discovery: discovery(record(`,"replay":{"minRetentionSeconds":1}`, durableType, `7`))},
		Uniform{OwnerResumed: over(resync()), Unknown: resync(), Ephemeral: observe.Stream{}, Foreign: resync()},
	} {
		raw, err := json.Marshal(o)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	judges := Judges()
	legs := slices.Sorted(maps.Keys(judges))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, leg := range legs {
			v, err := judges[leg](raw)
			if err != nil {
				continue
			}
			if v.Undecided == nil && len(v.Findings) == 0 && len(v.Checks) == 0 {
				t.Errorf("%s: neither checked, convicted nor undecided: %s", leg, raw)
			}
			for _, finding := range v.Findings {
				if !slices.Contains(v.Checks, finding.Check) {
					t.Errorf("%s: finding of %q, which is no check that was made", leg, finding.Check)
				}
			}
			again, err := judges[leg](raw)
			if err != nil || !sameVerdict(v, again) {
				t.Errorf("%s: one verdict and then another: %+v, %+v", leg, v, again)
			}
		}
	})
}

func sameVerdict(a, b witness.Verdict) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

// TestNoJudgePassesOnNothing is the least of it: an observation with nothing in it is never a pass.
func TestNoJudgePassesOnNothing(t *testing.T) {
	for leg, judge := range Judges() {
		for _, raw := range []string{`{}`, `null`} {
			v, err := judge(json.RawMessage(raw))
			if err != nil {
				continue
			}
			if v.Undecided == nil || len(v.Findings) > 0 {
				t.Errorf("%s judges %s as %+v, want undecided", leg, raw, v)
			}
		}
	}
}

// TestEveryJudgeRefusesWhatIsNoObservation says that bytes of another kind are an error, not a verdict.
func TestEveryJudgeRefusesWhatIsNoObservation(t *testing.T) {
	for leg, judge := range Judges() {
		for _, raw := range []string{``, `{`, `[]`, `"text"`, `{"noSuchMember":1}`, `{} {}`} {
			if v, err := judge(json.RawMessage(raw)); err == nil {
				t.Errorf("%s read %q as an observation: %+v", leg, raw, v)
			}
		}
	}
}

// TestEveryHostEventLegHasAJudge keeps the table whole.
func TestEveryHostEventLegHasAJudge(t *testing.T) {
	judges := Judges()
	for _, l := range registry.Legs() {
		if l.RFC == "0236" || l.RFC == "0241" || l.RFC == "0250" {
			if judges[l.ID] == nil {
				t.Errorf("%s has no judge", l.ID)
			}
		}
	}
}
