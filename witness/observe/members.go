package observe

import (
	"bytes"
	"encoding/json"
)

// Members reads a JSON object as encoding/json does into a map: of a name that is there twice the last counts. It is nil
// for anything else, and for text that is no JSON. The values are parts of raw.
//
// Judges read the same documents many times over, a member here and a member there: splitting one is several times faster
// than decoding it.
func Members(raw []byte) map[string]json.RawMessage {
	if !startsWith(raw, '{') || !json.Valid(raw) {
		return nil
	}
	return MembersWithin(raw)
}

// MembersWithin is Members of a value that Members or Elements gave: what is within a valid document is not checked again.
func MembersWithin(valid []byte) map[string]json.RawMessage {
	s := splitter{text: valid}
	if !s.takes('{') {
		return nil
	}
	all := map[string]json.RawMessage{}
	for !s.takes('}') {
		name := s.value()
		if !s.takes(':') {
			return all
		}
		value := s.value()
		if len(value) == 0 {
			return all
		}
		key, plain := PlainString(name)
		if !plain && json.Unmarshal(name, &key) != nil {
			return all
		}
		all[key] = value
		s.takes(',')
	}
	return all
}

// Elements reads a JSON array, and is false for anything else. The elements are parts of raw.
func Elements(raw []byte) ([]json.RawMessage, bool) {
	if !startsWith(raw, '[') || !json.Valid(raw) {
		return nil, false
	}
	return ElementsWithin(raw)
}

// ElementsWithin is Elements of a value that Members or Elements gave.
func ElementsWithin(valid []byte) ([]json.RawMessage, bool) {
	s := splitter{text: valid}
	if !s.takes('[') {
		return nil, false
	}
	all := []json.RawMessage{}
	for !s.takes(']') {
		value := s.value()
		if len(value) == 0 {
			return all, true
		}
		all = append(all, value)
		s.takes(',')
	}
	return all, true
}

func startsWith(raw []byte, c byte) bool {
	return len(raw) > 0 && (raw[0] == c || bytes.HasPrefix(bytes.TrimLeft(raw, space), []byte{c}))
}

const space = " \t\r\n"

// splitter goes through the values of valid JSON. Of other text it gives some part, and never reads beyond its end.
type splitter struct {
	text []byte
	at   int
}

func (s *splitter) blank() {
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case ' ', '\t', '\r', '\n':
			s.at++
		default:
			return
		}
	}
}

// takes passes one character, where it comes next.
func (s *splitter) takes(c byte) bool {
	s.blank()
	if s.at < len(s.text) && s.text[s.at] == c {
		s.at++
		return true
	}
	return false
}

// value passes one value and gives its text, without the space around it; none at the end, or before what begins no value.
func (s *splitter) value() []byte {
	s.blank()
	from, depth := s.at, 0
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case '"':
			s.str()
		case '{', '[':
			depth++
			s.at++
		case '}', ']':
			if depth == 0 {
				return s.text[from:s.at:s.at]
			}
			depth--
			s.at++
		case ',', ':', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return s.text[from:s.at:s.at]
			}
			s.at++
			continue
		default: // of a number or a word
			s.at++
			continue
		}
		if depth == 0 {
			return s.text[from:s.at:s.at]
		}
	}
	return s.text[from:s.at:s.at]
}

// str passes a string.
func (s *splitter) str() {
	for s.at++; s.at < len(s.text); s.at++ {
		end := bytes.IndexByte(s.text[s.at:], '"')
		if end < 0 {
			s.at = len(s.text)
			return
		}
		back := 0
		for s.at+end-back > 0 && s.text[s.at+end-back-1] == '\\' && end-back > 0 {
			back++
		}
		s.at += end
		if back%2 == 0 {
			s.at++
			return
		}
	}
}
