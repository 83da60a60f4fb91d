package deadletter

import (
	"encoding/base64"
	"encoding/hex"
	"testing"

	"github.com/wopwitness/wopwitness/witness/observe"
)

func TestFloorAsksForTheRunAsItDied(t *testing.T) {
	right := func() Retention {
		o := Retention{Major: 2, Run: deadRun(), Window: windowOf(7), ForkBefore: reply(0, 201, `{}`), Looked: *lookedAt(diedAt.AddDate(0, 0, 7), -2)}
		o.Run.Snapshots = []observe.Exchange{reply(0, 200, failedSnapshot)}
		o.Looked.Poll = o.Run.Reads[0]
		return o
	}
	branched := func(before, now int) func(*Retention) {
		return func(o *Retention) { o.BranchBefore, o.Looked.Branch = reply(0, before, `{}`), reply(0, now, `{}`) }
	}
	try(t, "retention.floor", right, []judged[Retention]{
		{"failed, with its log", nil, "pass"},
		{"completed by then", func(o *Retention) { o.Looked.Snapshot = reply(0, 200, `{"status":"completed"}`) }, "failed-to-the-end"},
		{"completed from the first", func(o *Retention) {
			o.Run.Snapshots = []observe.Exchange{reply(0, 200, `{"status":"completed"}`)}
			o.Looked.Snapshot = reply(0, 200, `{"status":"completed"}`)
		}, "pass"},
		{"its log not found", func(o *Retention) { o.Looked.Poll = reply(0, 404, `{}`) }, "log-kept-to-the-end"},
		{"its log empty", func(o *Retention) { o.Looked.Poll = page(0) }, "log-kept-to-the-end"},
		{"its log never polled", func(o *Retention) { o.Looked.Poll = observe.Exchange{} }, "pass"},
		{"branches to the end", branched(201, 201), "pass"},
		{"does not branch any more", branched(201, 409), "branches-before-the-end"},
		{"never branched", branched(409, 409), "pass"},
		{"branches put off by a rate", branched(201, 429), "undecided unexpected-answer"},
		{"polls put off by a rate", func(o *Retention) { o.Looked.Poll = reply(0, 429, `{}`) }, "undecided unexpected-answer"},
	})
}

func TestPurgedRunsAreNotListed(t *testing.T) {
	list := func(o *Retention, status int, body string) {
		x := reply(0, status, body)
		o.Looked.List = &x
	}
	right := func() Retention {
		o := Retention{Major: 2, Run: deadRun(), Window: windowOf(7), ForkBefore: reply(0, 201, `{}`), Looked: lookedGone(diedAt.AddDate(0, 0, 7), 25*60+1)}
		list(&o, 200, `{"runs":[{"runId":"`+childID+`"}]}`)
		return o
	}
	try(t, "retention.purged", right, []judged[Retention]{
		{"another one listed", nil, "pass"},
		{"still listed", func(o *Retention) { list(o, 200, `{"runs":[{"runId":"`+ownID+`"}]}`) }, "list-gone"},
		{"the list not to be had", func(o *Retention) { list(o, 500, `{"runs":[{"runId":"`+ownID+`"}]}`) }, "pass"},
	})
}

func TestRecoveredRunsAreNotInTheSink(t *testing.T) {
	flaky := []event{{"run.started", "", ""}, {"node.started", "flaky", ""}, {"node.failed", "flaky", ""}, {"node.started", "flaky", ""},
		{"node.failed", "flaky", ""}, {"node.started", "flaky", ""}, {"node.completed", "flaky", ""}, {"run.completed", "", ""}}
	right := func() Recovery {
		r := runOf(ownID, flaky)
		r.Node, r.Snapshots = "flaky", []observe.Exchange{reply(12*second, 200, `{"status":"completed"}`)}
		return Recovery{Recovering: r, Later: runOf(childID, exhausted(childID)), Sink: []observe.Exchange{reply(0, 200, `{"entries":[{"runId":"`+childID+`"}]}`)}}
	}
	try(t, "exhaustion.not-early", right, []judged[Recovery]{
		{"the later one alone", nil, "pass"},
		{"the recovered one too", func(o *Recovery) {
			o.Sink = []observe.Exchange{reply(0, 200, `{"entries":[{"runId":"`+childID+`"},{"runId":"`+ownID+`"}]}`)}
		}, "not-in-the-sink"},
		{"no sink shown", func(o *Recovery) { o.Sink = nil }, "pass"},
		{"the sink not to be had", func(o *Recovery) { o.Sink = []observe.Exchange{reply(0, 404, `{}`)} }, "pass"},
	})
}

func TestEncodedSecretsAreSeen(t *testing.T) {
	const name, prefix = "openwop-conformance-canary-secret", "openwop-conformance-canary-"
	o := Redacted{Name: name, Prefix: prefix, Marker: "marker"}
	header := base64.StdEncoding.EncodeToString([]byte("user:" + prefix + "4f2a"))
	for what, c := range map[string]struct {
		text string
		want bool
	}{
		"a basic credential":       {`{"reason":"Basic ` + header + ` refused"}`, true},
		"hexadecimal":              {hex.EncodeToString([]byte(prefix + "4f2a")), true},
		"the name in base64":       {base64.StdEncoding.EncodeToString([]byte(name)), false},
		"the name, padded":         {base64.StdEncoding.EncodeToString([]byte("x:" + name)), false},
		"something else in base64": {base64.StdEncoding.EncodeToString([]byte("nothing of the kind, at some length")), false},
		"an id":                    {"acme/r-01JABCDEFGHJKMNPQRSTVWXYZ0", false},
	} {
		if got := o.leaks([]byte(c.text)); got != c.want {
			t.Errorf("%s: %v, want %v", what, got, c.want)
		}
	}
}
