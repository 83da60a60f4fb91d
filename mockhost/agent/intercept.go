package agent

import (
	"context"
	"time"

	"github.com/wopwitness/wopwitness/mockhost/agent/keep"
	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// Interceptor implements parts.Interceptor on the store.
type Interceptor struct{ Store store.Store }

var _ parts.Interceptor = Interceptor{}

// Write implements parts.Interceptor.
func (Interceptor) Write(tx store.Tx, i *parts.Invocation, now time.Time) error {
	changed(i, parts.InvocationPending, now)
	_, err := keep.Invocations.Insert(tx, i)
	return err
}

// Dispatched implements parts.Interceptor.
func (Interceptor) Dispatched(tx store.Tx, i *parts.Invocation, now time.Time) error {
	i.Attempts++
	i.LastAt = now
	changed(i, parts.InvocationInFlight, now)
	return keep.Invocations.Put(tx, *i)
}

// Ended implements parts.Interceptor.
func (Interceptor) Ended(tx store.Tx, i *parts.Invocation, status string, failure *parts.ToolError, now time.Time) error {
	outcome := parts.ToolOK
	if failure != nil {
		outcome = failure.Kind
	}
	i.Failure = failure
	i.Outcomes = append(i.Outcomes[:len(i.Outcomes):len(i.Outcomes)], parts.AttemptEnd{Attempt: i.Attempts, At: i.LastAt, Outcome: outcome})
	changed(i, status, now)
	return keep.Invocations.Put(tx, *i)
}

func changed(i *parts.Invocation, status string, now time.Time) {
	i.Status = status
	i.History = append(i.History[:len(i.History):len(i.History)], parts.StatusChange{Status: status, At: now})
}

// List implements parts.Interceptor.
func (r Interceptor) List(ctx context.Context, p parts.Principal, q parts.InvocationQuery) ([]parts.Invocation, error) {
	query := store.RecordQuery{Trace: q.TraceID, After: q.After, Limit: q.Limit}
	if q.Status != "" {
		query.States = []string{q.Status}
	}
	return keep.Invocations.List(r.Store.Reading(ctx), p.Tenant, query)
}
