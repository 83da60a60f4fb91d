package model_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/wopwitness/wopwitness/mockhost/agent/model"
	"github.com/wopwitness/wopwitness/mockhost/agent/modelserver"
	"github.com/wopwitness/wopwitness/mockhost/parts"
)

func workflow() []parts.Step {
	return []parts.Step{
		{Tool: "look", Args: json.RawMessage(`{"n":1}`)},
		{Tool: "book", Args: json.RawMessage(`{"n":2}`), DependsOn: []int{0}},
		{Tool: "tell", Args: json.RawMessage(`{}`)},
	}
}

// came are the turns of calls that ended so, one after another.
func came(ends ...parts.Turn) []parts.Turn {
	var out []parts.Turn
	for _, e := range ends {
		e.Role = parts.RoleTool
		out = append(out, parts.Turn{Role: parts.RoleAssistant, Step: e.Step}, e)
	}
	return out
}

func ok(step int) parts.Turn                  { return parts.Turn{Step: step} }
func failed(step int, kind string) parts.Turn { return parts.Turn{Step: step, Error: kind} }

func TestTheScriptedModelFollowsTheWorkflow(t *testing.T) {
	cases := map[string]struct {
		turns []parts.Turn
		step  int // -1 for the final answer
		text  string
	}{
		"begins at the beginning":         {nil, 0, ""},
		"goes on":                         {came(ok(0)), 1, ""},
		"calls again what failed":         {came(ok(0), failed(1, parts.ServerError)), 1, ""},
		"and goes on after it":            {came(ok(0), failed(1, parts.ServerError), ok(1)), 2, ""},
		"finishes":                        {came(ok(0), ok(1), ok(2)), -1, "every step"},
		"leaves out what can't be called": {came(failed(0, parts.CircuitOpen)), 2, ""},
		"and says so":                     {came(failed(0, parts.CircuitOpen), ok(2)), -1, "without 0 (look), 1 (book)"},
		"keeps what was done before":      {came(ok(0), failed(1, parts.CircuitOpen), ok(2)), -1, "without 1 (book)"},
		"and waits for no open circuit":   {came(failed(0, parts.ToolTimeout), failed(0, parts.CircuitOpen)), 2, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			conversation := parts.Conversation{Task: "t", Steps: workflow(), Turns: c.turns}
			d, tokens, err := model.Scripted{}.Turn(t.Context(), conversation)
			if err != nil || d.Step != c.step || d.Final != (c.step < 0) || !strings.Contains(d.Text, c.text) || d.Args != nil {
				t.Errorf("got %+v, %v", d, err)
			}
			if tokens.Input < 1 || tokens.Output < 1 {
				t.Errorf("it cost %+v", tokens)
			}
			if again, cost, _ := (model.Scripted{}).Turn(t.Context(), conversation); !reflect.DeepEqual(again, d) || cost != tokens {
				t.Errorf("the second time it is %+v for %+v", again, cost)
			}
		})
	}
}

func TestALongerConversationCostsMore(t *testing.T) {
	short, long := parts.Conversation{Steps: workflow()}, parts.Conversation{Steps: workflow(), Turns: came(failed(0, parts.Locked))}
	_, few, _ := model.Scripted{}.Turn(t.Context(), short)
	_, many, _ := model.Scripted{}.Turn(t.Context(), long)
	if many.Input <= few.Input {
		t.Errorf("a turn more is %+v after %+v", many, few)
	}
	for text, want := range map[string]int{"": 1, "abcd": 1, "abcde": 2} {
		if got := model.Count(text); got != want {
			t.Errorf("%q is %d tokens, want %d", text, got, want)
		}
	}
}

func TestAModelServerDrivesTheRun(t *testing.T) {
	const usage = `,"usage":{"input":120,"output":7}`
	half := came(ok(0))
	cases := map[string]struct {
		turns []parts.Turn
		says  string
		want  parts.Decision
		err   string
	}{
		"a call":                       {half, `{"call":{"step":1}` + usage + `}`, parts.Decision{Step: 1}, ""},
		"a call with its own args":     {half, `{"call":{"step":1,"args":{"n":9}}` + usage + `}`, parts.Decision{Step: 1, Args: json.RawMessage(`{"n":9}`)}, ""},
		"null for the step's own args": {half, `{"call":{"step":2,"args":null}` + usage + `}`, parts.Decision{Step: 2}, ""},
		"the final answer":             {half, `{"final":"enough"` + usage + `}`, parts.Decision{Final: true, Step: -1, Text: "enough"}, ""},
		"neither":                      {half, `{"usage":{"input":1,"output":1}}`, parts.Decision{}, "either call or final"},
		"both":                         {half, `{"call":{"step":1},"final":"x"` + usage + `}`, parts.Decision{}, "either call or final"},
		"no such step":                 {half, `{"call":{"step":3}` + usage + `}`, parts.Decision{}, "no step of the 3"},
		"no step":                      {half, `{"call":{}` + usage + `}`, parts.Decision{}, "no step of the 3"},
		"done already":                 {half, `{"call":{"step":0}` + usage + `}`, parts.Decision{}, "done already"},
		"before what it rests on":      {nil, `{"call":{"step":1}` + usage + `}`, parts.Decision{}, "depends on step 0"},
		"without its cost":             {half, `{"final":"x"}`, parts.Decision{}, "usage"},
		"at no cost":                   {half, `{"final":"x","usage":{"input":0,"output":1}}`, parts.Decision{}, "usage"},
		"in other words":               {half, `{"answer":"x"}`, parts.Decision{}, "can't be read"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var asked map[string]any
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				if err := json.Unmarshal(body, &asked); err != nil {
					t.Error(err)
				}
				_, _ = io.WriteString(w, c.says)
			}))
			defer srv.Close()
			conversation := parts.Conversation{Purpose: "p", Task: "t", Steps: workflow(), Turns: c.turns}
			d, tokens, err := model.Server{Server: modelserver.Server{URL: srv.URL}}.Turn(t.Context(), conversation)
			if !reflect.DeepEqual(d, c.want) || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("got %+v, %v; want %+v and an error with %q", d, err, c.want, c.err)
			}
			if err == nil && tokens != (parts.Tokens{Input: 120, Output: 7}) {
				t.Errorf("it cost %+v", tokens)
			}
			if steps, _ := asked["steps"].([]any); asked["purpose"] != "p" || asked["task"] != "t" || len(steps) != 3 || asked["turns"] == nil {
				t.Errorf("asked %v", asked)
			}
		})
	}
}
