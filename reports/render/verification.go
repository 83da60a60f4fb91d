package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/wopwitness/wopwitness/reports/verify"
	"github.com/wopwitness/wopwitness/scenarios/registry"
)

// Verification writes what a bundle is worth as a person reads it: the verdict first, then every refusal, whose key it
// is, and what the bundle says of itself.
func Verification(out io.Writer, r verify.Report, paint Paint) {
	fmt.Fprintf(out, "%s\n", paint.Bold(verdictLine(r)))
	for _, refusal := range r.Refusals {
		where := refusal.Path
		if where == "" {
			where = "(the whole)"
		}
		fmt.Fprintf(out, "%s  %s  %s\n      %s\n", paint.Result(registry.Fail), refusal.Code, Plain(clip(where, shownLimit)), clip(Plain(refusal.Says), factLimit))
	}
	fmt.Fprintf(out, "key       %s: %s\n", r.Key.Outcome, clip(Plain(r.Key.Says), factLimit))
	if r.Verifier.State != verify.VerifierAbsent {
		fmt.Fprintf(out, "verifier  %s, key %s\n", r.Verifier.State, Plain(r.Verifier.KeyID))
	}
	s := r.Summary
	if s.HostName != "" {
		fmt.Fprintf(out, "host      %s %s, build %s\n", Plain(s.HostName), Plain(s.HostVersion), Plain(firstText(s.Build, "none")))
		fmt.Fprintf(out, "suite     %s, major %d, %s\n", Plain(s.SuiteVersion), s.TargetMajor, Plain(s.GeneratedAt))
		fmt.Fprintf(out, "rows      %s\n", s.Totals)
	}
	if len(s.Failed) > 0 {
		fmt.Fprintf(out, "failed    %s\n", Plain(shortIDs(s.Failed)))
	}
	switch {
	case len(s.Certified) == 0:
	case r.Verdict == verify.Verified:
		fmt.Fprintf(out, "certified %s (evidence: %s)\n", strings.Join(s.Certified, ", "), s.Tier)
	default:
		fmt.Fprintf(out, "claims    %s (evidence: %s), unproven\n", strings.Join(s.Certified, ", "), s.Tier)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(out, "note      %s: %s\n", n.Code, clip(Plain(n.Says), factLimit))
	}
}

// mostIDs is how many rows a line names; --json has all.
const mostIDs = 20

// shortIDs lists requirement ids without what all of them begin with.
func shortIDs(ids []string) string {
	var short []string
	for _, id := range ids[:min(len(ids), mostIDs)] {
		short = append(short, strings.TrimPrefix(id, registry.LegID("").RequirementID()))
	}
	if more := len(ids) - mostIDs; more > 0 {
		short = append(short, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(short, ", ")
}

func firstText(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func verdictLine(r verify.Report) string {
	switch r.Verdict {
	case verify.Verified:
		return "verdict: verified"
	case verify.IntegrityOnly:
		return "verdict: whole, and authenticity is not established"
	case verify.Unresolved:
		return "verdict: nothing refused, and the signatures were not checked"
	}
	return fmt.Sprintf("verdict: refused, for %d %s", len(r.Refusals), plural(len(r.Refusals), "reason", "reasons"))
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
