package runs

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/wopwitness/wopwitness/fixtures/workflows"
	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// outcome is what came of an attempt that was done outside of any transaction.
type outcome struct {
	node    string
	attempt int
	failure *parts.RunError
}

// Step implements parts.Runs: it goes on with a run until it has to wait, or has ended. A node is done between two
// transactions; one whose outcome was never written is done again under the same number.
func (e *Engine) Step(ctx context.Context, key string, now time.Time) error {
	tenant, id := split(key)
	var done *outcome
	for {
		todo, err := e.advance(ctx, tenant, id, now, done)
		if err != nil || todo == nil {
			return err
		}
		failure, err := e.parts.Nodes.Do(ctx, *todo)
		if err != nil {
			return fmt.Errorf("try the node %s: %w", todo.Node.ID, err)
		}
		done = &outcome{node: todo.Node.ID, attempt: todo.Number, failure: failure}
		now = e.parts.Clock.Now()
	}
}

// advance writes an outcome and everything that follows from it, up to the next attempt to be made. It gives nil where
// there is nothing more to do now.
func (e *Engine) advance(ctx context.Context, tenant, id string, now time.Time, done *outcome) (todo *parts.Attempt, err error) {
	err = e.store.Write(ctx, func(tx store.Tx) error {
		todo = nil
		r, ok, err := tx.Run(tenant, id)
		if err != nil {
			return err
		}
		if !ok {
			return tx.MoveWork(store.Work{Kind: StepWork, Key: tenant + "/" + id})
		}
		log, err := tx.RunEvents(tenant, id)
		if err != nil {
			return err
		}
		w, seeded := e.parts.Workflows.Find(r.Workflow)
		s := &step{engine: e, tx: tx, run: r, workflow: w, history: read(log), now: instant(now)}
		if s.now.Before(s.at) {
			s.now = s.at // the log's times don't fall, whatever the clock does
		}
		if !seeded && !s.over() {
			e.announce(ctx, tx, r)
			return s.lost("this host has no workflow " + r.Workflow + " any more")
		}
		todo, err = s.follow(done)
		if s.wrote {
			e.announce(ctx, tx, r)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("go on with run %s: %w", id, err)
	}
	return todo, nil
}

// step is one transaction's work on one run.
type step struct {
	engine   *Engine
	tx       store.Tx
	run      store.Run
	workflow workflows.Workflow
	history
	now   time.Time
	wrote bool
}

// follow goes on from where the log stands.
func (s *step) follow(done *outcome) (*parts.Attempt, error) {
	for !s.over() {
		switch {
		case s.status == parts.Pending:
			if err := s.write(parts.RunStarted, "", "", map[string]any{}); err != nil {
				return nil, err
			}
		case s.phase == between:
			n, more := s.next(s.workflow)
			if !more {
				return nil, s.end(parts.RunCompleted, s.previous, map[string]any{})
			}
			if err := s.write(parts.NodeStarted, n.ID, s.previous, map[string]any{"attempt": 1}); err != nil {
				return nil, err
			}
		case s.phase == retried:
			if err := s.write(parts.NodeStarted, s.node, s.previous, map[string]any{"attempt": s.attempt}); err != nil {
				return nil, err
			}
		case s.phase == trying:
			n, ok := nodeOf(s.workflow, s.node)
			if !ok {
				return nil, s.lost("the workflow has no node " + s.node + " any more")
			}
			if done == nil || done.node != s.node || done.attempt != s.attempt {
				return s.attemptAt(n)
			}
			failure := done.failure
			done = nil
			if waits, err := s.outcome(failure); err != nil || waits {
				return nil, err
			}
		case s.phase == failed:
			if err := s.afterFailure(); err != nil {
				return nil, err
			}
		}
	}
	// A run that was cancelled meanwhile has nothing left to do.
	return nil, s.tx.MoveWork(store.Work{Kind: StepWork, Key: Key(s.run)})
}

// lost ends a run that can't go on, as after the host was given other workflows: waiting for them would never end.
func (s *step) lost(why string) error {
	return s.end(parts.RunFailed, s.previous, map[string]any{"error": parts.RunError{Code: "workflow_changed", Message: why}})
}

func (s *step) attemptAt(n workflows.Node) (*parts.Attempt, error) {
	a := &parts.Attempt{Run: s.run, Node: n, Number: s.attempt}
	if err := json.Unmarshal(s.run.Options, &a.Options); err != nil {
		return nil, fmt.Errorf("read what the run was given: %w", err)
	}
	return a, nil
}

// outcome writes how the attempt at hand ended. It says true where the next one has to be waited for.
func (s *step) outcome(failure *parts.RunError) (waits bool, err error) {
	end := parts.NodeEnd{Run: s.run, Node: s.node, Attempts: s.attempt, Error: failure}
	if failure == nil {
		if err := s.write(parts.NodeCompleted, s.node, s.ids[parts.NodeStarted], map[string]any{"attempt": s.attempt}); err != nil {
			return false, err
		}
		return false, s.letter(end)
	}
	err = s.write(parts.NodeFailed, s.node, s.ids[parts.NodeStarted], map[string]any{"attempt": s.attempt, "error": failure})
	if err != nil {
		return false, err
	}
	pause, again := s.engine.parts.Retrier.Again(s.attempt, s.workflow.Settings.MaxRetries)
	if !again {
		return false, nil
	}
	if err := s.letter(end); err != nil {
		return false, err
	}
	return true, s.tx.MoveWork(store.Work{Kind: StepWork, Key: Key(s.run), Due: s.now.Add(pause)})
}

// afterFailure retries the node, or gives the run up: the dead letter comes just before run.failed, so that a stream that
// closes at the end carries it (RFC 0053 §C).
func (s *step) afterFailure() error {
	if _, again := s.engine.parts.Retrier.Again(s.attempt, s.workflow.Settings.MaxRetries); again {
		return s.write(parts.NodeRetried, s.node, s.ids[parts.NodeFailed], map[string]any{"attempt": s.attempt + 1})
	}
	end := parts.NodeEnd{Run: s.run, Node: s.node, Attempts: s.attempt, Error: s.cause, Final: true}
	if err := s.letter(end); err != nil {
		return err
	}
	return s.end(parts.RunFailed, s.previous, map[string]any{"error": parts.RunError{
		Code: "node_failed", Message: fmt.Sprintf("the node %s failed and has no attempt left", s.node),
	}})
}

// letter writes the dead letter of an attempt's end where it is one, into the log and into the sink. A log that has it
// already, as a fork's may, isn't given another; the sink is.
func (s *step) letter(end parts.NodeEnd) error {
	l, ok := s.engine.parts.DeadLetters.Letter(end)
	if !ok {
		return nil
	}
	if had, already := s.lettered[l.Node]; already {
		l.Reason, l.Attempts = had.reason, had.attempts
	} else {
		err := s.write(parts.RunDeadLettered, l.Node, s.previous, map[string]any{"reason": l.Reason, "attempts": l.Attempts})
		if err != nil {
			return err
		}
	}
	return s.engine.parts.Sink.Put(s.tx, store.DeadLetter{
		Tenant: s.run.Tenant, Run: s.run.ID, Workspace: s.run.Workspace, Node: l.Node, Reason: l.Reason, Attempts: l.Attempts,
		At: s.now, Expires: s.engine.parts.Purger.Due(s.run, s.now),
	})
}

// end writes the terminal event, and makes the purge the only work left.
func (s *step) end(terminal, cause string, payload map[string]any) error {
	if err := s.write(terminal, "", cause, payload); err != nil {
		return err
	}
	if err := s.tx.MoveWork(store.Work{Kind: StepWork, Key: Key(s.run)}); err != nil {
		return err
	}
	return s.tx.PutWork(store.Work{Kind: PurgeWork, Key: Key(s.run), Due: s.engine.parts.Purger.Due(s.run, s.now)})
}

// write appends one event to the log, and takes it into the fold.
func (s *step) write(kind, node, cause string, payload map[string]any) error {
	id, err := newID("", s.now)
	if err != nil {
		return err
	}
	b, err := json.Marshal(payload)
	if err != nil {
		return fmt.Errorf("encode %s: %w", kind, err)
	}
	ev := store.RunEvent{Seq: s.last + 1, ID: id, Type: kind, Node: node, Cause: cause, At: s.now, Payload: b}
	if err := s.tx.AppendRunEvent(s.run.Tenant, s.run.ID, ev); err != nil {
		return err
	}
	s.take(ev)
	s.wrote = true
	return nil
}

// Cancel implements parts.Runs.
func (e *Engine) Cancel(ctx context.Context, r store.Run, made parts.Made) error {
	return e.store.Write(ctx, func(tx store.Tx) error {
		log, err := tx.RunEvents(r.Tenant, r.ID)
		if err != nil {
			return err
		}
		s := &step{engine: e, tx: tx, run: r, history: read(log), now: instant(e.parts.Clock.Now())}
		if s.now.Before(s.at) {
			s.now = s.at
		}
		if s.over() {
			return terminal()
		}
		if err := s.end(parts.RunCancelled, "", map[string]any{}); err != nil {
			return err
		}
		e.announce(ctx, tx, r)
		if made != nil {
			return made(tx, r)
		}
		return nil
	})
}
