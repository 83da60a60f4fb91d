package runs

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// Fork implements parts.Runs (RFC 0053 §C.2): the source's events before the point are the child's history, and the rest
// runs anew. The source is read and nothing else; its owner is the child's.
func (e *Engine) Fork(ctx context.Context, source store.Run, f parts.ForkRequest, made parts.Made) (store.Run, error) {
	log, err := e.store.RunEvents(ctx, source.Tenant, source.ID, -1, wholeLog)
	if err != nil {
		return store.Run{}, err
	}
	from := int64(0)
	if f.FromSeq != nil {
		from = *f.FromSeq
	}
	if from != 0 && (from < 0 || from >= int64(len(log))) {
		return store.Run{}, &parts.Problem{
			Status: http.StatusUnprocessableEntity, Code: "fork_point_invalid",
			Message: "the run's log has no event with that sequence",
		}
	}
	child := store.Run{
		Tenant: source.Tenant, Workspace: source.Workspace, Subject: source.Subject, Workflow: source.Workflow,
		Source: source.ID, Mode: f.Mode, FromSeq: from, At: instant(e.parts.Clock.Now()),
	}
	if child.Options, err = overlaid(source.Options, f.Overlay); err != nil {
		return store.Run{}, err
	}
	if child.ID, err = newID("r-", child.At); err != nil {
		return store.Run{}, err
	}
	history, err := copied(log[:min(from, int64(len(log)))], child)
	if err != nil {
		return store.Run{}, err
	}
	if err := e.begin(ctx, child, history, made); err != nil {
		return store.Run{}, fmt.Errorf("fork run %s: %w", source.ID, err)
	}
	return child, nil
}

// copied is a prefix of a log as a fork's own: other ids, other times, and causes among its own events.
func copied(log []store.RunEvent, child store.Run) ([]store.RunEvent, error) {
	own := map[string]string{}
	out := make([]store.RunEvent, 0, len(log))
	for _, ev := range log {
		id, err := newID("", child.At)
		if err != nil {
			return nil, err
		}
		own[ev.ID] = id
		ev.ID, ev.Cause, ev.At = id, own[ev.Cause], child.At
		out = append(out, ev)
	}
	return out, nil
}

// overlaid replaces the members that an overlay has; within configurable, inputs and metadata member by member.
func overlaid(given []byte, overlay *parts.RunOptions) ([]byte, error) {
	if overlay == nil {
		return given, nil
	}
	var o parts.RunOptions
	if err := json.Unmarshal(given, &o); err != nil {
		return nil, fmt.Errorf("read what the run was given: %w", err)
	}
	for _, m := range []struct{ to, with *json.RawMessage }{
		{&o.Inputs, &overlay.Inputs}, {&o.Configurable, &overlay.Configurable},
		{&o.Tags, &overlay.Tags}, {&o.Metadata, &overlay.Metadata},
	} {
		if len(*m.with) > 0 {
			*m.to = merged(*m.to, *m.with)
		}
	}
	return json.Marshal(o)
}

// merged is the second object over the first, or the second alone where they aren't both objects.
func merged(under, over json.RawMessage) json.RawMessage {
	var a, b map[string]json.RawMessage
	if !bytes.HasPrefix(under, []byte("{")) || json.Unmarshal(under, &a) != nil || json.Unmarshal(over, &b) != nil {
		return over
	}
	for name, value := range b {
		a[name] = value
	}
	out, err := json.Marshal(a)
	if err != nil {
		return over
	}
	return out
}

// terminal is the answer to what a run that has ended can't do.
func terminal() *parts.Problem {
	return &parts.Problem{Status: http.StatusConflict, Code: "run_terminal", Message: "the run has ended"}
}
