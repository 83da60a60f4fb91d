// Package witness is the shape of an opinion: the Verdict a judge reaches, the Findings that convict, the Notes that
// tell, and the Record that ties a verdict to the observation it rests on. The judges live in the folders below, one a
// family of requirements; all of them are pure functions of a decoded observation.
//
// It never talks to a host, reads a clock or knows of Ginkgo. Start with Verdict and Of.
package witness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/wopwitness/wopwitness/scenarios/registry"
)

// Verdict is what a judge concluded. Checks are the named checks that were evaluated, each name once and never one a
// frame; their number is the row's assertions. A verdict with no findings and no checks is vacuous and passes nothing.
type Verdict struct {
	Checks    []string   `json:"checks"`
	Findings  []Finding  `json:"findings,omitempty"`
	Notes     []Note     `json:"notes,omitempty"`
	Undecided *Undecided `json:"undecided,omitempty"`
	// Absence says that the host was only seen not to have something. Such a pass is one, and is no observed behaviour.
	Absence bool `json:"absence,omitempty"`
}

// Finding convicts the host of one thing.
type Finding struct {
	Check    string  `json:"check"`
	Says     string  `json:"says"` // one line: what the host did wrong
	Expected string  `json:"expected,omitempty"`
	Got      string  `json:"got,omitempty"`
	Shown    []Shown `json:"shown,omitempty"` // what to lay side by side, where two answers are compared
	Differs  string  `json:"differs,omitempty"`
	Why      string  `json:"why"`     // why it matters to someone who relies on the promise
	Section  string  `json:"section"` // "RFC 0250 §C"
}

// Shown is one labelled piece of evidence beside a finding.
type Shown struct {
	Label string `json:"label"`
	Text  string `json:"text"`
}

// Note tells what was seen and is lawful.
type Note struct {
	Code string `json:"code"`
	Says string `json:"says"`
}

// Undecided says that the observation does not carry the question: nothing convicts, and a pass would prove nothing.
// Reason is one of the suite's own reasons, so the row is blocked.
type Undecided struct {
	Reason registry.Reason `json:"reason"`
	Says   string          `json:"says"`
}

// Check records that the named check was evaluated, and adds the finding where it did not hold. The finding is made
// only then; its Check is filled in.
func (v *Verdict) Check(name string, held bool, finding func() Finding) {
	if !slices.Contains(v.Checks, name) {
		v.Checks = append(v.Checks, name)
	}
	if held {
		return
	}
	f := finding()
	f.Check = name
	v.Findings = append(v.Findings, f)
}

// Note adds a note.
func (v *Verdict) Note(code, format string, args ...any) {
	v.Notes = append(v.Notes, Note{Code: code, Says: fmt.Sprintf(format, args...)})
}

// Undecide marks the verdict as resting on too little, unless it already is. A finding outranks it.
func (v *Verdict) Undecide(reason registry.Reason, format string, args ...any) {
	if v.Undecided == nil {
		v.Undecided = &Undecided{Reason: reason, Says: fmt.Sprintf(format, args...)}
	}
}

// Judge reaches a verdict from an encoded observation. The error says that the bytes are not an observation of the
// judge's kind.
type Judge func(observation json.RawMessage) (Verdict, error)

// Of makes a Judge from a function of a typed observation. Unknown members and trailing data are refused, so that a
// file that was edited is not half understood.
func Of[T any](judge func(T) Verdict) Judge {
	return func(raw json.RawMessage) (Verdict, error) {
		var observation T
		d := json.NewDecoder(bytes.NewReader(raw))
		d.DisallowUnknownFields()
		if err := d.Decode(&observation); err != nil {
			return Verdict{}, fmt.Errorf("read observation: %w", err)
		}
		if _, err := d.Token(); err != io.EOF {
			return Verdict{}, fmt.Errorf("read observation: data after its end")
		}
		return judge(observation), nil
	}
}

// NeverAway is the code of the note that a host answered throughout its restart.
const NeverAway = "never-away"

// Stop is why a leg ended without a verdict: a gate that the host does not open, something the operator did not supply,
// or a fact of the run that made measuring impossible. Says is for people and may hold host text; rows hold only Reason.
type Stop struct {
	Result registry.Result `json:"result"`
	Reason registry.Reason `json:"reason"`
	Says   string          `json:"says,omitempty"`
}

// Record is one leg on one major as it was driven: one line of observations.jsonl. It has a Stop or an Observation.
type Record struct {
	Leg         registry.LegID  `json:"leg"`
	Major       int             `json:"major"`
	Cause       string          `json:"cause,omitempty"` // which path caused what was observed: production, seam, operator
	Stop        *Stop           `json:"stop,omitempty"`
	Observation json.RawMessage `json:"observation,omitempty"`
}
