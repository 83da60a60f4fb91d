package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// Why Strict refuses a document. Callers branch with errors.Is.
var (
	ErrDuplicateMember = errors.New("a member stands twice in one object")
	ErrTooDeep         = errors.New("it is nested deeper than is read here")
	ErrNotJSON         = errors.New("it is not JSON")
)

// Strict reads one JSON document that the suite must understand. It refuses what two readers could understand
// differently: a duplicate member, bytes that are not UTF-8, data after the end; and nesting beyond MaxDepth. Numbers are
// json.Number, objects map[string]any, arrays []any.
func Strict(body []byte) (any, error) {
	body = bytes.TrimPrefix(body, []byte("\xEF\xBB\xBF"))
	if !utf8.Valid(body) {
		return nil, fmt.Errorf("%w: it is not UTF-8", ErrNotJSON)
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	value, err := strictValue(d, 0)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: there is more after its end", ErrNotJSON)
	}
	return value, nil
}

func strictValue(d *json.Decoder, depth int) (any, error) {
	token, err := d.Token()
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: it ends too early", ErrNotJSON)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotJSON, err)
	}
	delim, isDelim := token.(json.Delim)
	if !isDelim {
		return token, nil
	}
	if depth >= MaxDepth {
		return nil, fmt.Errorf("%w (%d levels)", ErrTooDeep, MaxDepth)
	}
	if delim == '[' {
		return strictArray(d, depth+1)
	}
	return strictObject(d, depth+1)
}

func strictArray(d *json.Decoder, depth int) (any, error) {
	list := []any{}
	for d.More() {
		v, err := strictValue(d, depth)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, closing(d)
}

func strictObject(d *json.Decoder, depth int) (any, error) {
	object := map[string]any{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrNotJSON, err)
		}
		name, isString := token.(string)
		if !isString {
			return nil, fmt.Errorf("%w: a member's name is not a string", ErrNotJSON)
		}
		if _, has := object[name]; has {
			return nil, fmt.Errorf("%w: %.80q", ErrDuplicateMember, name)
		}
		v, err := strictValue(d, depth)
		if err != nil {
			return nil, err
		}
		object[name] = v
	}
	return object, closing(d)
}

func closing(d *json.Decoder) error {
	if _, err := d.Token(); err != nil {
		return fmt.Errorf("%w: %w", ErrNotJSON, err)
	}
	return nil
}
