package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/boot"
	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/runner"
	"github.com/wopwitness/wopwitness/mockhost"
	"github.com/wopwitness/wopwitness/reports/bundle"
	"github.com/wopwitness/wopwitness/scenarios/registry"
)

func (p *program) certifyCommand() *cobra.Command {
	var (
		shared        sharedFlags
		store, defect string
		bare          bool
	)
	c := &cobra.Command{
		Use:   "certify",
		Short: "Boot the mock host, run every leg against it and write signed reports",
		Long: `Boot the mock host on this machine, run every leg against it over loopback, and write reports that are signed with a
fresh key. With --defect the host is wrong in one way, and the legs that notice say so.

On PostgreSQL two instances over one database are tested, which have nothing else in common. They are given a schema of
their own, which is dropped afterwards, unless the database's URL names one (search_path).`,
		Args: noArguments(""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := shared.options()
			if err != nil {
				return runner.Usage(err)
			}
			if err := checkDefect(cmd.Flags(), defect); err != nil {
				return runner.Usage(err)
			}
			o.Bare = bare
			return p.certify(cmd.Context(), o, store, defect)
		},
	}
	shared.register(c.Flags())
	c.Flags().StringVar(&store, "store", "memory", "where the host keeps its events: memory, sqlite:PATH or postgres://…")
	c.Flags().StringVar(&defect, "defect", "", "a way for the host to be wrong (docs/kill-matrix.md lists them)")
	c.Flags().BoolVar(&bare, "bare", false, "unsigned bundles and observations only, for the self-check, that reads nothing else")
	_ = c.Flags().MarkHidden("bare")
	return c
}

func (p *program) certify(ctx context.Context, o runner.Options, store, defect string) (err error) {
	debug.SetGCPercent(certifiedGC)
	own, release, err := boot.OwnStore(ctx, store)
	if err != nil {
		return runner.Usage(err)
	}
	defer func() { err = errors.Join(err, release()) }()
	config := mockhost.Config{
		Store: own, Seams: true, Clock: "manual", Defect: defect, Version: suiteVersion, ResumableLife: certifiedLife,
		Agent: mockhost.AgentNumbers{IntakeCapacity: certifiedCapacity + certifiedCapacity/2, QueueCapacity: certifiedCapacity},
	}
	if !o.Bare {
		key, err := bundle.NewKey("certify-fresh")
		if err != nil {
			return err
		}
		build, err := ownBuild()
		if err != nil {
			return err
		}
		o.Key, o.Build = &key, &build
		config.SigningKeys = []mockhost.SigningKey{{KeyID: key.ID, PublicKey: key.Published()}}
	}
	host, err := boot.Start(ctx, config, "127.0.0.1:0", true)
	if err != nil {
		return runner.Usage(err)
	}
	defer func() { err = errors.Join(err, host.Stop()) }()
	keys := host.Credentials
	o.Host.BaseURL, o.Host.PeerURL, o.Host.Restart = host.URL, host.PeerURL, host.Restart
	o.Host.KeyA, o.Host.KeyB, o.Host.KeyLow = keys.KeyA, keys.KeyB, keys.KeyLow
	o.Host.Workspace, o.Host.KeyWS = keys.Workspace, keys.KeyWS
	o.Ours = true
	p.exit, err = runner.Run(ctx, o, p.console(o.JSON))
	return err
}

// certifiedGC is how far, in percent, the heap may grow between collections. A run is short and observes megabytes once: to
// collect as often as a service does costs it a seventh of its processor time.
const certifiedGC = 400

// certifiedCapacity is what the agent worker and each of its queues hold: some legs fill them.
const certifiedCapacity = 24

// certifiedLife ends the streams of subscribers that said they can resume, so that what follows such an end is witnessed.
const certifiedLife = 60 * time.Millisecond

// ownBuild names this executable, which is the host that certify tests.
func ownBuild() (bundle.Build, error) {
	path, err := os.Executable()
	if err != nil {
		return bundle.Build{}, fmt.Errorf("find this executable: %w", err)
	}
	file, err := os.Open(path)
	if err != nil {
		return bundle.Build{}, fmt.Errorf("read this executable: %w", err)
	}
	defer func() { _ = file.Close() }()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return bundle.Build{}, fmt.Errorf("read this executable: %w", err)
	}
	return bundle.Build{Kind: "artifact-sha256", ID: hex.EncodeToString(sum.Sum(nil))}, nil
}

// checkDefect refuses a name that no defect has, with the nearest that one has. An empty one is a variable that was not
// set: it would be taken for a right host in silence.
func checkDefect(flags *pflag.FlagSet, name string) error {
	switch {
	case flags.Changed("defect") && name == "":
		return errors.New("--defect is empty: name a defect (docs/kill-matrix.md lists them), or leave it out for a right host")
	case name == "":
		return nil
	}
	var names []string
	for _, d := range mockhost.Defects() {
		if d.Name == name {
			return nil
		}
		names = append(names, d.Name)
	}
	return fmt.Errorf("--defect %q is not a defect%s (docs/kill-matrix.md lists them all)", name, registry.Nearest(name, names))
}
