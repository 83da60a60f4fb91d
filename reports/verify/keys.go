package verify

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"fmt"

	"github.com/wopwitness/wopwitness/reports/bundle"
	"github.com/wopwitness/wopwitness/reports/verify/strictjson"
)

// maxOutside bounds a discovery document that is read for its keys, in bytes. It is what a host may answer with.
const maxOutside = 8 << 20

func (o Options) source() Source {
	switch {
	case o.HostKey != nil:
		return SourceHostKey
	case o.Discovery != nil:
		return SourceDiscovery
	}
	return SourceEmbedded
}

// resolve finds the key of the given id and says how far that carries, nil where there is none.
func (c *check) resolve(tree map[string]any, keyID string, o Options) ed25519.PublicKey {
	k := &c.report.Key
	if o.HostKey != nil {
		k.Outcome, k.Says = KeyVerified, "the host's key that was given signed it"
		return c.strong(o.HostKey)
	}
	var document map[string]any
	if o.Discovery != nil {
		k.Outcome = KeyVerified
		k.Says = "the host publishes the key that signed it"
		var problem string
		if document, problem = outside(*o.Discovery); problem != "" {
			k.Outcome, k.Says = KeyNoDocument, "no discovery document was read: "+problem
			return nil
		}
	} else {
		k.Outcome = KeyEmbedded
		k.Says = "authenticity is not established: the key stands in the bundle itself, so this shows that the bundle is whole and not whose it is"
		embedded, _ := tree["discovery"].(map[string]any)
		var has bool
		if document, has = embedded["document"].(map[string]any); !has {
			k.Outcome, k.Says = KeyNoDocument, "no discovery document was read: the bundle holds none, and none was given"
			return nil
		}
	}
	key, problem := published(document, keyID)
	if problem != "" {
		k.Outcome, k.Says = KeyUnpublished, "the discovery document was read, and "+problem
		return nil
	}
	return c.strong(key)
}

// outside reads a document that whoever verifies brought. It is a host's own, so its numbers may be written in any way.
func outside(d Document) (map[string]any, string) {
	if d.Problem != "" {
		return nil, d.Problem
	}
	if len(d.Body) > maxOutside {
		return nil, fmt.Sprintf("what was read has more than %d bytes", maxOutside)
	}
	// Its canonical form has one reading; a document without one is no document.
	raw, err := bundle.Canonical(d.Body)
	if err != nil {
		return nil, fmt.Sprintf("what was read is not JSON: %v", err)
	}
	v, err := strictjson.Read(raw, strictjson.Limits{Bytes: maxBytes, Depth: maxDepth, Values: maxValues})
	if err != nil {
		return nil, fmt.Sprintf("what was read is not a plain JSON document: %v", err)
	}
	document, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Sprintf("what was read is %s and not a discovery document", typeOf(v))
	}
	return document, ""
}

// published looks a key up under signingKeys (wire contract, discovery): {keyId, alg, publicKey, use}, publicKey the raw
// 32 bytes in unpadded base64url. Retired keys stay listed, so an id stands once.
func published(document map[string]any, keyID string) (ed25519.PublicKey, string) {
	listed, _ := document["signingKeys"].([]any)
	var found []map[string]any
	for _, item := range listed {
		if entry, ok := item.(map[string]any); ok && entry["keyId"] == keyID {
			found = append(found, entry)
		}
	}
	switch {
	case len(found) == 0:
		return nil, fmt.Sprintf("the key %q isn't published there", keyID)
	case len(found) > 1:
		return nil, fmt.Sprintf("the key id %q is published there %d times", keyID, len(found))
	case found[0]["alg"] != bundle.Algorithm:
		return nil, fmt.Sprintf("the key %q is published there for another algorithm", keyID)
	case found[0]["use"] != "certification-bundle":
		return nil, fmt.Sprintf("the key %q is published there for another use", keyID)
	}
	text, _ := found[0]["publicKey"].(string)
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) != ed25519.PublicKeySize || len(text) != base64.RawURLEncoding.EncodedLen(len(raw)) {
		return nil, fmt.Sprintf("the key %q is published there in a form that is not 32 bytes in unpadded base64url", keyID)
	}
	return raw, ""
}

// hosts says whether a key is one that the host publishes to sign bundles with, under whatever id, in the document inside
// the bundle or in the one that was brought: a host has several keys, and all are its own.
func (c *check) hosts(tree map[string]any, key ed25519.PublicKey, o Options) bool {
	embedded, _ := tree["discovery"].(map[string]any)
	inside, _ := embedded["document"].(map[string]any)
	documents := []map[string]any{inside}
	if o.Discovery != nil {
		if document, problem := outside(*o.Discovery); problem == "" {
			documents = append(documents, document)
		}
	}
	text := base64.RawURLEncoding.EncodeToString(key)
	for _, document := range documents {
		listed, _ := document["signingKeys"].([]any)
		for _, item := range listed {
			if entry, ok := item.(map[string]any); ok && entry["publicKey"] == text && entry["use"] == "certification-bundle" {
				return true
			}
		}
	}
	return false
}

// strong refuses keys under which a signature says nothing.
func (c *check) strong(key ed25519.PublicKey) ed25519.PublicKey {
	if len(key) == ed25519.PublicKeySize && !weak(key) {
		return key
	}
	c.refuse(WeakKey, "/attestation/keyId", "the key is a point of small order, under which anybody can sign")
	c.report.Key.Outcome, c.report.Key.Says = KeyNotChecked, "the key is one under which anybody can sign"
	return nil
}

// weak says whether a key encodes a point of small order. With the sign bit aside there are seven such encodings: the
// y-coordinates of the eight points, and the two that are not reduced.
func weak(key ed25519.PublicKey) bool {
	masked := bytes.Clone(key)
	masked[len(masked)-1] &= 0x7f
	for _, point := range []string{
		"0000000000000000000000000000000000000000000000000000000000000000",
		"0100000000000000000000000000000000000000000000000000000000000000",
		"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
		"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
		"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
	} {
		if hex.EncodeToString(masked) == point {
			return true
		}
	}
	return false
}
