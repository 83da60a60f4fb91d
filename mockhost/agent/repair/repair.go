// Package repair proposes arguments that make sense, for a call that was refused by its sense.
//
// Repairers are asked in tiers, the small ones first, and a further one only while nobody was sure enough. Whether a
// proposal is replayed isn't decided here. Start at Tiers.
package repair

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/agent/modelserver"
	"github.com/wopwitness/wopwitness/mockhost/parts"
)

// Tier is one repairer. It says false where it has nothing to propose.
type Tier interface {
	Propose(ctx context.Context, a parts.RepairAsk) (parts.Proposal, bool, error)
}

// Tiers asks one repairer after another.
type Tiers struct {
	// Order is who is asked, the smallest first.
	Order []Tier
	// Threshold is the confidence that is enough: nobody further is asked.
	Threshold float64
}

// Propose returns the first proposal of which its tier is sure enough, else the surest, of equals the earlier one. A tier
// that fails, or proposes what is no proposal, is passed over; the error is told only where nobody proposed anything.
func (t Tiers) Propose(ctx context.Context, a parts.RepairAsk) (parts.Proposal, bool, error) {
	var best parts.Proposal
	found := false
	var errs []error
	for i, tier := range t.Order {
		p, ok, err := tier.Propose(ctx, a)
		if err == nil && ok {
			err = check(p)
		}
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("repairer %d of %d: %w", i+1, len(t.Order), err))
			continue
		case !ok:
			continue
		case !found || p.Confidence > best.Confidence:
			best, found = p, true
		}
		if p.Confidence >= t.Threshold {
			return p, true, nil
		}
	}
	if found {
		return best, true, nil
	}
	return parts.Proposal{}, false, errors.Join(errs...)
}

func check(p parts.Proposal) error {
	if !(p.Confidence >= 0 && p.Confidence <= 1) {
		return fmt.Errorf("its confidence is %v, want 0 to 1", p.Confidence)
	}
	if payload := bytes.TrimSpace(p.Payload); !json.Valid(payload) || payload[0] != '{' {
		return fmt.Errorf("its payload is %.100q, want a JSON object", payload)
	}
	return nil
}

// Rules is the repairer that needs no model: it swaps a start and an end that stand the wrong way round.
type Rules struct{}

// swapConfidence is how sure the rule is of a swap.
const swapConfidence = 0.9

// Propose implements Tier.
func (Rules) Propose(_ context.Context, a parts.RepairAsk) (parts.Proposal, bool, error) {
	var args map[string]json.RawMessage
	if err := json.Unmarshal(a.Payload, &args); err != nil {
		return parts.Proposal{}, false, nil //nolint:nilerr // what is no object is nothing that the rule knows
	}
	if !later(args["start"], args["end"]) {
		return parts.Proposal{}, false, nil
	}
	args["start"], args["end"] = args["end"], args["start"]
	payload, err := json.Marshal(args)
	if err != nil {
		return parts.Proposal{}, false, err
	}
	return parts.Proposal{Payload: payload, Confidence: swapConfidence}, true, nil
}

// later says whether both are instants, dates or numbers, and the first is the greater one.
func later(a, b json.RawMessage) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	switch x := x.(type) {
	case float64:
		y, ok := y.(float64)
		return ok && x > y
	case string:
		y, ok := y.(string)
		if !ok {
			return false
		}
		for _, layout := range []string{time.RFC3339, time.DateOnly, "2006-01-02T15:04:05", "2006-01-02T15:04", "15:04:05", "15:04"} {
			s, err := time.Parse(layout, strings.ToUpper(x))
			if err != nil {
				continue
			}
			e, err := time.Parse(layout, strings.ToUpper(y))
			return err == nil && s.After(e)
		}
	}
	return false
}

// Server is a repairer on a model server. It is asked {tool, schema, documentation, payload, reason, purpose} and answers
// {payload, confidence}, or {payload: null, confidence: 0} for nothing. Slots bounds how many ask at once, since such
// servers are dear; nil for any number.
type Server struct {
	modelserver.Server
	Slots chan struct{}
}

// Propose implements Tier.
func (s Server) Propose(ctx context.Context, a parts.RepairAsk) (parts.Proposal, bool, error) {
	if s.Slots != nil {
		select {
		case s.Slots <- struct{}{}:
			defer func() { <-s.Slots }()
		case <-ctx.Done():
			return parts.Proposal{}, false, fmt.Errorf("wait for the repairer at %s: %w", s.URL, ctx.Err())
		}
	}
	question := struct {
		Tool          string          `json:"tool"`
		Schema        json.RawMessage `json:"schema,omitempty"`
		Documentation string          `json:"documentation,omitempty"`
		Payload       json.RawMessage `json:"payload"`
		Reason        string          `json:"reason"`
		Purpose       string          `json:"purpose,omitempty"`
	}{a.Tool, a.Schema, a.Documentation, a.Payload, a.Reason, a.Purpose}
	var answer struct {
		Payload    json.RawMessage `json:"payload"`
		Confidence *float64        `json:"confidence"`
	}
	if err := s.Ask(ctx, question, &answer); err != nil {
		return parts.Proposal{}, false, err
	}
	if answer.Confidence == nil {
		return parts.Proposal{}, false, fmt.Errorf("the model server at %s said nothing of its confidence", s.URL)
	}
	if len(answer.Payload) == 0 || string(answer.Payload) == "null" {
		return parts.Proposal{}, false, nil
	}
	return parts.Proposal{Payload: answer.Payload, Confidence: *answer.Confidence}, true, nil
}
