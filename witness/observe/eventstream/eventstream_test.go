package eventstream

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wopwitness/wopwitness/witness/observe"
)

const at = observe.Micros(7)

// pieces cuts b into pieces of n bytes; 0 leaves it whole.
func pieces(b []byte, n int) [][]byte {
	if n == 0 {
		return [][]byte{b}
	}
	var all [][]byte
	for len(b) > n {
		all, b = append(all, b[:n]), b[n:]
	}
	return append(all, b)
}

func parse(t *testing.T, text string, n int, limits Limits) ([]Frame, error) {
	t.Helper()
	p := New(limits)
	var frames []Frame
	var err error
	for _, piece := range pieces([]byte(text), n) {
		var some []Frame
		some, err = p.Feed(at, piece)
		frames = append(frames, some...)
	}
	return frames, err
}

var cases = []struct {
	name string
	text string
	want []Frame
}{
	{"LF", "data: a\n\n", []Frame{{Data: "a", HasData: true, End: 9}}},
	{"CR", "data: a\r\r", []Frame{{Data: "a", HasData: true, End: 9}}},
	{"CRLF ends a block at its CR", "data: a\r\n\r\n", []Frame{{Data: "a", HasData: true, End: 10}}},
	{"mixed line ends", "event: x\r\ndata: a\rdata: b\n\r\ndata: c\n\n", []Frame{
		{Event: "x", Data: "a\nb", HasData: true, End: 27},
		{Data: "c", HasData: true, Start: 28, End: 37},
	}},
	{"CR then LF is one line end, not a blank line", "data: a\r\ndata: b\n\n", []Frame{{Data: "a\nb", HasData: true, End: 18}}},
	{"LF then CR are two", "data: a\n\rdata: b\n\n", []Frame{
		{Data: "a", HasData: true, End: 9}, {Data: "b", HasData: true, Start: 9, End: 18},
	}},
	{"one leading byte order mark", "\xEF\xBB\xBFdata: a\n\n", []Frame{{Data: "a", HasData: true, Start: 3, End: 12}}},
	{"a second mark is text", "\xEF\xBB\xBF\xEF\xBB\xBFdata: a\n\n", []Frame{{Start: 3, End: 15}}},
	{"half a mark is text", "\xEF\xBBdata: a\n\n", []Frame{{End: 11}}},
	{"a mark elsewhere is text", "data: a\n\n\xEF\xBB\xBFdata: b\n\n", []Frame{
		{Data: "a", HasData: true, End: 9}, {Start: 9, End: 21},
	}},
	{"comments are kept and dispatch nothing", ": one\n:two\n:\n\n", []Frame{{Comments: []string{"one", "two", ""}, End: 14}}},
	{"a comment within a block", "data: a\n: c\ndata: b\n\n", []Frame{{Data: "a\nb", HasData: true, Comments: []string{"c"}, End: 21}}},
	{"several data lines", "data: a\ndata:\ndata: b\n\n", []Frame{{Data: "a\n\nb", HasData: true, End: 23}}},
	{"one space after the colon only", "data:  a\nevent:x\n\n", []Frame{{Data: " a", HasData: true, Event: "x", End: 18}}},
	{"a tab is no space", "data:\ta\n\n", []Frame{{Data: "\ta", HasData: true, End: 9}}},
	{"a field without colon has an empty value", "data\n\n", []Frame{{HasData: true, End: 6}}},
	{"the first colon divides", "data: a: b\n\n", []Frame{{Data: "a: b", HasData: true, End: 12}}},
	{"an unknown field is passed over", "foo: a\nDATA: b\n\n", []Frame{{End: 16}}},
	{"the last event line counts", "event: a\nevent: b\ndata: c\n\n", []Frame{{Event: "b", Data: "c", HasData: true, End: 27}}},
	{"event does not last", "event: a\ndata: b\n\ndata: c\n\n", []Frame{
		{Event: "a", Data: "b", HasData: true, End: 18}, {Data: "c", HasData: true, Start: 18, End: 27},
	}},
	{"an absent id leaves the last one", "id: 1\ndata: a\n\ndata: b\n\n", []Frame{
		{ID: "1", HasID: true, LastEventID: "1", Data: "a", HasData: true, End: 15},
		{LastEventID: "1", Data: "b", HasData: true, Start: 15, End: 24},
	}},
	{"an empty id clears it", "id: 1\ndata: a\n\nid:\ndata: b\n\nid\ndata: c\n\n", []Frame{
		{ID: "1", HasID: true, LastEventID: "1", Data: "a", HasData: true, End: 15},
		{HasID: true, Data: "b", HasData: true, Start: 15, End: 28},
		{HasID: true, Data: "c", HasData: true, Start: 28, End: 40},
	}},
	{"an id with NUL is ignored", "id: 1\ndata: a\n\nid: 2\x003\ndata: b\n\n", []Frame{
		{ID: "1", HasID: true, LastEventID: "1", Data: "a", HasData: true, End: 15},
		{IDIgnored: true, LastEventID: "1", Data: "b", HasData: true, Start: 15, End: 32},
	}},
	{"an id with NUL after a good one", "id: 2\nid: \x00\ndata: b\n\n", []Frame{
		{ID: "2", HasID: true, IDIgnored: true, LastEventID: "2", Data: "b", HasData: true, End: 21},
	}},
	{"no data, no dispatch, but the id is taken", "event: x\nid: 9\n\ndata: a\n\n", []Frame{
		{Event: "x", ID: "9", HasID: true, LastEventID: "9", End: 16},
		{LastEventID: "9", Data: "a", HasData: true, Start: 16, End: 25},
	}},
	{"retry of digits", "retry: 150\n\n", []Frame{{Retry: "150", HasRetry: true, End: 12}}},
	{"retry of anything else", "retry: 1.5\nretry: -1\nretry:\nretry: 1 \n\n", []Frame{{End: 39}}},
	{"a last block without its blank line is discarded", "id: 1\ndata: a\n\nid: 2\ndata: b\n", []Frame{
		{ID: "1", HasID: true, LastEventID: "1", Data: "a", HasData: true, End: 15},
	}},
	{"a last line without its end is discarded", "data: a\n\ndata: b", []Frame{{Data: "a", HasData: true, End: 9}}},
	{"blank lines alone make no block", "\n\r\n\r\n\ndata: a\n\n", []Frame{{Data: "a", HasData: true, Start: 6, End: 15}}},
	{"invalid UTF-8 is kept", "data: \xFF\xFE\n\n", []Frame{{Data: "\xFF\xFE", HasData: true, End: 10}}},
	{"nothing", "", nil},
}

func TestFramesAreTheSameHoweverTheBytesAreCut(t *testing.T) {
	for _, c := range cases {
		for _, n := range []int{0, 1, 2, 3} {
			t.Run(c.name, func(t *testing.T) {
				want := make([]Frame, len(c.want))
				for i, f := range c.want {
					f.At = at
					want[i] = f
				}
				got, err := parse(t, c.text, n, Limits{})
				if err != nil {
					t.Fatalf("in pieces of %d: %v", n, err)
				}
				if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("in pieces of %d (want −, got +):\n%s", n, diff)
				}
			})
		}
	}
}

func TestTheFrameHasTheArrivalOfTheChunkThatCompletedIt(t *testing.T) {
	got := Frames(observe.Stream{Chunks: []observe.Chunk{
		{At: 1, Bytes: observe.Text("data: a\n")}, {At: 2, Bytes: observe.Text("\ndata: b")}, {At: 3, Bytes: observe.Text("\n\n")},
	}})
	if len(got) != 2 || got[0].At != 2 || got[1].At != 3 {
		t.Fatalf("got %+v", got)
	}
}

func TestLimitsGiveTheFramesBeforeThem(t *testing.T) {
	good := "data: a\n\n"
	limits := Limits{Line: 20, Frame: 40}
	for _, c := range []struct {
		name string
		text string
		what string // "" for within
		at   int
	}{
		{"a line at its limit", good + "data: " + strings.Repeat("x", 14) + "\n\n", "", 0},
		{"a line beyond it", good + "data: " + strings.Repeat("x", 15) + "\n\n", "line", 29},
		{"a line that never ends", good + strings.Repeat("x", 100), "line", 29},
		{"a frame at its limit", good + strings.Repeat("data: 1234\n", 3) + "data:1\n\n", "", 0},
		{"a frame beyond it", good + strings.Repeat("data: 1234\n", 4) + "\n", "frame", 49},
	} {
		for _, n := range []int{0, 1, 2} {
			t.Run(c.name, func(t *testing.T) {
				frames, err := parse(t, c.text, n, limits)
				var limit *LimitError
				if c.what == "" {
					if err != nil || len(frames) != 2 {
						t.Fatalf("in pieces of %d: %d frames, %v", n, len(frames), err)
					}
					return
				}
				if !errors.As(err, &limit) || limit.What != c.what || limit.At != c.at {
					t.Fatalf("in pieces of %d: got %v (%+v)", n, err, limit)
				}
				if len(frames) != 1 || frames[0].Data != "a" {
					t.Errorf("in pieces of %d: the frames before the limit are %+v", n, frames)
				}
			})
		}
	}
}

func TestNothingIsReadAfterALimit(t *testing.T) {
	p := New(Limits{Line: 4, Frame: 40})
	if _, err := p.Feed(at, []byte("12345")); err == nil {
		t.Fatal("a line of five bytes passed a limit of four")
	}
	frames, err := p.Feed(at, []byte("\n\ndata\n\n"))
	if err == nil || len(frames) != 0 || p.Err() == nil {
		t.Errorf("got %v, %v", frames, err)
	}
}

func TestTailIsTheTextThatHasNotEnded(t *testing.T) {
	p := New(Limits{})
	if _, err := p.Feed(at, []byte("data: a\n\ndata: b\nda")); err != nil {
		t.Fatal(err)
	}
	if start, end := p.Tail(); start != 9 || end != 19 {
		t.Errorf("tail is %d to %d", start, end)
	}
	if _, err := p.Feed(at, []byte("ta\n\n")); err != nil {
		t.Fatal(err)
	}
	if start, end := p.Tail(); start != end {
		t.Errorf("after a whole block the tail is %d to %d", start, end)
	}
}

func TestAllCarriesTheLastIDAcrossConnections(t *testing.T) {
	stream := func(text string) observe.Stream {
		return observe.Stream{Chunks: []observe.Chunk{{Bytes: observe.Text(text)}}}
	}
	got := All(observe.Subscription{Segments: []observe.Stream{
		stream("id: 1\ndata: a\n\nid: 2\ndata: cut"), {}, stream("data: b\n\n"),
	}})
	if len(got) != 2 || got[0].LastEventID != "1" || got[1].LastEventID != "1" || got[1].Start != 0 {
		t.Errorf("got %+v", got)
	}
}

func TestFramesOfARecordBeyondTheLimitAreThoseBeforeIt(t *testing.T) {
	got := Frames(observe.Stream{Chunks: []observe.Chunk{
		{Bytes: observe.Text("data: a\n\n")}, {Bytes: observe.Text(strings.Repeat("x", DefaultLine+1))}, {Bytes: observe.Text("\n\ndata: b\n\n")},
	}})
	if len(got) != 1 || got[0].Data != "a" {
		t.Errorf("got %d frames", len(got))
	}
}

func FuzzPieces(f *testing.F) {
	for _, c := range cases {
		f.Add([]byte(c.text), uint8(1))
	}
	f.Fuzz(func(t *testing.T, b []byte, n uint8) {
		limits := Limits{Line: 64, Frame: 128}
		whole, wholeErr := parse(t, string(b), 0, limits)
		cut, cutErr := parse(t, string(b), int(n), limits)
		if diff := cmp.Diff(whole, cut, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("in pieces of %d (whole −, cut +):\n%s", n, diff)
		}
		if (wholeErr == nil) != (cutErr == nil) || wholeErr != nil && wholeErr.Error() != cutErr.Error() {
			t.Fatalf("in pieces of %d: %v, whole: %v", n, cutErr, wholeErr)
		}
		for i, frame := range whole {
			if frame.Start > frame.End || frame.End > len(b) || i > 0 && frame.Start < whole[i-1].End {
				t.Fatalf("frame %d has offsets %d to %d of %d bytes", i, frame.Start, frame.End, len(b))
			}
		}
	})
}
