package runs

import (
	"encoding/json"
	"time"

	"github.com/wopwitness/wopwitness/fixtures/workflows"
	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// phase is how far the node at hand has come.
type phase int

const (
	between phase = iota // no node is at hand
	trying               // an attempt was started, and its outcome isn't known
	failed               // the last attempt failed
	retried              // another attempt was decided on, and isn't started
)

// history is a fold of a run's log.
type history struct {
	status    string
	failure   *parts.RunError
	begun     time.Time
	ended     time.Time
	node      string
	phase     phase
	attempt   int // of the node at hand
	cause     *parts.RunError
	completed map[string]bool
	lettered  map[string]letter
	last      int64
	at        time.Time // of the last event
	ids       map[string]string
	previous  string // the last event's ID
}

// letter is a dead letter as the log shows it.
type letter struct {
	id       string
	at       time.Time
	reason   string
	attempts int
}

// said is every payload's members that the fold reads.
type said struct {
	Attempt  int             `json:"attempt"`
	Error    *parts.RunError `json:"error"`
	Reason   string          `json:"reason"`
	Attempts int             `json:"attempts"`
}

// read folds a log.
func read(log []store.RunEvent) history {
	h := history{
		status: parts.Pending, completed: map[string]bool{}, lettered: map[string]letter{}, last: -1, ids: map[string]string{},
	}
	for _, ev := range log {
		h.take(ev)
	}
	return h
}

func (h *history) take(ev store.RunEvent) {
	var p said
	_ = json.Unmarshal(ev.Payload, &p) // the engine wrote it
	switch ev.Type {
	case parts.RunStarted:
		h.status, h.begun = parts.Running, ev.At
	case parts.NodeStarted:
		h.node, h.phase, h.attempt = ev.Node, trying, p.Attempt
	case parts.NodeFailed:
		h.phase, h.cause = failed, p.Error
	case parts.NodeRetried:
		h.phase, h.attempt = retried, p.Attempt
	case parts.NodeCompleted:
		h.phase, h.completed[ev.Node] = between, true
	case parts.RunDeadLettered:
		h.lettered[ev.Node] = letter{id: ev.ID, at: ev.At, reason: p.Reason, attempts: p.Attempts}
	case parts.RunCompleted:
		h.status, h.ended = parts.Completed, ev.At
	case parts.RunCancelled:
		h.status, h.ended = parts.Cancelled, ev.At
	case parts.RunFailed:
		h.status, h.ended, h.failure = parts.Failed, ev.At, p.Error
	}
	h.last, h.at, h.previous = ev.Seq, ev.At, ev.ID
	h.ids[ev.Type] = ev.ID
}

func (h history) over() bool { return h.state().Over() }

func (h history) state() parts.RunState {
	return parts.RunState{Status: h.status, Error: h.failure, Last: h.last, Ended: h.ended, Begun: h.begun}
}

// next is the node to be started: the first whose sources have all completed, false where none is left.
func (h history) next(w workflows.Workflow) (workflows.Node, bool) {
	for _, n := range w.Nodes {
		if h.completed[n.ID] {
			continue
		}
		ready := true
		for _, e := range w.Edges {
			ready = ready && (e.TargetNodeID != n.ID || h.completed[e.SourceNodeID])
		}
		if ready {
			return n, true
		}
	}
	return workflows.Node{}, false
}

func nodeOf(w workflows.Workflow, id string) (workflows.Node, bool) {
	for _, n := range w.Nodes {
		if n.ID == id {
			return n, true
		}
	}
	return workflows.Node{}, false
}
