package hosthttp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/wopwitness/wopwitness/mockhost/closedjson"
	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// creation is the body of POST /runs as it was read.
type creation struct {
	WorkflowID string
	Options    parts.RunOptions
	TenantID   *string
	ScopeID    *string
}

// decodeCreation reads the body, which is closed on major 2.
func decodeCreation(major int, body []byte) (creation, error) {
	var c creation
	if major == 2 {
		err := closedjson.Object(body, map[string]any{
			"workflowId": &c.WorkflowID, "inputs": &c.Options.Inputs, "configurable": &c.Options.Configurable,
			"tags": &c.Options.Tags, "metadata": &c.Options.Metadata, "tenantId": &c.TenantID, "scopeId": &c.ScopeID,
		}, "workflowId")
		if err != nil {
			return c, parts.Invalid("%s", err)
		}
	} else {
		var open struct {
			WorkflowID string `json:"workflowId"`
			parts.RunOptions
			TenantID *string `json:"tenantId"`
		}
		if err := json.Unmarshal(body, &open); err != nil {
			return c, parts.Invalid("the body must be a JSON object with a workflowId")
		}
		c.WorkflowID, c.Options, c.TenantID = open.WorkflowID, open.RunOptions, open.TenantID
	}
	if c.WorkflowID == "" {
		return c, parts.Invalid("workflowId may not be empty")
	}
	return c, checkOptions(&c.Options)
}

// checkOptions refuses members of another kind than they must be; JSON's null says nothing.
func checkOptions(o *parts.RunOptions) error {
	for _, m := range []struct {
		name, kind, opens string
		value             *json.RawMessage
	}{
		{"inputs", "an object", "{", &o.Inputs}, {"configurable", "an object", "{", &o.Configurable},
		{"tags", "an array", "[", &o.Tags}, {"metadata", "an object", "{", &o.Metadata},
	} {
		switch v := bytes.TrimSpace(*m.value); {
		case len(v) == 0 || string(v) == "null":
			*m.value = nil
		case string(v[:1]) != m.opens:
			return parts.Invalid("member %q must be %s", m.name, m.kind)
		default:
			*m.value = v
		}
	}
	return nil
}

func (s *server) createRun(w http.ResponseWriter, r *http.Request, major int) {
	p, err := s.principal(r, parts.ScopeRunsCreate)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	body, err := readBody(w, r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	c, err := decodeCreation(major, body)
	if err == nil && c.TenantID != nil && *c.TenantID != p.Tenant {
		err = &parts.Problem{Status: http.StatusForbidden, Code: "forbidden", Message: "this key belongs to another tenant"}
		if major == 2 {
			err = &parts.Problem{Status: http.StatusForbidden, Code: "id_tenant_mismatch", Message: "tenantId names another tenant"}
		}
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.once(w, r, p, fmt.Sprintf("runs.create.%d", major), c, func(ctx context.Context, keep parts.Keep) (parts.Answer, error) {
		if _, ok := s.parts.Workflows.Find(c.WorkflowID); !ok {
			return parts.Answer{}, unknownWorkflow(major)
		}
		return s.made(keep, func(run store.Run) any { return s.newRun(major, run) }, func(made parts.Made) (store.Run, error) {
			return s.parts.Runs.Create(ctx, p, c.WorkflowID, c.Options, made)
		})
	})
}

func unknownWorkflow(major int) *parts.Problem {
	if major == 1 {
		return parts.Invalid("there is no such workflow")
	}
	return &parts.Problem{Status: http.StatusNotFound, Code: "not_found", Message: "there is no such workflow"}
}

// made makes a run and its answer, 201; where the answer is to be kept, both are one transaction.
func (s *server) made(keep parts.Keep, answer func(store.Run) any, make func(parts.Made) (store.Run, error)) (parts.Answer, error) {
	encode := func(run store.Run) (parts.Answer, error) {
		b, err := json.Marshal(answer(run))
		return parts.Answer{Status: http.StatusCreated, Body: b}, err
	}
	var also parts.Made
	if keep != nil {
		also = func(tx store.Tx, run store.Run) error {
			a, err := encode(run)
			if err != nil {
				return err
			}
			return keep(tx, a)
		}
	}
	run, err := make(also)
	if err != nil {
		return parts.Answer{}, err
	}
	return encode(run)
}

// newRun is the answer to a creation. Its URLs are paths, which resolve under the origin that was asked.
func (s *server) newRun(major int, run store.Run) map[string]any {
	path := s.runPath(major, run)
	return map[string]any{
		"runId": s.parts.RunWire.ID(major, run), "status": parts.Pending, "eventsUrl": path + "/events", "statusUrl": path,
	}
}

func (s *server) forkRun(w http.ResponseWriter, r *http.Request, major int, segment string) {
	p, source, err := s.owned(r, major, segment, parts.DoorFork, parts.ScopeRunsCreate, parts.ScopeRunsRead)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	body, err := readBody(w, r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	f, err := decodeFork(body)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	operation := fmt.Sprintf("runs.fork.%d.%s", major, source.ID)
	s.once(w, r, p, operation, f, func(ctx context.Context, keep parts.Keep) (parts.Answer, error) {
		answer := func(run store.Run) any {
			a := s.newRun(major, run)
			delete(a, "statusUrl")
			a["sourceRunId"], a["mode"], a["fromSeq"] = s.parts.RunWire.ID(major, store.Run{Tenant: run.Tenant, ID: run.Source}), f.Mode, run.FromSeq
			return a
		}
		return s.made(keep, answer, func(made parts.Made) (store.Run, error) {
			return s.parts.Runs.Fork(ctx, source, f, made)
		})
	})
}

// decodeFork reads the closed body of a fork.
func decodeFork(body []byte) (parts.ForkRequest, error) {
	var f parts.ForkRequest
	var from *int
	var overlay json.RawMessage
	err := closedjson.Object(body, map[string]any{"mode": &f.Mode, "fromSeq": &from, "runOptionsOverlay": &overlay}, "mode")
	switch {
	case err != nil:
		return f, parts.Invalid("%s", err)
	case f.Mode != parts.Replay && f.Mode != parts.Branch:
		return f, parts.Invalid("mode must be replay or branch")
	case from != nil && *from < 0:
		return f, parts.Invalid("fromSeq must be an integer from 0")
	case from == nil && f.Mode == parts.Branch:
		return f, parts.Invalid("a branch needs fromSeq")
	}
	if from != nil {
		at := int64(*from)
		f.FromSeq = &at
	}
	if overlay == nil {
		return f, nil
	}
	var o parts.RunOptions
	err = closedjson.Object(overlay, map[string]any{
		"inputs": &o.Inputs, "configurable": &o.Configurable, "tags": &o.Tags, "metadata": &o.Metadata,
	})
	if err != nil {
		return f, parts.Invalid("runOptionsOverlay: %s", err)
	}
	if err := checkOptions(&o); err != nil {
		return f, err
	}
	if o.Inputs == nil && o.Configurable == nil && o.Tags == nil && o.Metadata == nil {
		return f, nil
	}
	if f.Mode == parts.Replay {
		return f, parts.Invalid("a replay takes no overlay")
	}
	f.Overlay = &o
	return f, nil
}

func (s *server) cancelRun(w http.ResponseWriter, r *http.Request, major int, segment string) {
	p, run, err := s.owned(r, major, segment, parts.DoorCancel, parts.ScopeRunsCancel)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	operation := fmt.Sprintf("runs.cancel.%d.%s", major, run.ID)
	s.once(w, r, p, operation, nil, func(ctx context.Context, keep parts.Keep) (parts.Answer, error) {
		b, err := json.Marshal(map[string]any{"runId": s.parts.RunWire.ID(major, run), "status": parts.Cancelled})
		if err != nil {
			return parts.Answer{}, err
		}
		a := parts.Answer{Status: http.StatusOK, Body: b}
		var made parts.Made
		if keep != nil {
			made = func(tx store.Tx, _ store.Run) error { return keep(tx, a) }
		}
		return a, s.parts.Runs.Cancel(ctx, run, made)
	})
}
