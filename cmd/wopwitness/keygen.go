package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/runner"
	"github.com/wopwitness/wopwitness/reports/bundle"
)

func (p *program) keygenCommand() *cobra.Command {
	var out, id string
	c := &cobra.Command{
		Use:   "keygen --out FILE",
		Short: "Make an Ed25519 key to sign bundles with",
		Long: `Make an Ed25519 key to sign bundles with.

The private key is written to FILE (PKCS #8 PEM, for its owner only), the public key to FILE.pub. What a host publishes
under signingKeys in its discovery document is printed.`,
		Args: noArguments(""),
		RunE: func(*cobra.Command, []string) error {
			key, err := bundle.NewKey(id)
			if err != nil {
				return runner.Usage(err)
			}
			if out == "" {
				return runner.Usage(errors.New("--out is empty: it names the file of the private key"))
			}
			if err := writeKey(key, out); err != nil {
				return runner.Usage(err)
			}
			published, err := json.MarshalIndent(map[string]string{
				"keyId": key.ID, "alg": bundle.Algorithm, "publicKey": key.Published(), "use": "certification-bundle",
			}, "", "  ")
			if err != nil {
				return fmt.Errorf("print key: %w", err)
			}
			fmt.Fprintf(p.messages, "private key in %s, public key in %s.pub; for the host's signingKeys:\n", out, out)
			_, err = fmt.Fprintf(p.output, "%s\n", published)
			return err
		},
	}
	c.Flags().StringVar(&out, "out", "wopwitness-key.pem", "file of the private key")
	c.Flags().StringVar(&id, "key-id", "wopwitness-1", "id of the key")
	return c
}

// writeKey never writes over a key: one that signed something can't be made again.
func writeKey(key bundle.Key, path string) error {
	private, err := key.PrivatePEM()
	if err != nil {
		return err
	}
	public, err := key.PublicPEM()
	if err != nil {
		return err
	}
	files := []struct {
		path string
		mode fs.FileMode
		text []byte
	}{{path, 0o600, private}, {path + ".pub", 0o644, public}}
	for _, f := range files { // all of them first: half a pair is of no use
		if _, err := os.Lstat(f.path); err == nil {
			return taken(f.path)
		}
	}
	for _, f := range files {
		if err := writeNew(f.path, f.mode, f.text); err != nil {
			return err
		}
	}
	return nil
}

func taken(path string) error {
	return fmt.Errorf("%s exists and is not overwritten; --out names another file", path)
}

func writeNew(path string, mode fs.FileMode, text []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if errors.Is(err, fs.ErrExist) {
		return taken(path)
	}
	if err != nil {
		return fmt.Errorf("write key: %w", err)
	}
	_, err = file.Write(text)
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("write key: %w", err)
	}
	return nil
}
