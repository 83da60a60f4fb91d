package hostevents

import (
	"testing"

	"github.com/wopwitness/wopwitness/witness/observe"
)

// removedBefore is an event that was removed before the restart.
func removedBefore() *observe.Emit {
	e := triggered("R", observe.CredentialA, "durable", 12*ms)
	return &e
}

func TestJudgeRestarted(t *testing.T) {
	back := observe.Exchange{SentAt: 42 * ms, AnsweredAt: 43 * ms, Response: &observe.Response{Status: 200}}
	right := func() Restarted {
		return Restarted{Suffix: rightSuffix(), Restart: observe.Restart{Away: true, Back: back}}
	}
	rows := []judged[Restarted]{
		{name: "a host that never went away", want: "pass", note: "never-away", change: func(o *Restarted) { o.Restart.Away = false }},
		{name: "a host that did not come back", want: "undecided", change: func(o *Restarted) { o.Restart.Back = observe.Exchange{} }},
		{name: "resumed before the restart", want: "undecided", change: func(o *Restarted) { o.Resumed.Segments[0].SentAt = 41 * ms }},
		{name: "a cursor from after the restart", want: "undecided", change: func(o *Restarted) { o.Restart.Back.SentAt, o.Restart.Back.AnsweredAt = 1, 2 }},
	}
	rows = append(rows,
		judged[Restarted]{name: "an event removed before stays removed", want: "pass", change: func(o *Restarted) { o.Gone = removedBefore() }},
		judged[Restarted]{name: "an event removed before is back", want: "stays-removed", change: func(o *Restarted) {
			o.Gone = removedBefore()
			s := &o.Resumed.Segments[0]
			s.Chunks = append([]observe.Chunk{shows(s.Chunks[0].At, *o.Gone)}, s.Chunks...)
		}},
	)
	for _, row := range suffixRows() {
		of := judged[Restarted]{name: row.name, want: row.want, note: row.note}
		if row.change != nil {
			of.change = func(o *Restarted) {
				row.change(&o.Suffix)
				for i := range o.Resumed.Segments { // some rows are of a connection without moments
					o.Resumed.Segments[i].SentAt = max(o.Resumed.Segments[i].SentAt, 45*ms)
				}
			}
		}
		rows = append(rows, of)
	}
	judgeAll(t, right, JudgeRestarted, rows)
}
