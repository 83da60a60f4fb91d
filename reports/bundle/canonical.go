package bundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/gowebpki/jcs"

	"github.com/wopwitness/wopwitness/scenarios/registry"
)

// Canonical is the RFC 8785 form of a JSON value.
func Canonical(raw []byte) ([]byte, error) {
	canonical, err := jcs.Transform(raw)
	if err != nil {
		return nil, fmt.Errorf("canonical JSON: %w", err)
	}
	return canonical, nil
}

// canonicalOf is the RFC 8785 form of a Go value.
func canonicalOf(v any) ([]byte, error) {
	raw, err := encode(v)
	if err != nil {
		return nil, err
	}
	return Canonical(raw)
}

// digestOf is the SHA-256, in lower-case hex, of the canonical form of a Go value.
func digestOf(v any) (string, error) {
	canonical, err := canonicalOf(v)
	if err != nil {
		return "", err
	}
	return hexSum(canonical), nil
}

func hexSum(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func encode(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("encode JSON: %w", err)
	}
	return bytes.TrimRight(out.Bytes(), "\n"), nil
}

// WitnessDigest is the SHA-256 of the canonical rows sorted by id; with relaxations declared, of
// {rows, relaxations}. The rows are taken in the order given.
func WitnessDigest(rows []registry.Row, relaxations []string) (string, error) {
	if len(relaxations) == 0 {
		return digestOf(rows)
	}
	return digestOf(map[string]any{"rows": rows, "relaxations": relaxations})
}

// ContractDigest says which registry and schemas a bundle rests on: the SHA-256 of the canonical JSON of
// {legs, schemas}, the legs as the registry has them and the schemas by name.
func ContractDigest(legs []registry.Leg, schemas map[string]json.RawMessage) (string, error) {
	if schemas == nil {
		schemas = map[string]json.RawMessage{}
	}
	return digestOf(map[string]any{"legs": legs, "schemas": schemas})
}
