// Package attest writes the result of a bundle in the form that public supply-chain tools read: an in-toto Statement v1
// with the test-result predicate, in a DSSE envelope that the bundle's own key signs. Its subject is the build of the
// host that was tested.
//
// It says nothing that the bundle doesn't, names the bundle's file by its digest, and fetches nothing. Start with
// Envelope.
package attest

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	intoto "github.com/in-toto/attestation/go/v1"
	"github.com/secure-systems-lab/go-securesystemslib/dsse"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/wopwitness/wopwitness/reports/bundle"
	"github.com/wopwitness/wopwitness/scenarios/registry"
)

// The types that the envelope and the statement name.
const (
	PayloadType   = "application/vnd.in-toto+json"
	PredicateType = "https://in-toto.io/attestation/test-result/v0.1"
)

// The results of the predicate.
const (
	Passed = "PASSED" // something passed, nothing failed and nothing was blocked
	Failed = "FAILED" // a requirement failed
	Warned = "WARNED" // nothing failed, and the measurement is not whole
)

// Envelope gives the signed envelope of a bundle as a file. file is the bundle's file as it was written, whose digest
// the statement names.
func Envelope(ctx context.Context, b bundle.Bundle, file []byte, key bundle.Key) ([]byte, error) {
	statement, err := Statement(b, file)
	if err != nil {
		return nil, err
	}
	signer, err := dsse.NewEnvelopeSigner(signing{key})
	if err != nil {
		return nil, fmt.Errorf("attestation: %w", err)
	}
	envelope, err := signer.SignPayload(ctx, PayloadType, statement)
	if err != nil {
		return nil, fmt.Errorf("sign attestation: %w", err)
	}
	raw, err := json.MarshalIndent(envelope, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode attestation: %w", err)
	}
	return append(raw, '\n'), nil
}

// Statement gives the statement of a bundle in canonical JSON.
func Statement(b bundle.Bundle, file []byte) ([]byte, error) {
	if b.Host.Build == nil {
		return nil, errors.New("attestation: the bundle names no build, so there is no subject")
	}
	predicate, err := structpb.NewStruct(predicate(b, file))
	if err != nil {
		return nil, fmt.Errorf("attestation: %w", err)
	}
	statement := &intoto.Statement{
		Type:          intoto.StatementTypeUri,
		Subject:       []*intoto.ResourceDescriptor{{Name: b.Host.Name, Digest: digest(*b.Host.Build)}},
		PredicateType: PredicateType,
		Predicate:     predicate,
	}
	if err := statement.Validate(); err != nil {
		return nil, fmt.Errorf("attestation: %w", err)
	}
	raw, err := protojson.Marshal(statement)
	if err != nil {
		return nil, fmt.Errorf("encode attestation: %w", err)
	}
	return bundle.Canonical(raw)
}

// digest names a build as in-toto names digests. What is no digest of a form that in-toto knows goes under the name of
// its kind, which a digest set allows.
func digest(b bundle.Build) map[string]string {
	switch {
	case b.Kind == "commit" && isHex(b.ID, 20):
		return map[string]string{string(intoto.AlgorithmGitCommit): b.ID}
	case b.Kind == "artifact-sha256" && isHex(b.ID, sha256.Size):
		return map[string]string{string(intoto.AlgorithmSHA256): b.ID}
	case b.Kind == "image-digest":
		if sum, ok := strings.CutPrefix(b.ID, "sha256:"); ok && isHex(sum, sha256.Size) {
			return map[string]string{string(intoto.AlgorithmSHA256): sum}
		}
	}
	return map[string]string{b.Kind: b.ID}
}

func isHex(text string, size int) bool {
	raw, err := hex.DecodeString(text)
	return err == nil && len(raw) == size
}

// predicate is the test result: requirements that passed and failed by their ids, those that were blocked as warned, and
// what the result rests on. Requirements that don't apply are in the bundle alone.
func predicate(b bundle.Bundle, file []byte) map[string]any {
	names := map[registry.Result][]any{registry.Pass: {}, registry.Fail: {}, registry.Blocked: {}}
	for _, r := range b.Results.Requirements {
		if _, listed := names[r.Result]; listed {
			names[r.Result] = append(names[r.Result], r.ID)
		}
	}
	sum := sha256.Sum256(file)
	name := fmt.Sprintf("bundle-v%d.json", b.Suite.TargetMajor)
	configuration := []any{
		descriptor("name", name, hex.EncodeToString(sum[:])),
		descriptor("name", "wopwitness "+b.Suite.Version+" contract", b.Suite.ContractSha256),
	}
	if b.Discovery != nil {
		configuration = append(configuration, descriptor("uri", b.Discovery.URL, b.Discovery.Sha256))
	}
	return map[string]any{
		"result":        result(b),
		"configuration": configuration,
		"passedTests":   names[registry.Pass],
		"warnedTests":   names[registry.Blocked],
		"failedTests":   names[registry.Fail],
	}
}

func descriptor(member, text, sum string) map[string]any {
	return map[string]any{member: text, "digest": map[string]any{"sha256": sum}}
}

func result(b bundle.Bundle) string {
	switch t := b.Results.Totals; {
	case t.ExecutedFail > 0:
		return Failed
	case t.Blocked > 0 || t.ExecutedPass == 0:
		return Warned
	}
	return Passed
}

// signing lets the bundle's key sign envelopes.
type signing struct{ key bundle.Key }

func (s signing) Sign(_ context.Context, data []byte) ([]byte, error) {
	return s.key.Private.Sign(nil, data, &ed25519.Options{Hash: crypto.Hash(0)})
}

func (s signing) KeyID() (string, error) { return s.key.ID, nil }
