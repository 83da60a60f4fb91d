package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/wopwitness/wopwitness/mockhost/agent/modelserver"
	"github.com/wopwitness/wopwitness/mockhost/parts"
)

// Server is a model on a model server. It is asked {purpose, task, steps: [{tool, args, dependsOn}], turns: [{role, step,
// tool, args, error, text}]} and answers either {call: {step, args?}, usage: {input, output}} or {final, usage}. It
// implements parts.Model.
type Server struct{ modelserver.Server }

var _ parts.Model = Server{}

// tokensLimit bounds what a server may say that a turn has cost.
const tokensLimit = 10_000_000

type question struct {
	Purpose string       `json:"purpose"`
	Task    string       `json:"task"`
	Steps   []parts.Step `json:"steps"`
	Turns   []parts.Turn `json:"turns"`
}

type answer struct {
	Call *struct {
		Step *int            `json:"step"`
		Args json.RawMessage `json:"args"`
	} `json:"call"`
	Final *string       `json:"final"`
	Usage *parts.Tokens `json:"usage"`
}

// Turn implements parts.Model. An answer that the workflow doesn't allow is an error: a step that isn't there, is done
// already, or rests on one that isn't done.
func (s Server) Turn(ctx context.Context, c parts.Conversation) (parts.Decision, parts.Tokens, error) {
	var a answer
	if err := s.Ask(ctx, question{c.Purpose, c.Task, c.Steps, append([]parts.Turn{}, c.Turns...)}, &a); err != nil {
		if pause, away := modelserver.Away(err); away {
			err = &parts.ModelAway{Err: err, RetryAfter: pause}
		}
		return parts.Decision{}, parts.Tokens{}, err
	}
	d, err := a.decision(c)
	if err == nil && (a.Usage == nil || a.Usage.Input < 1 || a.Usage.Output < 0 || a.Usage.Input > tokensLimit || a.Usage.Output > tokensLimit) {
		err = fmt.Errorf("usage is %+v, want {input, output} of 1 and 0 to %d tokens", a.Usage, tokensLimit)
	}
	if err != nil {
		return parts.Decision{}, parts.Tokens{}, fmt.Errorf("the model server at %s answered what can't be done: %w", s.URL, err)
	}
	return d, *a.Usage, nil
}

func (a answer) decision(c parts.Conversation) (parts.Decision, error) {
	if (a.Call == nil) == (a.Final == nil) {
		return parts.Decision{}, errors.New("it must have either call or final")
	}
	if a.Final != nil {
		return parts.Decision{Final: true, Step: -1, Text: *a.Final}, nil
	}
	if a.Call.Step == nil || *a.Call.Step < 0 || *a.Call.Step >= len(c.Steps) {
		return parts.Decision{}, fmt.Errorf("call names no step of the %d", len(c.Steps))
	}
	step := *a.Call.Step
	done, out := outcomes(c)
	if done[step] || out[step] {
		return parts.Decision{}, fmt.Errorf("step %d is done already, or can't be taken", step)
	}
	for _, on := range c.Steps[step].DependsOn {
		if !done[on] {
			return parts.Decision{}, fmt.Errorf("step %d depends on step %d, which isn't done", step, on)
		}
	}
	args := a.Call.Args
	if string(args) == "null" {
		args = nil
	}
	return parts.Decision{Step: step, Args: args}, nil
}
