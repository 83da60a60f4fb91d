package bundle

import "fmt"

// Countersign adds the verifier's signature, which is over the same bytes as the signature.
func (b *Bundle) Countersign(key Key) error {
	whole, err := b.SignedBytes()
	if err != nil {
		return fmt.Errorf("countersign bundle: %w", err)
	}
	b.VerifierSignature = &Signature{Alg: Algorithm, KeyID: key.ID, Sig: signature(key, whole)}
	return nil
}
