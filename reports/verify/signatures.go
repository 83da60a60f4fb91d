package verify

import (
	"crypto/ed25519"
	"encoding/base64"
	"slices"

	"github.com/wopwitness/wopwitness/reports/bundle"
)

// signed is one signature member as it was read.
type signed struct {
	alg, keyID, sig string
	over            []string
}

func signedOf(v any) (signed, bool) {
	members, ok := v.(map[string]any)
	if !ok {
		return signed{}, false
	}
	s := signed{}
	s.alg, _ = members["alg"].(string)
	s.keyID, _ = members["keyId"].(string)
	s.sig, _ = members["sig"].(string)
	s.over, _ = stringsOf(members["over"])
	return s, true
}

// signatures checks the attestation, the signature and the verifier's signature over the bytes that were read.
func (c *check) signatures(tree map[string]any, b bundle.Bundle, o Options) {
	attestation, attested := signedOf(tree["attestation"])
	signature, isSigned := signedOf(tree["signature"])
	c.report.Key.KeyID = attestation.keyID
	if attested && !slices.Equal(attestation.over, bundle.Attested()) {
		c.refuse(OverChanged, "/attestation/over", "expected the four names %q in that order", bundle.Attested())
	}
	if attested && isSigned && attestation.keyID != signature.keyID {
		c.refuse(TwoKeys, "/signature/keyId", "the attestation is under %q and the signature under %q", attestation.keyID, signature.keyID)
	}
	if attested && b.Host.SigningKeyID != "" && b.Host.SigningKeyID != attestation.keyID {
		c.refuse(KeyIDMismatch, "/host/signingKeyId", "the attestation is under %q", attestation.keyID)
	}
	whole, over, err := signedBytes(tree)
	if err != nil {
		c.refuse(NotJSON, "", "%v", err)
		return
	}
	if !attested || !isSigned {
		c.report.Key.Outcome, c.report.Key.Says = KeyUnsigned, unsignedIn(attested, isSigned)
		c.verifier(tree, b, nil, whole, o)
		return
	}
	key := c.resolve(tree, attestation.keyID, o)
	if key != nil {
		byAttestation, bySignature := verifies(key, over, attestation.sig), verifies(key, whole, signature.sig)
		if !byAttestation {
			c.refuse(AttestationInvalid, "/attestation/sig", "it does not verify under the key %q", attestation.keyID)
			c.report.Key.Outcome, c.report.Key.Says = KeyDisproved, "the key is known, and it did not sign this attestation"
		}
		if !bySignature {
			c.refuse(SignatureInvalid, "/signature/sig", "it does not verify under the key %q", attestation.keyID)
		}
		if byAttestation && !bySignature {
			c.report.Key.Outcome, c.report.Key.Says = KeyNotChecked, "the key signed the attestation, and not this bundle as it stands"
		}
	}
	c.verifier(tree, b, key, whole, o)
}

func unsignedIn(attested, isSigned bool) string {
	switch {
	case attested:
		return "the bundle has an attestation and no signature"
	case isSigned:
		return "the bundle has a signature and no attestation"
	}
	return "the bundle is not signed, so nothing says who made it (run --sign KEY.pem --key-id ID signs)"
}

// signedBytes gives what the signature and what the attestation are over.
func signedBytes(tree map[string]any) (whole, over []byte, err error) {
	unsigned := map[string]any{}
	for name, v := range tree {
		if name != "signature" && name != "verifierSignature" {
			unsigned[name] = v
		}
	}
	if whole, err = canonical(unsigned); err != nil {
		return nil, nil, err
	}
	member := func(name, inner string) any {
		m, _ := tree[name].(map[string]any)
		return m[inner]
	}
	digest := member("discovery", "sha256")
	if digest == nil {
		digest = ""
	}
	over, err = canonical(map[string]any{
		"witnessSha256": tree["witnessSha256"], "host.build": member("host", "build"),
		"suite.version": member("suite", "version"), "discovery.sha256": digest,
	})
	return whole, over, err
}

// verifies is strict about the text: base64 in Go passes over line ends, so the form is held first.
func verifies(key ed25519.PublicKey, over []byte, sig string) bool {
	if len(sig) != base64.RawURLEncoding.EncodedLen(ed25519.SignatureSize) {
		return false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(sig)
	return err == nil && len(raw) == ed25519.SignatureSize && ed25519.Verify(key, over, raw)
}

// verifier settles the second signature. A bundle that claims independent evidence needs one by somebody else.
func (c *check) verifier(tree map[string]any, b bundle.Bundle, hostKey ed25519.PublicKey, whole []byte, o Options) {
	independent := slices.ContainsFunc(b.ClaimedProfiles, func(p bundle.Claim) bool { return p.EvidenceTier == bundle.TierIndependent })
	second, has := signedOf(tree["verifierSignature"])
	if !has {
		if independent {
			c.refuse(IndependentUnsigned, "/verifierSignature", "it claims independent evidence, and nobody but the host signed it")
		}
		return
	}
	c.report.Verifier.KeyID = second.keyID
	first, _ := signedOf(tree["signature"])
	at := "/verifierSignature"
	switch {
	case second.keyID == first.keyID, second.sig == first.sig, hostKey != nil && verifies(hostKey, whole, second.sig),
		hostKey != nil && hostKey.Equal(o.VerifierKey), o.VerifierKey != nil && c.hosts(tree, o.VerifierKey, o):
		c.report.Verifier.State = VerifierDisproved
		c.refuse(IndependentSelfSigned, at, "the verifier's key is the host's own")
	case o.VerifierKey == nil && independent:
		c.report.Verifier.State = VerifierUnresolved
		c.refuse(IndependentUnverifiable, at, "it claims independent evidence, and there is no key to check the verifier's signature with; give the verifier's public key")
	case o.VerifierKey == nil:
		c.report.Verifier.State = VerifierUnresolved
		c.note(NoteCountersigned, "there is a verifier's signature under %q, and no key to check it with", second.keyID)
	case weak(o.VerifierKey):
		c.report.Verifier.State = VerifierDisproved
		c.refuse(WeakKey, at+"/keyId", "the verifier's key that was given is a point of small order, under which anybody can sign")
	case !verifies(o.VerifierKey, whole, second.sig):
		c.report.Verifier.State = VerifierDisproved
		c.refuse(VerifierInvalid, at+"/sig", "it does not verify under the verifier's key that was given")
	case o.VerifierKeyID != "" && o.VerifierKeyID != second.keyID:
		c.report.Verifier.State = VerifierDisproved
		c.refuse(VerifierKeyIDMismatch, at+"/keyId", "the key that signed it goes by %q", o.VerifierKeyID)
	default:
		c.report.Verifier.State = VerifierVerified
		c.note(NoteCountersigned, "somebody else signed it too, under %q", second.keyID)
	}
}
