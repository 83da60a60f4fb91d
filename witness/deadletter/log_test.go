package deadletter

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/wopwitness/wopwitness/witness/observe"
)

func TestReadLogIsTolerant(t *testing.T) {
	for _, c := range []struct {
		name, want string
		reads      []observe.Exchange
	}{
		{"in order of sequence", "run.started node.started run.failed", []observe.Exchange{page(0, `{"type":"run.failed","sequence":2}`, `{"type":"run.started","sequence":0}`), page(0, `{"type":"node.started","sequence":1}`)}},
		{"seq in place of sequence", "a b", []observe.Exchange{page(0, `{"type":"b","seq":1}`, `{"type":"a","seq":0}`)}},
		{"once though shown twice", "a", []observe.Exchange{page(0, `{"type":"a","sequence":0}`), page(0, `{"type":"a","sequence":0,"extra":1}`)}},
		{"two under one sequence", "a b", []observe.Exchange{page(0, `{"type":"a","sequence":0}`, `{"type":"b","sequence":0}`)}},
		{"as shown without sequences", "b a", []observe.Exchange{page(0, `{"type":"b","eventId":"1"}`, `{"type":"a","eventId":"2"}`)}},
		{"a bare list", "a", []observe.Exchange{reply(0, 200, `[{"type":"a"}]`)}},
		{"nonsense among events", "a", []observe.Exchange{page(0, `7`, `{"type":3}`, `null`, `{"type":"a","sequence":"x"}`)}},
		{"an answer that is none", "", []observe.Exchange{reply(0, 404, `{"events":[{"type":"a"}]}`), silent(observe.FailReset)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var types []string
			for _, e := range ReadLog(c.reads, nil) {
				types = append(types, e.Type)
			}
			if got := strings.Join(types, " "); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	stream := observe.Stream{Exchange: reply(0, 200, ``), Chunks: []observe.Chunk{{Bytes: observe.Text("id: 0\nevent: run.failed\ndata: {\"type\":\"run.failed\",\"sequence\":0}\n\n: x\n\n")}}}
	if log := ReadLog(nil, []observe.Stream{stream}); len(log) != 1 || !log[0].IsTerminal() {
		t.Errorf("a stream's log is %v", log)
	}
}

// FuzzJudges feeds every judge nonsense: none panics, and none passes what holds no check.
func FuzzJudges(f *testing.F) {
	for _, o := range []any{exhaustion(), forked(), Advertisement{Major: 1}, Sink{Run: deadRun()}, Retention{Run: deadRun(), Window: windowOf(7)},
		Recovery{Recovering: deadRun()}, Neighbour{First: deadRun()}, Redacted{Run: deadRun()}, Untouched{Source: deadRun()}} {
		raw, err := json.Marshal(o)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Add([]byte(`{}`))
	f.Add([]byte(`null`))
	f.Add([]byte(`{"major":-1,"run":{"seam":true,"made":[{"response":{"status":200,"body":"{\"event\":{\"type\":\"run.dead-lettered\",\"payload\":[]}}"}}]}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for leg, judge := range Judges() {
			v, err := judge(raw)
			if err != nil {
				continue
			}
			if outcome(v) == "vacuous" {
				t.Errorf("%s says nothing at all of %q", leg, raw)
			}
			again, err := judge(raw)
			if err != nil || outcome(again) != outcome(v) {
				t.Errorf("%s says %q and then %q of one observation", leg, outcome(v), outcome(again))
			}
		}
	})
}
