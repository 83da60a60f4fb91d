package timeline_test

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wopwitness/wopwitness/reports/timeline"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// observed is an observation of the form that resuming legs have.
type observed struct {
	Emits    []observe.Emit       `json:"emits"`
	Resumed  observe.Subscription `json:"resumed"`
	Sentinel string               `json:"sentinel"`
	Quiet    observe.Micros       `json:"quiet"`
}

func emit(label string, at observe.Micros) observe.Emit {
	return observe.Emit{Label: label, Credential: "a", Delivery: "durable", EventID: "id-" + label, Attempts: []observe.Exchange{{SentAt: at}}}
}

func stream(cursor string, frames ...observe.Chunk) observe.Stream {
	s := observe.Stream{
		Exchange: observe.Exchange{
			Label: "resumed <at> D1", Credential: "a", SentAt: 100, AnsweredAt: 110,
			Request: observe.Request{Method: "GET", Headers: []observe.Header{{Name: "Accept", Value: "text/event-stream"}}},
			Response: &observe.Response{Status: 200, Headers: []observe.Header{
				{Name: "Content-Type", Value: "text/event-stream"},
			}},
		},
		Chunks: frames, End: observe.EndSuite, EndedAt: 900,
	}
	if cursor != "" {
		s.Request.Headers = append(s.Request.Headers, observe.Header{Name: "Last-Event-Id", Value: cursor})
	}
	return s
}

func chunk(at observe.Micros, ids ...string) observe.Chunk {
	var text strings.Builder
	for _, id := range ids {
		fmt.Fprintf(&text, "id: %s\ndata: {\"eventId\":\"%s\"}\n\n", id, id)
	}
	return observe.Chunk{At: at, Bytes: observe.Text(text.String())}
}

func picture(t *testing.T, o any) timeline.Timeline {
	t.Helper()
	raw, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	p, ok := timeline.Of(raw)
	if !ok {
		t.Fatal("there is no stream in it")
	}
	return p
}

func TestGapsAndDuplicatesAreMarked(t *testing.T) {
	emits := []observe.Emit{emit("D1", 10), emit("D2", 20), emit("D3", 30), emit("D4", 200), emit("S", 300), emit("late", 950)}
	for _, c := range []struct {
		name    string
		stream  observe.Stream
		frames  []timeline.FrameKind
		missing []string
	}{
		{"whole", stream("id-D1", chunk(120, "id-D2", "id-D3"), chunk(210, "id-D4"), chunk(310, "id-S")),
			[]timeline.FrameKind{timeline.Durable, timeline.Durable, timeline.Durable, timeline.Durable}, nil},
		{"a gap", stream("id-D1", chunk(120, "id-D2"), chunk(210, "id-D4"), chunk(310, "id-S")),
			[]timeline.FrameKind{timeline.Durable, timeline.Durable, timeline.Durable}, []string{"D3"}},
		{"a duplicate", stream("id-D1", chunk(120, "id-D2", "id-D3", "id-D3"), chunk(210, "id-D4"), chunk(310, "id-S")),
			[]timeline.FrameKind{timeline.Durable, timeline.Durable, timeline.Again, timeline.Durable, timeline.Durable}, nil},
		{"no cursor: what was before is not missed", stream("", chunk(210, "id-D4"), chunk(310, "id-S")),
			[]timeline.FrameKind{timeline.Durable, timeline.Durable}, nil},
		{"somebody else's and a comment", stream("id-D3", observe.Chunk{At: 115, Bytes: observe.Text(": hello\n\n")}, chunk(210, "id-D4", "foreign"), chunk(310, "id-S")),
			[]timeline.FrameKind{timeline.Comment, timeline.Durable, timeline.Other, timeline.Durable}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := picture(t, observed{Emits: emits, Resumed: observe.Subscription{Segments: []observe.Stream{c.stream}}, Sentinel: "S", Quiet: 50})
			var kinds []timeline.FrameKind
			for _, f := range p.Lanes[0].Frames {
				kinds = append(kinds, f.Kind)
			}
			var missing []string
			for _, e := range p.Lanes[0].Missing {
				missing = append(missing, e.Label)
			}
			if diff := cmp.Diff(c.frames, kinds); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.missing, missing); diff != "" {
				t.Error(diff)
			}
			svg := p.SVG()
			if got := strings.Count(svg, `class="missing"`); got != len(c.missing) {
				t.Errorf("%d gaps are drawn", got)
			}
			if got, want := strings.Contains(svg, `class="again"`), c.name == "a duplicate"; got != want {
				t.Errorf("a duplicate is drawn: %v", got)
			}
			for _, part := range []string{`class="open"`, `class="window"`, `class="sentinel"`, `class="asking"`, "resumed &lt;at&gt; D1"} {
				if !strings.Contains(svg, part) {
					t.Errorf("%s is not drawn", part)
				}
			}
			wellFormed(t, svg)
		})
	}
}

func TestARefusedStreamIsDrawnWithItsStatus(t *testing.T) {
	s := stream("unknown")
	s.Response = &observe.Response{Status: 409}
	s.Chunks, s.End, s.EndedAt = nil, "", 0
	svg := picture(t, map[string]any{"attempt": s}).SVG()
	if !strings.Contains(svg, `class="closed"`) || !strings.Contains(svg, ">409<") || strings.Contains(svg, `class="open"`) {
		t.Errorf("drawn as %s", svg)
	}
	wellFormed(t, svg)
}

func TestNothingIsDrawnWithoutAStream(t *testing.T) {
	for _, raw := range []string{`{}`, `[]`, `null`, ``, `{"emits":[{"attempts":[],"delivery":"durable"}]}`, `{"x":{"request":{"method":"GET","target":"/"}}}`} {
		if _, ok := timeline.Of(json.RawMessage(raw)); ok {
			t.Errorf("%s has no stream", raw)
		}
	}
}

func TestManyEventsMakeASmallPicture(t *testing.T) {
	o := observed{Resumed: observe.Subscription{Segments: []observe.Stream{stream("id-E0")}}, Quiet: 50}
	ids := []string{}
	for i := range 5000 {
		o.Emits = append(o.Emits, emit(fmt.Sprintf("E%d", i), observe.Micros(i)))
		ids = append(ids, fmt.Sprintf("id-E%d", i))
	}
	o.Resumed.Segments[0].Chunks = []observe.Chunk{chunk(500, ids...)}
	if size := len(picture(t, o).SVG()); size > 400_000 {
		t.Errorf("the picture has %d bytes", size)
	}
}

// wellFormed says whether a picture can stand in a page without changing what follows it.
func wellFormed(t *testing.T, svg string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader("<p>" + svg + "</p>"))
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("not well formed: %v\n%s", err, svg)
		}
	}
}

func FuzzOf(f *testing.F) {
	raw, err := json.Marshal(observed{Emits: []observe.Emit{emit("D1", 1)}, Resumed: observe.Subscription{Segments: []observe.Stream{stream("id-D1", chunk(9, "id-D1", "x"))}}, Quiet: 5})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add([]byte(`{"a":{"segments":[{}]},"quiet":-5}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if p, ok := timeline.Of(raw); ok {
			wellFormed(t, p.SVG())
		}
	})
}
