// Package classify says what sort of failure an entry of the tool queue is, and so what becomes of it.
//
// Rules come first; what they can't tell goes to a second classifier where one is configured, else it stays unclassified.
// It never guesses from the words of an error: those are the tool's. Start at Classifier.
package classify

import (
	"context"
	"fmt"
	"slices"

	"github.com/wopwitness/wopwitness/mockhost/agent/modelserver"
	"github.com/wopwitness/wopwitness/mockhost/parts"
)

// Categories lists the six, without parts.Unclassified.
func Categories() []string {
	return []string{
		parts.Transient, parts.SchemaFailure, parts.SemanticFailure, parts.ToolUnavailable, parts.ContextEviction, parts.AuthorizationErr,
	}
}

// Failure is what is known of a failed invocation. Message and Tool are of use to a second classifier only.
type Failure struct {
	Kind    string `json:"kind"`
	Status  *int   `json:"status"` // of the tool's answer; nil where there was none
	Message string `json:"message"`
	Tool    string `json:"tool"`
	// ContextGone tells that the conversation which a replay would resume isn't kept any more.
	ContextGone bool `json:"contextGone"`
}

// rules give the category of each kind of error that has one.
func rules() map[string]string {
	return map[string]string{
		parts.ServerError:   parts.Transient,
		parts.ToolTimeout:   parts.Transient,
		parts.RateLimited:   parts.Transient,
		parts.Locked:        parts.Transient,
		parts.BadRequest:    parts.SchemaFailure,
		parts.SemanticError: parts.SemanticFailure,
		parts.Gone:          parts.ToolUnavailable,
		parts.Unreachable:   parts.ToolUnavailable,
		parts.Unauthorized:  parts.AuthorizationErr,
	}
}

// ByRule is the category that the rules give; false where they can't tell. A context that is gone rules over what failed
// before: it is what stands in the way of a replay now.
func ByRule(f Failure) (category string, known bool) {
	if f.ContextGone {
		return parts.ContextEviction, true
	}
	c, ok := rules()[f.Kind]
	return c, ok
}

// Second classifies what the rules can't.
type Second interface {
	// Classify returns one of the categories, or parts.Unclassified.
	Classify(ctx context.Context, f Failure) (string, error)
}

// Classifier asks the rules, and then the second classifier. The zero value has none.
type Classifier struct{ Second Second }

// Classify returns a category always; with an error the second classifier failed, and it is parts.Unclassified: an entry that
// nobody classified goes to a person, and doesn't wait for a model server.
func (c Classifier) Classify(ctx context.Context, f Failure) (string, error) {
	if ruled, ok := ByRule(f); ok {
		return ruled, nil
	}
	if c.Second == nil {
		return parts.Unclassified, nil
	}
	got, err := c.Second.Classify(ctx, f)
	if err != nil {
		return parts.Unclassified, fmt.Errorf("second classifier, of a failure of the kind %q: %w", f.Kind, err)
	}
	if got != parts.Unclassified && !slices.Contains(Categories(), got) {
		return parts.Unclassified, fmt.Errorf("second classifier, of a failure of the kind %q: it answered %q, which is no category", f.Kind, got)
	}
	return got, nil
}

// Server is a second classifier on a model server: it is asked {failure, categories} and answers {category}.
type Server struct{ modelserver.Server }

// Classify implements Second.
func (s Server) Classify(ctx context.Context, f Failure) (string, error) {
	question := struct {
		Failure    Failure  `json:"failure"`
		Categories []string `json:"categories"`
	}{f, append(Categories(), parts.Unclassified)}
	var answer struct {
		Category string `json:"category"`
	}
	if err := s.Ask(ctx, question, &answer); err != nil {
		return "", err
	}
	return answer.Category, nil
}
