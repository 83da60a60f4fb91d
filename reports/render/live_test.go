package render_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/reports/render"
	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
)

func TestALineALegAsItEnds(t *testing.T) {
	rows := mixed().Rows
	for name, tt := range map[string]struct {
		live bool
		want string
	}{
		"in a file": {false, "PASS  0250.cursor-refused                   12ms  title of 0250.cursor-refused\n"},
		"on a terminal": {true, "      0250.cursor-refused  1 of 5  0s\r\x1b[K" +
			"PASS  0250.cursor-refused                   12ms  title of 0250.cursor-refused\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			terminal := render.NewTerminal(&out, len(rows), tt.live, render.Paint{})
			terminal.Started(registry.Case{Leg: rows[0].Leg, Major: 2})
			terminal.Ended(rows[0], 12*time.Millisecond+time.Microsecond)
			terminal.Close()
			if out.String() != tt.want {
				t.Errorf("got  %q\nwant %q", out.String(), tt.want)
			}
		})
	}
}

func TestALineThatIsNoPassSaysWhy(t *testing.T) {
	var out strings.Builder
	terminal := render.NewTerminal(&out, 5, false, render.Paint{})
	terminal.Ended(mixed().Rows[3], 0)
	if want := "N/A   0250.legacy-unchanged                 <1ms  the host does not advertise what this requirement is about\n"; out.String() != want {
		t.Errorf("got  %q\nwant %q", out.String(), want)
	}
}

func TestTraceIsCurlAndTheAnswer(t *testing.T) {
	type observation struct {
		Later observe.Stream `json:"later"`
		Emits []observe.Emit `json:"emits"`
	}
	first := observe.Exchange{Label: "D1", SentAt: 1000, Request: observe.Request{Method: "POST", Target: "/host/events/test",
		Headers: []observe.Header{{Name: "Authorization", Value: "Bearer " + observe.Marker("a")}, {Name: "Content-Length", Value: "22"}},
		Body:    observe.Text(`{"delivery":"it's"}`)},
		Response: &observe.Response{Proto: "HTTP/1.1", Status: 202, Headers: []observe.Header{{Name: "X", Value: "a\x1b[2Jb"}}, Body: observe.Text(`{"eventId":"e"}`)}}
	second := observe.Exchange{SentAt: 2000, Request: observe.Request{Method: "GET", Target: "/host/events?replay=required"},
		Failure: &observe.Failure{Kind: observe.FailTimeout, Text: "no answer within 1s"}}
	raw, err := json.Marshal(observation{Emits: []observe.Emit{{Attempts: []observe.Exchange{first}}}, Later: observe.Stream{
		Exchange: second, Chunks: []observe.Chunk{{At: 2500, Bytes: observe.Text("data: 1\n\n")}}, End: observe.EndHost}})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	render.Trace(&out, witness.Record{Leg: "0250.x", Major: 2, Observation: raw}, "http://127.0.0.1:1/")
	want := `── 0250.x, major 2
    0.001s  curl -i -X 'POST' -H 'Authorization: Bearer '"$OPENWOP_API_KEY" --data-raw '{"delivery":"it'\''s"}' 'http://127.0.0.1:1/host/events/test'  # D1
            HTTP/1.1 202
            X: a\x1b[2Jb
            {"eventId":"e"}
    0.002s  curl -i -N 'http://127.0.0.1:1/host/events?replay=required'
    0.003s    data: 1\n\n
            failed: timeout: no answer within 1s
            ended by the host
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

func TestATraceOfNothing(t *testing.T) {
	var out strings.Builder
	render.Trace(&out, witness.Record{Leg: "0250.x", Major: 2}, "http://h")
	if want := "── 0250.x, major 2\n   nothing was sent\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}
