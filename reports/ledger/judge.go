package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
)

// Judge gives the row of one case from its record. It is a pure function: the same record gives the same row, live or
// years later.
func Judge(c registry.Case, record witness.Record, table Table, policy Policy) Row {
	switch {
	case record.Stop != nil && len(record.Observation) > 0:
		return withRecord(blocked(c, registry.Unreadable, "the record has both a stop and an observation"), record)
	case record.Stop != nil:
		return withRecord(stopped(c, *record.Stop, policy), record)
	case len(record.Observation) == 0:
		return withRecord(blocked(c, registry.Unreadable, "the record has neither a stop nor an observation"), record)
	}
	row := withRecord(judged(c, record, table), record)
	digest, err := ObservationDigest(record.Observation)
	if err != nil {
		return withRecord(blocked(c, registry.Unreadable, err.Error()), record)
	}
	row.Observation = digest
	return row
}

// ObservationDigest is the SHA-256, in lower-case hex, of an observation's bytes as observations.jsonl holds them:
// compact JSON, nothing escaped that need not be.
func ObservationDigest(observation json.RawMessage) (string, error) {
	if !IsCompact(observation) {
		var compact bytes.Buffer
		if err := json.Compact(&compact, observation); err != nil {
			return "", fmt.Errorf("digest of an observation: %w", err)
		}
		observation = compact.Bytes()
	}
	sum := sha256.Sum256(observation)
	return hex.EncodeToString(sum[:]), nil
}

// IsCompact says whether JSON has no space between its tokens, as what was written or read back by this program has none.
// Observations are megabytes, and compacting one takes several times as long as digesting it.
func IsCompact(observation json.RawMessage) bool {
	inside := false // a string
	for i := 0; i < len(observation); i++ {
		switch observation[i] {
		case '"':
			inside = !inside
		case '\\':
			i++ // what it escapes ends no string
		case ' ', '\t', '\r', '\n':
			if !inside {
				return false
			}
		}
	}
	return true
}

func judged(c registry.Case, record witness.Record, table Table) Row {
	judge, ok := table[c.Leg.ID]
	if !ok {
		return blocked(c, registry.Unreadable, "this build has no judge for "+string(c.Leg.ID))
	}
	verdict, reason, err := reach(judge, record.Observation)
	if err != nil {
		return blocked(c, reason, err.Error())
	}
	row := base(c)
	row.Verdict = &verdict
	row.Assertions = len(verdict.Checks)
	switch {
	case len(verdict.Findings) > 0:
		row.Result, row.Reason = registry.Fail, registry.Convicted
		row.Detail = convictedDetail(verdict.Findings)
		row.Says = verdict.Findings[0].Says
	case verdict.Undecided != nil:
		return undecided(row, *verdict.Undecided)
	case len(verdict.Checks) == 0:
		row.settle(registry.Blocked, registry.Vacuous, "")
	default:
		row.Result = registry.Pass
	}
	return row
}

// reach calls the judge. A judge that panics on what a host sent is the suite's failure, not the host's.
func reach(judge witness.Judge, observation json.RawMessage) (v witness.Verdict, reason registry.Reason, err error) {
	defer func() {
		if p := recover(); p != nil {
			reason, err = registry.Panicked, fmt.Errorf("the judge panicked: %v", p)
		}
	}()
	if v, err = judge(observation); err != nil {
		return v, registry.Unreadable, err
	}
	return v, "", nil
}

// undecided settles a row whose observation does not carry the question. What the observation shows to be a fact about
// the host takes the requirement away; anything else stopped the measurement.
func undecided(row Row, u witness.Undecided) Row {
	result := registry.Blocked
	if u.Reason.HostFact() {
		result = registry.Inapplicable
	}
	if !u.Reason.Known() {
		row.settle(registry.Blocked, registry.Unreadable, fmt.Sprintf("the judge gave a reason that is not registered: %s", u.Reason))
		return row
	}
	row.settle(result, u.Reason, u.Says)
	return row
}

// stopped settles a row that ended without an observation. Whether something that the host leaves out convicts it is
// for the policy alone: a record that was made in strict mode claims a failure, and means the same fact.
func stopped(c registry.Case, stop witness.Stop, policy Policy) Row {
	row := base(c)
	if stop.Result == registry.Fail && missing(stop.Reason) {
		stop.Result = registry.Inapplicable
	}
	switch {
	case !stop.Reason.Known():
		return blocked(c, registry.Unreadable, fmt.Sprintf("the record gives a reason that is not registered: %s", stop.Reason))
	case stop.Reason == registry.Convicted || stop.Result == registry.Pass || stop.Result == registry.Fail:
		return blocked(c, registry.Unreadable, fmt.Sprintf("the record claims %s without an observation", stop.Result))
	case stop.Result == registry.Inapplicable && !stop.Reason.HostFact(),
		stop.Result == registry.Skipped && stop.Reason != registry.OptedOut,
		stop.Result == registry.Blocked && (stop.Reason.HostFact() || stop.Reason == registry.OptedOut):
		return blocked(c, registry.Unreadable, fmt.Sprintf("the record gives %s as the reason for %s", stop.Reason, stop.Result))
	case policy.convicts(c.Leg, stop.Reason):
		row.settle(registry.Fail, stop.Reason, stop.Says)
		row.Assertions = 1
	case slices.Contains([]registry.Result{registry.Inapplicable, registry.Skipped, registry.Blocked}, stop.Result):
		row.settle(stop.Result, stop.Reason, stop.Says)
	default:
		return blocked(c, registry.Unreadable, fmt.Sprintf("the record gives a result that is not registered: %s", stop.Result))
	}
	return row
}

func (r *Row) settle(result registry.Result, reason registry.Reason, says string) {
	r.Result, r.Reason, r.Detail = result, reason, string(reason)
	r.Says = says
	if says == "" {
		r.Says = reason.Explain()
	}
}

func base(c registry.Case) Row {
	return Row{
		Row:   registry.Row{ID: c.Leg.ID.RequirementID(), Scenario: c.Leg.Title},
		Leg:   c.Leg,
		Major: c.Major,
	}
}

func blocked(c registry.Case, reason registry.Reason, says string) Row {
	row := base(c)
	row.settle(registry.Blocked, reason, says)
	return row
}

// knownCause says whether a cause is of the closed set that a row's cause is of.
func knownCause(cause string) bool {
	return cause == "production" || cause == "seam" || cause == "operator"
}

func withRecord(row Row, record witness.Record) Row {
	row.Record = &record
	if knownCause(record.Cause) {
		row.Cause = record.Cause
	}
	return row
}

var checkName = regexp.MustCompile(`^[a-z0-9]+([.-][a-z0-9]+)*$`)

// convictedDetail is "convicted:" and the checks that did not hold, sorted. A name that isn't a code is left out: a row
// holds no free text.
func convictedDetail(findings []witness.Finding) string {
	var names []string
	for _, f := range findings {
		if checkName.MatchString(f.Check) {
			names = append(names, f.Check)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) == 0 {
		return string(registry.Convicted)
	}
	return string(registry.Convicted) + ":" + strings.Join(names, ",")
}
