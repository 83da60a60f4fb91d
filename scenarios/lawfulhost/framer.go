package lawfulhost

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// framer writes one stream in the style of its options. Every style is one that the event-stream format (WHATWG HTML
// §9.2.6) reads as the same events.
type framer struct {
	style   Framing
	out     http.ResponseWriter
	control *http.ResponseController
	lines   int
	frames  int
}

func newFramer(style Framing, w http.ResponseWriter) *framer {
	return &framer{style: style, out: w, control: http.NewResponseController(w)}
}

// open sends the headers, with whatever the style puts before the first frame.
func (f *framer) open() {
	var b bytes.Buffer
	if f.style.ByteOrderMark {
		b.WriteString("\ufeff")
	}
	if f.style.Comments {
		f.line(&b, ": opened")
		f.line(&b, "")
	}
	f.write(b.Bytes())
}

func (f *framer) event(a arrival) {
	f.frames++
	e := a.event
	head := []string{f.field("event", e.Type)}
	if e.Delivery == classDurable {
		head = append(head, f.field("id", e.ID))
	}
	var data []string
	for part := range strings.SplitSeq(string(f.envelope(e, a.replayed)), "\n") {
		data = append(data, f.field("data", part))
	}
	all := slices.Concat(head, data)
	if f.style.DataFirst {
		all = slices.Concat(data, head)
	}
	if f.style.Retry && f.frames%3 == 0 {
		all = append(all, f.field("retry", "150"))
	}
	if f.style.UnknownFields {
		all = append([]string{f.field("shard", "7"), "bare"}, all...)
	}
	var b bytes.Buffer
	for i, text := range all {
		if f.style.Comments && i == 1 {
			f.line(&b, ":inside a frame")
		}
		f.line(&b, text)
	}
	f.line(&b, "")
	if f.style.Comments {
		f.line(&b, ": between frames, id: not-an-id")
	}
	f.write(b.Bytes())
}

// heartbeat is host-wide, belongs to no tenant, and has no id: it must not move anyone's cursor.
func (f *framer) heartbeat() {
	var b bytes.Buffer
	f.line(&b, f.field("event", "heartbeat"))
	f.line(&b, f.field("data", fmt.Sprintf(`{"beat":%d}`, f.frames)))
	f.line(&b, "")
	f.write(b.Bytes())
}

func (f *framer) field(name, value string) string {
	if f.style.TightColons {
		return name + ":" + value
	}
	return name + ": " + value
}

func (f *framer) line(b *bytes.Buffer, text string) {
	ends := "\n"
	switch f.style.LineEnds {
	case EndsCRLF:
		ends = "\r\n"
	case EndsCR:
		ends = "\r"
	case EndsMixed:
		ends = []string{"\n", "\r\n", "\r"}[f.lines%3]
		// A CR and the LF of an empty line after it would be read as one line end.
		if text == "" {
			ends = "\r\n"
		}
	}
	f.lines++
	b.WriteString(text)
	b.WriteString(ends)
}

func (f *framer) write(b []byte) {
	if !f.style.ByteByByte {
		_, _ = f.out.Write(b)
		_ = f.control.Flush()
		return
	}
	for i := range b {
		_, _ = f.out.Write(b[i : i+1])
		_ = f.control.Flush()
	}
	_ = f.control.Flush() // the headers, where there was no byte
}

type member struct {
	name  string
	value json.RawMessage
}

// envelope encodes the closed envelope of RFC 0236 in the style's order, spacing and escapes.
func (f *framer) envelope(e hostEvent, replayed bool) []byte {
	members := []member{
		{"eventId", f.text(e.ID)}, {"type", f.text(e.Type)}, {"timestamp", f.text(f.timestamp(e.At, replayed))},
		{"delivery", f.text(e.Delivery)}, {"payload", e.Payload},
	}
	if e.Workspace != "" {
		members = append(members, member{"workspaceId", f.text(e.Workspace)})
	}
	colon, comma := ":", ","
	switch {
	case f.style.Reserialised && replayed:
		// A binary JSON column orders members by the length of their names, and spaces them its own way.
		slices.SortFunc(members, func(a, b member) int {
			if d := len(a.name) - len(b.name); d != 0 {
				return d
			}
			return strings.Compare(a.name, b.name)
		})
		colon, comma = ": ", ", "
	case f.style.Keys == KeysReversed:
		slices.Reverse(members)
	case f.style.Keys == KeysSorted:
		slices.SortFunc(members, func(a, b member) int { return strings.Compare(a.name, b.name) })
	}
	var b bytes.Buffer
	for i, m := range members {
		b.WriteString([]string{"{", comma}[min(i, 1)])
		b.WriteString(`"` + m.name + `"` + colon)
		b.Write(m.value)
	}
	b.WriteByte('}')
	if !f.style.SplitData {
		return b.Bytes()
	}
	var split bytes.Buffer
	if err := json.Indent(&split, b.Bytes(), "", "  "); err != nil {
		panic("lawfulhost: " + err.Error()) // the envelope was encoded above
	}
	return split.Bytes()
}

func (f *framer) text(s string) json.RawMessage {
	if !f.style.Escapes {
		return json.RawMessage(`"` + s + `"`) // ids, types and times need no escaping
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		if strings.ContainsRune("-.:", r) {
			fmt.Fprintf(&b, `\u%04X`, r)
		} else {
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return json.RawMessage(b.String())
}

func (f *framer) timestamp(at time.Time, replayed bool) string {
	layout := "2006-01-02T15:04:05.000Z07:00"
	if f.style.Microseconds && !replayed {
		layout = "2006-01-02T15:04:05.000000Z07:00"
	}
	if f.style.Offset && !replayed {
		return at.In(time.FixedZone("", 5*3600+30*60)).Format(layout)
	}
	return at.UTC().Format(layout)
}
