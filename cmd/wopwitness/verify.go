package main

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/runner"
	"github.com/wopwitness/wopwitness/reports/bundle"
	"github.com/wopwitness/wopwitness/reports/ledger"
	"github.com/wopwitness/wopwitness/reports/render"
	"github.com/wopwitness/wopwitness/reports/verify"
)

// verifyFlags are what the operator brings to a bundle.
type verifyFlags struct {
	hostKey, discovery, verifierKey string
	countersign, keyID, out         string
	json                            bool
}

func (p *program) verifyCommand() *cobra.Command {
	var f verifyFlags
	c := &cobra.Command{
		Use:   "verify BUNDLE",
		Short: "Say what a bundle from somebody else is worth",
		Long: `Say what a bundle from somebody else is worth: whether it contradicts itself or its rules, whose key signed it, and
what it certifies.

Give the host's key as a file (--host-key), or its discovery document (--discovery, a file or an address). With neither,
the key is taken from the document inside the bundle: that shows that the bundle is whole, and not whose it is.

--countersign adds the signature of somebody who is not the host, for independent evidence: the bundle must verify under
a key that was given, and the result replaces BUNDLE unless --out names another file.

Exit codes: 0 nothing is refused and the signatures verify; 1 the bundle is refused, or the host does not publish the
key that signed it; 2 the command line is wrong; 3 nothing is refused, and there was no key to check the signatures with.`,
		Args: arguments("BUNDLE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd.Flags()); err != nil {
				return runner.Usage(err)
			}
			return p.verify(cmd.Context(), args[0], f)
		},
	}
	fs := c.Flags()
	fs.StringVar(&f.hostKey, "host-key", "", "the host's public key (PEM)")
	fs.StringVar(&f.discovery, "discovery", "", "the host's discovery document, a file or an http(s) address")
	fs.StringVar(&f.verifierKey, "verifier-key", "", "the public key (PEM) of whoever countersigned")
	fs.StringVar(&f.countersign, "countersign", "", "countersign with this private key (PEM)")
	fs.StringVar(&f.keyID, "key-id", "", "id of the countersigning key, or the id that the verifier's key must go by")
	fs.StringVar(&f.out, "out", "", "where the countersigned bundle goes (default BUNDLE itself)")
	fs.BoolVar(&f.json, "json", false, "as JSON on standard output")
	return c
}

// check refuses two sources of the host's key, and one that is empty: without any, a bundle verifies under the key that it
// brings itself.
func (f verifyFlags) check(flags *pflag.FlagSet) error {
	if err := checkGiven(flags, "host-key", "discovery", "verifier-key", "countersign"); err != nil {
		return err
	}
	if f.hostKey != "" && f.discovery != "" {
		return fmt.Errorf("--host-key %q and --discovery %q both say whose key is the host's: expected one of the two, as --discovery https://host.example/.well-known/openwop",
			f.hostKey, f.discovery)
	}
	return nil
}

func (p *program) verify(ctx context.Context, path string, f verifyFlags) error {
	raw, err := readFile(path)
	if err != nil {
		return runner.Usage(fmt.Errorf("bundle: %w", err))
	}
	o, err := f.options(ctx)
	if err != nil {
		return runner.Usage(err)
	}
	if f.countersign != "" {
		return p.countersign(raw, path, f, o)
	}
	r := verify.Bundle(raw, o)
	p.exit = verifyExit(r)
	return p.showVerified(r, f.json)
}

func (f verifyFlags) options(ctx context.Context) (verify.Options, error) {
	o := verify.Options{Now: time.Now()}
	var err error
	if o.Contract, err = runner.Contract(); err != nil {
		return o, err
	}
	if f.keyID != "" && f.countersign == "" {
		if f.verifierKey == "" {
			return o, errors.New("--key-id goes with --countersign or --verifier-key")
		}
		o.VerifierKeyID = f.keyID
	}
	if f.countersign != "" && f.keyID == "" {
		return o, errors.New("--countersign needs --key-id")
	}
	if f.out != "" && f.countersign == "" {
		return o, errors.New("--out goes with --countersign")
	}
	if o.HostKey, err = publicKey("--host-key", f.hostKey); err != nil {
		return o, err
	}
	if o.VerifierKey, err = publicKey("--verifier-key", f.verifierKey); err != nil {
		return o, err
	}
	if f.discovery != "" {
		o.Discovery, err = readDiscovery(ctx, f.discovery)
	}
	return o, err
}

func publicKey(flag, path string) (ed25519.PublicKey, error) {
	if path == "" {
		return nil, nil
	}
	text, err := readFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	key, err := bundle.ParsePublicKey(text)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", flag, path, err)
	}
	return key, nil
}

// readFile reads a file of at most a bundle's size and one byte, so that one that is too large is refused as such.
func readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return io.ReadAll(io.LimitReader(file, maxBundle+1))
}

// verifyExit gives the exit code of a verification.
func verifyExit(r verify.Report) int {
	switch {
	case r.Verdict == verify.Refused, r.Key.Outcome == verify.KeyUnpublished && r.Key.Source != verify.SourceEmbedded:
		return ledger.ExitFailed
	case r.Verdict == verify.Unresolved:
		return ledger.ExitBlocked
	}
	return ledger.ExitOK
}

func (p *program) showVerified(r verify.Report, asJSON bool) error {
	if asJSON {
		return writeJSON(p.output, r)
	}
	render.Verification(p.output, r, render.Painting(p.outputTerminal, p.env("NO_COLOR")))
	return nil
}

func (p *program) countersign(raw []byte, path string, f verifyFlags, o verify.Options) error {
	text, err := readFile(f.countersign)
	if err != nil {
		return runner.Usage(fmt.Errorf("--countersign: %w", err))
	}
	key, err := bundle.ParsePrivateKey(f.keyID, text)
	if err != nil {
		return runner.Usage(fmt.Errorf("--countersign %s: %w", f.countersign, err))
	}
	signed, r, err := verify.Countersign(raw, key, o)
	if err != nil {
		p.exit = ledger.ExitFailed
		return errors.Join(p.showVerified(r, f.json), err)
	}
	target := f.out
	if target == "" {
		target = path
	}
	if err := replaceFile(target, signed); err != nil {
		return runner.Usage(fmt.Errorf("write the countersigned bundle: %w", err))
	}
	fmt.Fprintf(p.messages, "countersigned as %s in %s\n", key.ID, render.Plain(target))
	return p.showVerified(r, f.json)
}

// replaceFile writes a file whole or not at all.
func replaceFile(path string, raw []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), ".wopwitness-*")
	if err != nil {
		return err
	}
	_, err = file.Write(raw)
	if err := errors.Join(err, file.Chmod(0o644), file.Close()); err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return os.Rename(file.Name(), path)
}
