package scenarios

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wopwitness/wopwitness/fixtures/workflows"
	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/seams/cause"
	"github.com/wopwitness/wopwitness/witness/deadletter"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// The scenarios of the seam deadletter/exhaust.
const (
	exhaustRetries = "exhaust-retries"
	forkAfterDeath = "fork-after-dead-letter"
)

// death is how a leg wants a run to die.
type death struct {
	label    string
	fixtures []string // in order of preference; the first that the host lists is run
	seam     string   // the seam's scenario where none is listed; "" where the leg has no use for it
	reads    bool     // the leg reads the run, so a seam's run that cannot be read is no cause
	asks     bool     // the leg asks whether there is a dead letter, or a run, so its absence is waited for wholly
	inputs   map[string]any
}

// failingNode is the node of a fixture that fails.
func failingNode(fixture string) string {
	if fixture == workflows.Recovers {
		return "flaky"
	}
	return "poison"
}

func (d *Drive) seeded(fixture string) bool {
	return slices.Contains(d.run.host.Discovery[d.Major].Fixtures(), fixture)
}

// Die makes a run that exhausts its retries and reads it to its end: by creating a run of a listed fixture, else by the
// exhaust seam. With neither the leg has no cause.
func (d *Drive) Die(ctx context.Context, c death) (deadletter.Run, error) {
	for _, fixture := range c.fixtures {
		if d.seeded(fixture) {
			return d.runFixture(ctx, c.label, fixture, c.inputs, waits{letter: true, wholly: c.asks})
		}
	}
	if c.seam == "" {
		return deadletter.Run{}, inapplicable(registry.NoCause, "the host does not list the fixture %s", strings.Join(c.fixtures, " or "))
	}
	d.By(causeSeam)
	x := cause.Exhaust(ctx, d.Session, c.seam, d.exhaustionBound(), d.Major)
	switch {
	case x.Response == nil && x.Failure != nil:
		return deadletter.Run{}, blocked(failureReason(x.Failure.Kind), "the seam deadletter/exhaust: %s", x.Failure.Text)
	case !cause.SeamMounted(x):
		return deadletter.Run{}, inapplicable(registry.NoCause, "the host lists no fixture that exhausts its retries (%s), and mounts no exhaust seam (POST %s answered %d)",
			strings.Join(c.fixtures, ", "), x.Request.Target, x.Status())
	case x.Status() != 200:
		return deadletter.Run{}, blocked(registry.UnexpectedAnswer, "POST %s answered %d", x.Request.Target, x.Status())
	}
	r := deadletter.Run{Label: c.label, Seam: true, RunID: deadletter.SeamRunID(x), Made: []observe.Exchange{x}}
	if !c.reads {
		return r, nil
	}
	if r.RunID == "" {
		return r, inapplicable(registry.NoCause, "the exhaust seam names no run, and the host lists no fixture to make one of")
	}
	r.Snapshots = []observe.Exchange{cause.ReadRun(ctx, d.Session, observe.CredentialA, r.RunID, d.Major)}
	if st := r.Snapshots[0].Status(); st != 200 {
		return r, inapplicable(registry.NoCause, "the exhaust seam's run cannot be read (%d), and the host lists no fixture to make one of", st)
	}
	d.watch(ctx, &r, waits{letter: true, wholly: c.asks})
	return r, nil
}

// runFixture creates a run of a listed fixture and reads it to its end, and then waits for its dead letter where that is
// wanted.
func (d *Drive) runFixture(ctx context.Context, label, fixture string, inputs map[string]any, wait waits) (deadletter.Run, error) {
	r := deadletter.Run{Label: label, Workflow: fixture, Node: failingNode(fixture)}
	r.Made = cause.CreateRun(ctx, d.Session, cause.RunCall{
		Label: label, Credential: observe.CredentialA, Workflow: fixture, Inputs: inputs, Major: d.Major, MaxWait: triggerPatience,
	})
	x := r.Answer()
	r.RunID = runIDOf(x)
	switch st := x.Status(); {
	case x.Response == nil && x.Failure != nil:
		return r, blocked(failureReason(x.Failure.Kind), "creating a run of %s: %s", fixture, x.Failure.Text)
	case st == 401 || st == 403:
		return r, blocked(registry.Unauthorized, "%s", keyRefused(x, "runs:create"))
	case st == 429:
		return r, inapplicable(registry.RateTooLow, "the host kept answering 429 to the creation of a run for longer than %s", triggerPatience)
	case st != 200 && st != 201 || r.RunID == "":
		return r, blocked(registry.UnexpectedAnswer, "the host lists the fixture %s, and answered %d without a run to its creation", fixture, st)
	}
	d.watch(ctx, &r, wait)
	return r, nil
}

// exhaustionBound is how long a run is waited for to end. A host's back-off may be long; the bound is told when it is
// reached.
func (d *Drive) exhaustionBound() time.Duration {
	bound := 10 * d.run.config.eventTimeout()
	if d.run.host.Loopback {
		return bound
	}
	return max(bound, 30*time.Second)
}

// tell says on screen what the leg waits for.
func (d *Drive) tell(format string, args ...any) {
	d.run.progress(Event{Case: d.leg, Says: fmt.Sprintf(format, args...)})
}

// tellOn says how a wait goes on that was told before.
func (d *Drive) tellOn(format string, args ...any) {
	d.run.progress(Event{Case: d.leg, Says: fmt.Sprintf(format, args...), Again: true})
}

// neverRun is the id of a run that no host made, in the form of one that a host did make, so that a host cannot tell it
// by its looks. A tenant stays in front of it.
func neverRun(major int, like string) string {
	tenant, opaque := "", like
	if i := lastSlash(like); major >= 2 && i >= 0 {
		tenant, opaque = like[:i+1], like[i+1:]
	}
	return tenant + UnknownCursor(opaque)
}

func lastSlash(s string) int {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == '/' {
			return i
		}
	}
	return -1
}
