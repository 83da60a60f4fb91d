package bundle_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"slices"
	"strings"
	"testing"

	"github.com/wopwitness/wopwitness/reports/bundle"
	"github.com/wopwitness/wopwitness/scenarios/registry"
)

func signed(t *testing.T) (bundle.Bundle, bundle.Key) {
	t.Helper()
	key, err := bundle.NewKey("k-1")
	if err != nil {
		t.Fatal(err)
	}
	b, err := bundle.New(wholeProfile(nil), someFacts())
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Sign(key); err != nil {
		t.Fatal(err)
	}
	return b, key
}

func TestSignaturesHoldUntilSomethingChanges(t *testing.T) {
	tests := map[string]struct {
		change              func(*bundle.Bundle)
		attestation, entire bool
	}{
		"nothing changed":           {func(*bundle.Bundle) {}, true, true},
		"the host's name":           {func(b *bundle.Bundle) { b.Host.Name = "another" }, true, false},
		"the target major":          {func(b *bundle.Bundle) { b.Suite.TargetMajor = 1 }, true, false},
		"what is certified":         {func(b *bundle.Bundle) { b.ClaimedProfiles[0].Certified = false }, true, false},
		"a row":                     {func(b *bundle.Bundle) { b.Results.Requirements[0].Result = registry.Fail }, true, false},
		"the witness digest":        {func(b *bundle.Bundle) { b.WitnessSha256 = strings.Repeat("0", 64) }, false, false},
		"the build":                 {func(b *bundle.Bundle) { b.Host.Build = &bundle.Build{Kind: "commit", ID: "other"} }, false, false},
		"the suite's version":       {func(b *bundle.Bundle) { b.Suite.Version = "9" }, false, false},
		"the discovery digest":      {func(b *bundle.Bundle) { b.Discovery.Sha256 = strings.Repeat("0", 64) }, false, false},
		"a verifier signs as well":  {func(b *bundle.Bundle) { b.VerifierSignature = &bundle.Signature{Alg: "ed25519"} }, true, true},
		"the attestation's own key": {func(b *bundle.Bundle) { b.Attestation.KeyID = "k-2" }, true, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b, key := signed(t)
			tt.change(&b)
			if err := b.CheckAttestation(key.Public()); (err == nil) != tt.attestation {
				t.Errorf("attestation: %v, want it to hold: %v", err, tt.attestation)
			}
			if err := b.CheckSignature(key.Public()); (err == nil) != tt.entire {
				t.Errorf("signature: %v, want it to hold: %v", err, tt.entire)
			}
		})
	}
}

func TestSignaturesAreOneKeys(t *testing.T) {
	b, _ := signed(t)
	_, other := signed(t)
	if err := b.CheckSignature(other.Public()); err == nil {
		t.Error("a signature verifies under another key")
	}
	b.Signature.Sig += "="
	if err := b.CheckSignature(other.Public()); err == nil || !strings.Contains(err.Error(), "unpadded base64url") {
		t.Errorf("padding is let through: %v", err)
	}
	if want := "witnessSha256 host.build suite.version discovery.sha256"; strings.Join(b.Attestation.Over, " ") != want {
		t.Errorf("over %v", b.Attestation.Over)
	}
}

func TestSignRefusesWhatNamesNoBuild(t *testing.T) {
	facts := someFacts()
	facts.Build = nil
	b, err := bundle.New(nil, facts)
	if err != nil {
		t.Fatal(err)
	}
	key, _ := bundle.NewKey("k")
	if err := b.Sign(key); err == nil || b.Signature != nil {
		t.Errorf("signed without a build: %v", err)
	}
}

func TestKeysReadBack(t *testing.T) {
	key, err := bundle.NewKey("k-1")
	if err != nil {
		t.Fatal(err)
	}
	private, err := key.PrivatePEM()
	if err != nil {
		t.Fatal(err)
	}
	again, err := bundle.ParsePrivateKey("k-1", private)
	if err != nil || !again.Private.Equal(key.Private) {
		t.Errorf("private key: %v", err)
	}
	text, err := key.PublicPEM()
	if err != nil {
		t.Fatal(err)
	}
	public, err := bundle.ParsePublicKey(text)
	if err != nil || !public.Equal(key.Public()) {
		t.Errorf("public key: %v", err)
	}
	if n := len(key.Published()); n != 43 {
		t.Errorf("published in %d characters, want 43", n)
	}
}

func TestKeysOfAnotherKindAreRefused(t *testing.T) {
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(ec)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"no PEM":          "hello",
		"another key":     string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
		"not a key's DER": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte{1}})),
	} {
		if _, err := bundle.ParsePrivateKey("k", []byte(text)); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	if _, err := bundle.NewKey("a key"); err == nil {
		t.Error("an id with a space is taken")
	}
}

func TestParseBuild(t *testing.T) {
	for text, want := range map[string]bundle.Build{
		"commit:3f2a": {Kind: "commit", ID: "3f2a"}, "image-digest:sha256:ab": {Kind: "image-digest", ID: "sha256:ab"},
		"artifact-sha256:00": {Kind: "artifact-sha256", ID: "00"},
	} {
		if got, err := bundle.ParseBuild(text); err != nil || got != want {
			t.Errorf("%s: got %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "commit", "commit:", "tag:v1", ":x"} {
		if _, err := bundle.ParseBuild(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

func TestTheWrongHalfOfAKeyIsNamedAsSuch(t *testing.T) {
	key, err := bundle.NewKey("k-1")
	if err != nil {
		t.Fatal(err)
	}
	private, err := key.PrivatePEM()
	if err != nil {
		t.Fatal(err)
	}
	public, err := key.PublicPEM()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bundle.ParsePublicKey(public); err != nil {
		t.Error(err)
	}
	if _, err := bundle.ParsePublicKey(private); err == nil || !strings.HasPrefix(err.Error(), "this is a private key; give the public one") {
		t.Errorf("got %v", err)
	}
	if _, err := bundle.ParsePrivateKey("k-1", public); err == nil || err.Error() != "this is a public key; sign with the private one" {
		t.Errorf("got %v", err)
	}
	if _, err := bundle.ParsePublicKey(slices.Concat(public, public)); err == nil || !strings.HasPrefix(err.Error(), "the file holds more than one PEM block") {
		t.Errorf("two public keys: %v", err)
	}
	if _, err := bundle.ParsePrivateKey("k-1", slices.Concat(private, public)); err == nil || !strings.HasPrefix(err.Error(), "the file holds more than one PEM block") {
		t.Errorf("both halves in one file: %v", err)
	}
	locked := pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: []byte{1}})
	if _, err := bundle.ParsePrivateKey("k-1", locked); err == nil || !strings.HasPrefix(err.Error(), "the key is encrypted") {
		t.Errorf("an encrypted key: %v", err)
	}
}
