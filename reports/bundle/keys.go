package bundle

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// keyIDForm is the grammar of a key id.
var keyIDForm = regexp.MustCompile(`^[A-Za-z0-9._~-]{1,128}$`)

// CheckKeyID refuses a key id that the wire's grammar does not allow.
func CheckKeyID(id string) error {
	if !keyIDForm.MatchString(id) {
		return fmt.Errorf("key id %q: expected 1 to 128 letters, digits, dots, underscores, tildes or hyphens", id)
	}
	return nil
}

// NewKey makes a fresh key of the given id.
func NewKey(id string) (Key, error) {
	if err := CheckKeyID(id); err != nil {
		return Key{}, err
	}
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return Key{}, fmt.Errorf("generate key: %w", err)
	}
	return Key{ID: id, Private: private}, nil
}

// Public is the key's public half.
func (k Key) Public() ed25519.PublicKey { return k.Private.Public().(ed25519.PublicKey) }

// Published is the public key as a host's discovery document has it under signingKeys: the raw 32 bytes in unpadded
// base64url.
func (k Key) Published() string { return base64.RawURLEncoding.EncodeToString(k.Public()) }

// PrivatePEM is the private key in PKCS #8.
func (k Key) PrivatePEM() ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(k.Private)
	if err != nil {
		return nil, fmt.Errorf("encode private key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

// PublicPEM is the public key in the form of RFC 5280's SubjectPublicKeyInfo.
func (k Key) PublicPEM() ([]byte, error) {
	der, err := x509.MarshalPKIXPublicKey(k.Public())
	if err != nil {
		return nil, fmt.Errorf("encode public key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), nil
}

// ParsePrivateKey reads an Ed25519 key in PKCS #8 PEM.
func ParsePrivateKey(id string, text []byte) (Key, error) {
	if err := CheckKeyID(id); err != nil {
		return Key{}, err
	}
	block, err := onlyBlock(text, "PRIVATE KEY block, as wopwitness keygen writes it")
	if err != nil {
		return Key{}, err
	}
	if block.Type == "ENCRYPTED PRIVATE KEY" || block.Headers["DEK-Info"] != "" {
		return Key{}, errors.New("the key is encrypted, and there is no way to give its passphrase; decrypt it first, as with openssl pkey -in FILE -out PLAIN")
	}
	if strings.HasSuffix(block.Type, "PUBLIC KEY") {
		return Key{}, errors.New("this is a public key; sign with the private one")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return Key{}, fmt.Errorf("the PEM block %q is not a PKCS #8 private key: %w", block.Type, err)
	}
	private, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return Key{}, fmt.Errorf("the key is a %T; bundles are signed with Ed25519", parsed)
	}
	return Key{ID: id, Private: private}, nil
}

// onlyBlock gives the one PEM block of a file. Of two keys nobody could say which was meant.
func onlyBlock(text []byte, expected string) (*pem.Block, error) {
	block, rest := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("not a PEM file: expected a %s", expected)
	}
	if another, _ := pem.Decode(rest); another != nil {
		return nil, fmt.Errorf("the file holds more than one PEM block (%q and %q): leave the one that is meant", block.Type, another.Type)
	}
	return block, nil
}

// ParsePublicKey reads an Ed25519 public key in PEM.
func ParsePublicKey(text []byte) (ed25519.PublicKey, error) {
	block, err := onlyBlock(text, "PUBLIC KEY block")
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(block.Type, "PRIVATE KEY") {
		return nil, errors.New("this is a private key; give the public one (keygen writes it beside the private one, as its name and .pub)")
	}
	parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("the PEM block %q is not a public key: %w", block.Type, err)
	}
	public, ok := parsed.(ed25519.PublicKey)
	if !ok {
		return nil, fmt.Errorf("the key is a %T; bundles are signed with Ed25519", parsed)
	}
	return public, nil
}
