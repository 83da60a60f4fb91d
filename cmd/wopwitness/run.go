package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/runner"
	"github.com/wopwitness/wopwitness/reports/bundle"
	"github.com/wopwitness/wopwitness/reports/ledger"
	"github.com/wopwitness/wopwitness/scenarios"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// runFlags are the flags that only a run against somebody's host has.
type runFlags struct {
	shared sharedFlags

	host, key, keyB, keyLow, workspace, keyWS string
	targetMajor                               string
	sign, keyID, build, tier                  string
	requireBehavior, noClock                  bool
	optOut                                    []string
	peerURL, restartCmd, canary, ca           string
	headers                                   []string
}

func (p *program) runCommand() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run --host URL --key KEY --key-b KEY",
		Short: "Test a host and say what it does right and wrong",
		Long: `Test a host over HTTP and give a verdict per requirement.

Every flag that names a host or a key has a variable beside it; the flag wins. Two keys of two tenants are needed for
what concerns other tenants; without the second those requirements don't apply.

Environment: OPENWOP_BASE_URL, OPENWOP_API_KEY, OPENWOP_TEST_TENANT_B_API_KEY, OPENWOP_TEST_LOW_SCOPE_KEY,
OPENWOP_REQUIRE_BEHAVIOR, OPENWOP_OPTED_OUT_PROFILES, OPENWOP_HOST_RELAXATIONS, OPENWOP_IMPLEMENTATION_NAME,
OPENWOP_IMPLEMENTATION_VERSION, OPENWOP_IMPLEMENTATION_VENDOR, OPENWOP_CANARY_SECRET_VALUE.`,
		Example: `  wopwitness run --host https://host.example --key "$KEY_A" --key-b "$KEY_B"
  wopwitness run --host http://127.0.0.1:8080 --key "$KEY_A" --leg '0250.refusal-*' --trace`,
		Args: noArguments("--host"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := p.runOptions(cmd, f)
			if err != nil {
				return runner.Usage(err)
			}
			p.exit, err = runner.Run(cmd.Context(), o, p.console(o.JSON))
			return err
		},
	}
	fs := c.Flags()
	f.shared.register(fs)
	fs.StringVar(&f.host, "host", "", "base URL of the host (OPENWOP_BASE_URL)")
	fs.StringVar(&f.key, "key", "", "key of the first tenant (OPENWOP_API_KEY)")
	fs.StringVar(&f.keyB, "key-b", "", "key of a second tenant (OPENWOP_TEST_TENANT_B_API_KEY)")
	fs.StringVar(&f.keyLow, "key-low", "", "valid key without the scope runs:read (OPENWOP_TEST_LOW_SCOPE_KEY)")
	fs.StringVar(&f.workspace, "workspace", "", "a workspace of the first tenant")
	fs.StringVar(&f.keyWS, "key-ws", "", "key bound to that workspace")
	fs.StringVar(&f.targetMajor, "target-major", "", "1, 2 or all (default: every major that the host serves)")
	fs.StringVar(&f.sign, "sign", "", "sign the bundles with this Ed25519 key (PEM file)")
	fs.StringVar(&f.keyID, "key-id", "", "id of the signing key, as the host publishes it")
	fs.StringVar(&f.build, "build", "", "what is tested: commit:SHA, image-digest:… or artifact-sha256:…; without it nothing is certified")
	fs.StringVar(&f.tier, "evidence-tier", bundle.TierSelf, "who runs the suite: self, steward or independent (the last needs verify --countersign)")
	fs.BoolVar(&f.requireBehavior, "require-behavior", false, "what the host does not advertise counts as failed (OPENWOP_REQUIRE_BEHAVIOR)")
	fs.StringArrayVar(&f.optOut, "opt-out", nil, "profile, RFC or leg pattern that is not claimed (OPENWOP_OPTED_OUT_PROFILES)")
	fs.StringVar(&f.peerURL, "peer-url", "", "base URL of a second instance of the same host")
	fs.StringVar(&f.restartCmd, "restart-cmd", "", "command that replaces the host's process")
	fs.BoolVar(&f.noClock, "no-clock", false, "never move the host's clock")
	fs.StringVar(&f.canary, "canary-value", "", "secret that must show nowhere (OPENWOP_CANARY_SECRET_VALUE)")
	fs.StringVar(&f.ca, "ca", "", "PEM file of certificate authorities to trust besides the system's")
	fs.StringArrayVar(&f.headers, "header", nil, "'Name: value' to send with every request")
	return c
}

// runOptions puts flags and environment together; a flag that was given wins.
func (p *program) runOptions(cmd *cobra.Command, f runFlags) (runner.Options, error) {
	flag := func(name, value, variable string) string {
		if cmd.Flags().Changed(name) {
			return value
		}
		return p.env(variable)
	}
	headers, err := parseHeaders(f.headers)
	if err != nil {
		return runner.Options{}, err
	}
	majors, err := parseMajors(f.targetMajor)
	if err != nil {
		return runner.Options{}, err
	}
	if err := ledger.CheckNames("--opt-out", f.optOut); err != nil {
		return runner.Options{}, err
	}
	o, err := f.shared.options()
	if err != nil {
		return runner.Options{}, err
	}
	strict := f.requireBehavior
	if !cmd.Flags().Changed("require-behavior") {
		if strict, err = p.yes("OPENWOP_REQUIRE_BEHAVIOR"); err != nil {
			return o, err
		}
	}
	o.Policy = ledger.Policy{Strict: strict, OptedOut: f.optOut}
	if !cmd.Flags().Changed("opt-out") {
		o.Policy.OptedOut = p.listed("OPENWOP_OPTED_OUT_PROFILES")
		if err := ledger.CheckNames("OPENWOP_OPTED_OUT_PROFILES", o.Policy.OptedOut); err != nil {
			return o, err
		}
	}
	volume, quiet, event := o.Host.Volume, o.Host.Quiet, o.Host.EventTimeout
	o.Host = scenarios.Config{
		BaseURL: flag("host", f.host, "OPENWOP_BASE_URL"),
		KeyA:    flag("key", f.key, "OPENWOP_API_KEY"),
		KeyB:    flag("key-b", f.keyB, "OPENWOP_TEST_TENANT_B_API_KEY"),
		KeyLow:  flag("key-low", f.keyLow, "OPENWOP_TEST_LOW_SCOPE_KEY"), Workspace: f.workspace, KeyWS: f.keyWS,
		PeerURL: f.peerURL, RestartCmd: f.restartCmd, CAFile: f.ca, Headers: headers,
		Volume: volume, Quiet: quiet, EventTimeout: event, NoClock: f.noClock,
		CanaryValue:  flag("canary-value", f.canary, "OPENWOP_CANARY_SECRET_VALUE"),
		ExpiredRunID: p.env("OPENWOP_TEST_EXPIRED_RUN_ID"), ForceExpireURL: p.env("OPENWOP_TEST_FORCE_EXPIRE_URL"),
		ForceExpireMethod: p.env("OPENWOP_TEST_FORCE_EXPIRE_METHOD"),
	}
	if o.Host.BaseURL == "" {
		return o, errors.New("no host: give --host URL or OPENWOP_BASE_URL")
	}
	given := "--host"
	if !cmd.Flags().Changed("host") {
		given = "OPENWOP_BASE_URL"
	}
	if err := checkBaseURL(given, o.Host.BaseURL); err != nil {
		return o, err
	}
	if f.peerURL != "" {
		if err := checkPeerURL(f.peerURL, o.Host.BaseURL); err != nil {
			return o, err
		}
	}
	if o.Host.KeyA == "" {
		return o, errors.New("no key: give --key or OPENWOP_API_KEY")
	}
	if err := checkForceExpire(o.Host.ForceExpireURL, o.Host.ForceExpireMethod); err != nil {
		return o, err
	}
	if (f.workspace == "") != (f.keyWS == "") {
		return o, errors.New("--workspace and --key-ws go together: a workspace and a key bound to it")
	}
	o.Majors = majors
	o.Relaxations = p.listed("OPENWOP_HOST_RELAXATIONS")
	o.HostName, o.HostVersion = p.env("OPENWOP_IMPLEMENTATION_NAME"), p.env("OPENWOP_IMPLEMENTATION_VERSION")
	o.HostVendor = p.env("OPENWOP_IMPLEMENTATION_VENDOR")
	return o, f.signing(&o)
}

// signing reads the build and the key.
func (f runFlags) signing(o *runner.Options) error {
	if !slices.Contains([]string{bundle.TierSelf, bundle.TierSteward, bundle.TierIndependent}, f.tier) {
		return fmt.Errorf("--evidence-tier %q: expected self, steward or independent", f.tier)
	}
	o.EvidenceTier = f.tier
	if f.build != "" {
		build, err := parseBuild(f.build)
		if err != nil {
			return err
		}
		o.Build = &build
	}
	switch {
	case f.sign == "" && f.keyID == "":
		return nil
	case f.sign == "" || f.keyID == "":
		return errors.New("--sign and --key-id go together: a key and the id it is published under")
	}
	text, err := os.ReadFile(f.sign)
	if err != nil {
		return fmt.Errorf("--sign: %w", err)
	}
	key, err := bundle.ParsePrivateKey(f.keyID, text)
	if err != nil {
		return fmt.Errorf("--sign %s: %w", f.sign, err)
	}
	o.Key = &key
	return nil
}

func parseMajors(text string) ([]int, error) {
	switch text {
	case "":
		return nil, nil
	case "1":
		return []int{1}, nil
	case "2":
		return []int{2}, nil
	case "all":
		return []int{1, 2}, nil
	}
	return nil, fmt.Errorf("--target-major %q: expected 1, 2 or all", text)
}

func parseHeaders(texts []string) ([]observe.Header, error) {
	var headers []observe.Header
	for _, text := range texts {
		name, value, ok := strings.Cut(text, ":")
		if name = strings.TrimSpace(name); !ok || name == "" {
			return nil, fmt.Errorf("--header %q: expected 'Name: value'", text)
		}
		headers = append(headers, observe.Header{Name: name, Value: strings.TrimSpace(value)})
	}
	return headers, nil
}
