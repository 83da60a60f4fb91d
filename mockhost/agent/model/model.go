// Package model is the models that a run can be driven by: a scripted one, which follows the message's workflow and is
// the same every time, and one on a model server.
//
// Neither keeps anything: what a model knows is the conversation that it is asked with. Start at Scripted and Server.
package model

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wopwitness/wopwitness/mockhost/parts"
)

// Scripted takes the steps in their order, calls again what failed, and leaves out what can't be called now with all that
// rests on it. It implements parts.Model.
type Scripted struct{}

var _ parts.Model = Scripted{}

// Turn implements parts.Model. It never fails.
func (Scripted) Turn(_ context.Context, c parts.Conversation) (parts.Decision, parts.Tokens, error) {
	d := decide(c)
	return d, parts.Tokens{Input: Count(prompt(c)), Output: Count(spoken(d))}, nil
}

func decide(c parts.Conversation) parts.Decision {
	done, out := outcomes(c)
	for step := range c.Steps {
		if !done[step] && !out[step] {
			return parts.Decision{Step: step}
		}
	}
	text := "Done: every step was taken."
	if len(out) > 0 {
		var left []string
		for step := range c.Steps {
			if out[step] {
				left = append(left, fmt.Sprintf("%d (%s)", step, c.Steps[step].Tool))
			}
		}
		text = "Done without " + strings.Join(left, ", ") + ": a tool can't be called for now."
	}
	return parts.Decision{Final: true, Step: -1, Text: text}
}

// outcomes says which steps are done, and which the run goes on without.
func outcomes(c parts.Conversation) (done, out map[int]bool) {
	done, out = map[int]bool{}, map[int]bool{}
	for _, t := range c.Turns {
		if t.Role != parts.RoleTool {
			continue
		}
		done[t.Step] = t.Error == ""
		out[t.Step] = t.Error == parts.CircuitOpen
	}
	for step, s := range c.Steps {
		if slices.ContainsFunc(s.DependsOn, func(on int) bool { return out[on] }) && !done[step] {
			out[step] = true
		}
		if !out[step] {
			delete(out, step)
		}
	}
	return done, out
}

// Count is how many tokens a text is, as a rule of thumb: four bytes each, and one at least.
func Count(text string) int { return max(1, (len(text)+3)/4) }

// prompt is what a model reads: all of the conversation, at each turn anew.
func prompt(c parts.Conversation) string {
	var b strings.Builder
	fmt.Fprintf(&b, "purpose: %s\ntask: %s\n", c.Purpose, c.Task)
	for i, s := range c.Steps {
		fmt.Fprintf(&b, "step %d: %s %s\n", i, s.Tool, s.Args)
	}
	for _, t := range c.Turns {
		fmt.Fprintf(&b, "%s: %d %s %s %s %s\n", t.Role, t.Step, t.Tool, t.Args, t.Error, t.Text)
	}
	return b.String()
}

func spoken(d parts.Decision) string {
	if d.Final {
		return d.Text
	}
	return fmt.Sprintf("call %d %s", d.Step, d.Args)
}
