package bundle

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
)

// Algorithm is the only signature algorithm of a bundle.
const Algorithm = "ed25519"

// attested are the names of the four values that an attestation is over, in their order.
func attested() []string {
	return []string{"witnessSha256", "host.build", "suite.version", "discovery.sha256"}
}

// Key is a named Ed25519 private key.
type Key struct {
	ID      string
	Private ed25519.PrivateKey
}

// Sign adds the attestation and then the signature over the whole. It refuses a bundle that doesn't say what was
// tested: a signature over no build binds nothing.
func (b *Bundle) Sign(key Key) error {
	if b.Host.Build == nil {
		return errors.New("sign bundle: it names no build; give --build")
	}
	b.Host.SigningKeyID = key.ID
	attestation, err := b.attestationBytes()
	if err != nil {
		return fmt.Errorf("sign bundle: %w", err)
	}
	b.Attestation = &Attestation{Alg: Algorithm, KeyID: key.ID, Sig: signature(key, attestation), Over: attested()}
	whole, err := b.SignedBytes()
	if err != nil {
		return fmt.Errorf("sign bundle: %w", err)
	}
	b.Signature = &Signature{Alg: Algorithm, KeyID: key.ID, Sig: signature(key, whole)}
	return nil
}

func signature(key Key, over []byte) string {
	return base64.RawURLEncoding.EncodeToString(ed25519.Sign(key.Private, over))
}

// attestationBytes is the canonical JSON of the object with exactly the four attested members, named literally.
func (b Bundle) attestationBytes() ([]byte, error) {
	discovery := ""
	if b.Discovery != nil {
		discovery = b.Discovery.Sha256
	}
	return canonicalOf(map[string]any{
		"witnessSha256":    b.WitnessSha256,
		"host.build":       b.Host.Build,
		"suite.version":    b.Suite.Version,
		"discovery.sha256": discovery,
	})
}

// SignedBytes is what the signature is over: the canonical JSON of the bundle without signature and verifierSignature.
func (b Bundle) SignedBytes() ([]byte, error) {
	b.Signature, b.VerifierSignature = nil, nil
	return canonicalOf(b)
}

// CheckAttestation says whether the attestation verifies under the public key.
func (b Bundle) CheckAttestation(public ed25519.PublicKey) error {
	if b.Attestation == nil {
		return errors.New("the bundle has no attestation")
	}
	over, err := b.attestationBytes()
	if err != nil {
		return err
	}
	return check("attestation", public, over, b.Attestation.Sig)
}

// CheckSignature says whether the signature over the whole bundle verifies under the public key.
func (b Bundle) CheckSignature(public ed25519.PublicKey) error {
	if b.Signature == nil {
		return errors.New("the bundle has no signature")
	}
	over, err := b.SignedBytes()
	if err != nil {
		return err
	}
	return check("signature", public, over, b.Signature.Sig)
}

func check(what string, public ed25519.PublicKey, over []byte, sig string) error {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(sig)
	if err != nil {
		return fmt.Errorf("the %s is not unpadded base64url: %w", what, err)
	}
	if len(public) != ed25519.PublicKeySize || !ed25519.Verify(public, over, raw) {
		return fmt.Errorf("the %s does not verify under this key", what)
	}
	return nil
}
