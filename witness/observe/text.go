package observe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Text is bytes as they came. In JSON it is a string where the bytes are valid UTF-8, and {"base64": "…"} otherwise, so
// that nothing a host sent is altered by writing it down.
type Text []byte

type encodedText struct {
	Base64 []byte `json:"base64"`
}

// MarshalJSON implements json.Marshaler.
func (t Text) MarshalJSON() ([]byte, error) {
	if utf8.Valid(t) {
		return json.Marshal(string(t))
	}
	return json.Marshal(encodedText{Base64: t})
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *Text) UnmarshalJSON(raw []byte) error {
	if bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) {
		var e encodedText
		if err := json.Unmarshal(raw, &e); err != nil {
			return fmt.Errorf("recorded text: %w", err)
		}
		*t = e.Base64
		return nil
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return fmt.Errorf("recorded text: %w", err)
	}
	*t = Text(s)
	return nil
}

// String is the text as a Go string, bytes unchanged.
func (t Text) String() string { return string(t) }

func equalFold(a, b string) bool { return strings.EqualFold(a, b) }

// IsEventStream says whether a Content-Type names text/event-stream, whatever its case and parameters.
func IsEventStream(contentType string) bool {
	media, _, _ := strings.Cut(contentType, ";")
	return equalFold(strings.TrimSpace(media), "text/event-stream")
}

// PlainString reads a JSON string of printable ASCII without escapes, as nearly every member of a host's documents is.
// It is false for anything else, which is for a JSON reader.
func PlainString(raw []byte) (string, bool) {
	if len(raw) < 2 || raw[0] != '"' || raw[len(raw)-1] != '"' {
		return "", false
	}
	inner := raw[1 : len(raw)-1]
	for _, b := range inner {
		if b < ' ' || b > '~' || b == '"' || b == '\\' {
			return "", false
		}
	}
	return string(inner), true
}
