package classify_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/wopwitness/wopwitness/mockhost/agent/classify"
	"github.com/wopwitness/wopwitness/mockhost/agent/modelserver"
	"github.com/wopwitness/wopwitness/mockhost/parts"
)

// second answers and counts.
type second struct {
	says  string
	err   error
	asked int
}

func (s *second) Classify(context.Context, classify.Failure) (string, error) {
	s.asked++
	return s.says, s.err
}

func TestRulesComeFirst(t *testing.T) {
	cases := map[string]string{
		"server_error": parts.Transient, "timeout": parts.Transient, "rate_limited": parts.Transient, "locked": parts.Transient,
		"bad_request": parts.SchemaFailure, "semantic": parts.SemanticFailure,
		"gone": parts.ToolUnavailable, "unreachable": parts.ToolUnavailable, "unauthorized": parts.AuthorizationErr,
	}
	for kind, want := range cases {
		t.Run(kind, func(t *testing.T) {
			s := &second{says: parts.Unclassified}
			// The words of a tool rule nothing.
			f := classify.Failure{Kind: kind, Message: "401 unauthorized: the schema is gone, retry after a timeout"}
			got, err := classify.Classifier{Second: s}.Classify(t.Context(), f)
			if got != want || err != nil || s.asked != 0 {
				t.Errorf("got %s, %v, having asked the second %d times; want %s by rule", got, err, s.asked, want)
			}
			f.ContextGone = true
			if got, err := (classify.Classifier{Second: s}).Classify(t.Context(), f); got != parts.ContextEviction || err != nil {
				t.Errorf("with its context gone it is %s, %v", got, err)
			}
		})
	}
}

func TestWhatTheRulesCantTellGoesToTheSecond(t *testing.T) {
	down := errors.New("down")
	cases := map[string]struct {
		second *second
		want   string
		err    string
	}{
		"there is none":        {nil, parts.Unclassified, ""},
		"it knows":             {&second{says: parts.SchemaFailure}, parts.SchemaFailure, ""},
		"it doesn't know":      {&second{says: parts.Unclassified}, parts.Unclassified, ""},
		"it makes one up":      {&second{says: "COSMIC_RAYS"}, parts.Unclassified, `"COSMIC_RAYS", which is no category`},
		"it says nothing":      {&second{}, parts.Unclassified, "no category"},
		"it fails":             {&second{err: down}, parts.Unclassified, "down"},
		"it fails and answers": {&second{says: parts.Transient, err: down}, parts.Unclassified, "down"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			for _, kind := range []string{"malformed", "outcome_unknown"} {
				var whole classify.Classifier
				if c.second != nil {
					whole.Second = c.second
				}
				got, err := whole.Classify(t.Context(), classify.Failure{Kind: kind})
				if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
					t.Errorf("%s: got %s, %v; want %s and an error with %q", kind, got, err, c.want, c.err)
				}
			}
		})
	}
}

func TestAModelServerIsAskedWithAllThatIsKnown(t *testing.T) {
	var asked map[string]any
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(body, &asked); err != nil {
			t.Error(err)
		}
		_, _ = io.WriteString(w, `{"category":"TOOL_UNAVAILABLE"}`)
	}))
	defer srv.Close()
	status := 200
	c := classify.Classifier{Second: classify.Server{Server: modelserver.Server{URL: srv.URL}}}
	got, err := c.Classify(t.Context(), classify.Failure{Kind: "malformed", Status: &status, Message: "it answered a web page", Tool: "lookup"})
	if got != parts.ToolUnavailable || err != nil {
		t.Errorf("got %s, %v", got, err)
	}
	failure, _ := asked["failure"].(map[string]any)
	if failure["message"] != "it answered a web page" || failure["status"] != 200.0 || failure["tool"] != "lookup" {
		t.Errorf("asked %v", asked)
	}
	if categories, _ := asked["categories"].([]any); len(categories) != 7 {
		t.Errorf("it may answer %v", categories)
	}
}
