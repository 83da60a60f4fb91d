package redact

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
)

//nolint:gochecknoglobals // compiled once, and never changed
var secretMember = regexp.MustCompile(`(?i)^(?:` + secretNames + `|token|cookie|set-cookie|x-api-key)$`)

// JSON takes the addresses and secrets out of a JSON value: out of every text in it and every member's name, and the whole
// value of a member whose name says that it is a secret. Everything else keeps its place and its spelling of numbers.
// What isn't JSON is redacted as a text and becomes a JSON string.
func JSON(raw json.RawMessage) json.RawMessage {
	out, err := value(raw)
	if err == nil {
		return out
	}
	text, err := json.Marshal(Text(strings.ToValidUTF8(string(raw), "\ufffd")))
	if err != nil { // a string always has its JSON
		panic(err)
	}
	return text
}

func value(raw json.RawMessage) (json.RawMessage, error) {
	if !json.Valid(raw) {
		return nil, errors.New("it isn't JSON")
	}
	w := walker{dec: json.NewDecoder(bytes.NewReader(raw))}
	w.dec.UseNumber()
	if err := w.value(false); err != nil {
		return nil, err
	}
	if _, err := w.dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the value")
	}
	return w.out.Bytes(), nil
}

type walker struct {
	dec *json.Decoder
	out bytes.Buffer
}

// value copies one value; of a secret one nothing but its being there.
func (w *walker) value(secret bool) error {
	if secret {
		var skipped json.RawMessage
		if err := w.dec.Decode(&skipped); err != nil {
			return err
		}
		if string(skipped) == "null" {
			w.out.WriteString("null")
			return nil
		}
		return w.write(Secret)
	}
	tok, err := w.dec.Token()
	if err != nil {
		return err
	}
	switch t := tok.(type) {
	case json.Delim:
		if t == '{' {
			return w.object()
		}
		return w.array()
	case string:
		return w.write(Text(t))
	case json.Number:
		w.out.WriteString(t.String())
		return nil
	default: // true, false and null
		return w.write(t)
	}
}

func (w *walker) object() error {
	w.out.WriteByte('{')
	taken := map[string]bool{}
	for first := true; w.dec.More(); first = false {
		tok, err := w.dec.Token()
		if err != nil {
			return err
		}
		name, ok := tok.(string)
		if !ok {
			return fmt.Errorf("a member's name is %v", tok)
		}
		if !first {
			w.out.WriteByte(',')
		}
		// Two names that were addresses are still two members.
		shown := Text(name)
		for n := 2; shown != name && taken[shown]; n++ {
			shown = fmt.Sprintf("%s %d", Text(name), n)
		}
		taken[shown] = true
		if err := w.write(shown); err != nil {
			return err
		}
		w.out.WriteByte(':')
		if err := w.value(secretMember.MatchString(name)); err != nil {
			return err
		}
	}
	w.out.WriteByte('}')
	_, err := w.dec.Token()
	return err
}

func (w *walker) array() error {
	w.out.WriteByte('[')
	for first := true; w.dec.More(); first = false {
		if !first {
			w.out.WriteByte(',')
		}
		if err := w.value(false); err != nil {
			return err
		}
	}
	w.out.WriteByte(']')
	_, err := w.dec.Token()
	return err
}

func (w *walker) write(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w.out.Write(b)
	return nil
}
