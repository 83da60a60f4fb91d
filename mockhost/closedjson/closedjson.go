// Package closedjson reads the small closed JSON objects that the host's operations take.
//
// It never accepts what encoding/json would let through in silence: a duplicate or unknown member, a name in another
// case, null for a value, bytes after the object, text that isn't UTF-8. Start at Object.
package closedjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Object reads one object into members, whose values are *string, *int, *bool or *float64; **string, **int or **float64 to tell an
// absent member from an empty one; *json.RawMessage for a value that is nobody's business here, or that is read by another
// call; *[]json.RawMessage for a list of such; or *[]int. required names the members that must be there. The error's text is
// meant for the client.
func Object(body []byte, members map[string]any, required ...string) error {
	if !utf8.Valid(body) {
		return errors.New("the body is not UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return errors.New("the body must be a JSON object")
	}
	seen := map[string]bool{}
	for dec.More() {
		name, err := memberName(dec)
		if err != nil {
			return err
		}
		to, known := members[name]
		switch {
		case !known:
			return fmt.Errorf("unknown member %s; %s", Quoted(name), Known(slices.Collect(maps.Keys(members))))
		case seen[name]:
			return fmt.Errorf("member %q appears twice", name)
		}
		seen[name] = true
		if err := value(dec, name, to); err != nil {
			return err
		}
	}
	if _, err := dec.Token(); err != nil {
		return errors.New("the JSON object doesn't end")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the JSON object")
	}
	for _, name := range required {
		if !seen[name] {
			return fmt.Errorf("member %q is missing", name)
		}
	}
	return nil
}

func memberName(dec *json.Decoder) (string, error) {
	tok, err := dec.Token()
	if err != nil {
		return "", errors.New("the body is not well-formed JSON")
	}
	return tok.(string), nil // the decoder gives nothing else before a colon
}

func value(dec *json.Decoder, name string, to any) error {
	switch to := to.(type) {
	case *json.RawMessage:
		return raw(dec, name, to)
	case *[]json.RawMessage:
		return list(dec, name, to)
	case *[]int:
		return integers(dec, name, to)
	}
	tok, err := dec.Token()
	if err != nil {
		return errors.New("the body is not well-formed JSON")
	}
	switch to := to.(type) {
	case *string:
		s, ok := tok.(string)
		if !ok {
			return fmt.Errorf("member %q must be a string", name)
		}
		*to = s
	case **string:
		s, ok := tok.(string)
		if !ok {
			return fmt.Errorf("member %q must be a string", name)
		}
		*to = &s
	case *int:
		return integer(tok, name, to)
	case **int:
		*to = new(int)
		return integer(tok, name, *to)
	case *bool:
		b, ok := tok.(bool)
		if !ok {
			return fmt.Errorf("member %q must be true or false", name)
		}
		*to = b
	case *float64:
		return number(tok, name, to)
	case **float64:
		*to = new(float64)
		return number(tok, name, *to)
	default:
		return fmt.Errorf("member %q can't be read into %T", name, to)
	}
	return nil
}

func raw(dec *json.Decoder, name string, to *json.RawMessage) error {
	if err := dec.Decode(to); err != nil {
		return errors.New("the body is not well-formed JSON")
	}
	if string(*to) == "null" {
		return fmt.Errorf("member %q may not be null", name)
	}
	return nil
}

func list(dec *json.Decoder, name string, to *[]json.RawMessage) error {
	var whole json.RawMessage
	if err := raw(dec, name, &whole); err != nil {
		return err
	}
	if whole[0] != '[' {
		return fmt.Errorf("member %q must be a list", name)
	}
	*to = []json.RawMessage{}
	return json.Unmarshal(whole, to)
}

func integers(dec *json.Decoder, name string, to *[]int) error {
	var items []json.RawMessage
	if err := list(dec, name, &items); err != nil {
		return err
	}
	*to = make([]int, len(items))
	for i, item := range items {
		if err := integer(json.Number(item), name, &(*to)[i]); err != nil {
			return fmt.Errorf("member %q must be a list of integers", name)
		}
	}
	return nil
}

func number(tok json.Token, name string, to *float64) error {
	n, ok := tok.(json.Number)
	if !ok {
		return fmt.Errorf("member %q must be a number", name)
	}
	f, err := n.Float64()
	if err != nil {
		return fmt.Errorf("member %q is too large a number", name)
	}
	*to = f
	return nil
}

func integer(tok json.Token, name string, to *int) error {
	n, ok := tok.(json.Number)
	if !ok {
		return fmt.Errorf("member %q must be an integer", name)
	}
	i, err := n.Int64()
	if err != nil {
		return fmt.Errorf("member %q must be an integer", name)
	}
	*to = int(i)
	return nil
}

// longestQuoted bounds, in bytes, how much of a name that nobody knows is sent back.
const longestQuoted = 64

// Quoted is a client's name for something as an error shows it: quoted, and cut where it is long.
func Quoted(name string) string {
	if len(name) <= longestQuoted {
		return strconv.Quote(name)
	}
	return strconv.Quote(strings.ToValidUTF8(name[:longestQuoted], "")) + "…"
}

// Known says which names there are, to whoever gave one that nobody knows.
func Known(names []string) string {
	if len(names) == 0 {
		return "none is known"
	}
	return "known are " + strings.Join(slices.Sorted(slices.Values(names)), ", ")
}
