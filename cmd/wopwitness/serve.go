package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/boot"
	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/runner"
	"github.com/wopwitness/wopwitness/mockhost"
)

func (p *program) serveCommand() *cobra.Command {
	var (
		config    mockhost.Config
		addr      string
		rateLimit string
		supervise bool
		turn      string
	)
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve the mock host, to write and test clients against",
		Long: `Serve the mock host: two tenants with stable keys, host events with strict replay on both protocol majors' discovery,
and on demand CORS, a short life of streams, a short retention, a clock to move and defects to switch on.`,
		Example: `  wopwitness serve --seams --clock manual
  wopwitness serve --addr 127.0.0.1:8080 --store sqlite:events.db --stream-life 30s
  wopwitness serve --seams --supervise --store sqlite:events.db`,
		Args: noArguments("--addr"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkServed(cmd.Flags(), &config, rateLimit); err != nil {
				return runner.Usage(err)
			}
			if supervise {
				return p.supervise(cmd, addr, config.Store)
			}
			listen := func() (net.Listener, error) { return boot.Listen(cmd.Context(), addr) }
			if turn != "" {
				config.Kill, listen = killSelf, fromSupervisor
			}
			config.Version = suiteVersion
			config.Models.Key = os.Getenv(modelKey)
			config.Logger = slog.New(slog.NewTextHandler(p.messages, nil))
			return p.serve(cmd.Context(), config, listen, turn != turnAgain)
		},
	}
	fs := c.Flags()
	fs.StringVar(&addr, "addr", "127.0.0.1:8077", "address to listen on; port 0 takes a free one")
	fs.StringVar(&config.Store, "store", "memory", "where events are kept: memory, sqlite:PATH or postgres://… (its schema public, or that of search_path, where the tables stay when the host ends)")
	fs.StringVar(&config.Clock, "clock", "real", "real, or manual: one that the clock seam moves")
	fs.BoolVar(&config.Seams, "seams", false, "mount the seams by which a suite causes what production operations can't")
	fs.StringVar(&config.KeyA, "key-a", "local-key-of-tenant-a", "key of the first tenant")
	fs.StringVar(&config.KeyB, "key-b", "local-key-of-tenant-b", "key of the second tenant")
	fs.StringVar(&config.KeyLow, "key-low", "local-key-without-read", "key of the first tenant without runs:read")
	fs.DurationVar(&config.MinRetention, "min-retention", time.Hour, "how long an event can be resumed from, as advertised; whole seconds, at least one")
	fs.IntVar(&config.RetentionDays, "retention-days", 7, "days for which dead letters are kept, at least one")
	fs.DurationVar(&config.StreamLife, "stream-life", 0, "end each stream after this time; 0 never does")
	fs.StringVar(&rateLimit, "rate-limit", "", "triggers a second that a tenant may send, N or N/s, as 5/s; without it there is no limit")
	fs.StringVar(&config.CORSOrigin, "cors", "", "origin of a page that may call the host, as http://127.0.0.1:8000; * for any")
	fs.StringVar(&config.Models.Model, "model-url", "", "model server that decides what the agent worker's runs do next, instead of the script; its key is taken from "+modelKey)
	fs.StringVar(&config.Models.Classifier, "classifier-url", "", "model server that classifies the failures which the rules can't tell apart")
	fs.StringVar(&config.Models.Repairer, "repairer-url", "", "model server that is asked for a repair where the rules are not sure of theirs")
	fs.StringVar(&config.OTLP, "otlp", "", "collector to send the agent worker's metrics and traces to by OTLP over HTTP, as http://127.0.0.1:4318; with --seams")
	fs.BoolVar(&config.Console, "console", true, "serve a page under /console/ on which the host can be watched and moved")
	fs.DurationVar(&config.Agent.ToolTimeout, "tool-timeout", 5*time.Second, "how long the agent worker waits for a tool's answer")
	fs.StringVar(&config.Defect, "defect", "", "a way for the host to be wrong (docs/kill-matrix.md lists them)")
	fs.BoolVar(&supervise, "supervise", false, "serve from a process of its own, and start it again when it dies; with --seams it can be killed by one")
	fs.StringVar(&turn, "supervised", "", "set by --supervise for the process that it starts")
	_ = fs.MarkHidden("supervised") // it is there
	config.KeyWS = "local-key-of-workspace"
	return c
}

// modelKey is the variable with the key that model servers are sent.
const modelKey = "WOPWITNESS_MODEL_KEY"

func (p *program) serve(ctx context.Context, config mockhost.Config, listen func() (net.Listener, error), invites bool) (err error) {
	listener, err := listen()
	if err != nil {
		return runner.Usage(err)
	}
	host, err := boot.On(ctx, config, listener)
	if err != nil {
		return runner.Usage(err)
	}
	defer func() { err = errors.Join(err, host.Stop()) }()
	if invites {
		invitation(p.output, host, config)
	}
	if err := host.Wait(ctx); err != nil {
		return err
	}
	fmt.Fprintln(p.messages, "stopping")
	return nil
}

// hidden says whether a host's defect is in a part of it that isn't there.
func hidden(config mockhost.Config) bool {
	return !config.Seams && slices.ContainsFunc(mockhost.Defects(), func(d mockhost.DefectInfo) bool { return d.Name == config.Defect && d.RFC == "agentdlq" })
}

// invitation prints commands that work as they stand.
func invitation(out io.Writer, host *boot.Host, config mockhost.Config) {
	k := host.Credentials
	fmt.Fprintf(out, "mock host at %s\n", host.URL)
	if config.Defect != "" {
		fmt.Fprintf(out, "with the defect %s\n", config.Defect)
		if hidden(config) {
			fmt.Fprintln(out, "  it is one of the agent worker, which only --seams mounts: without that nobody can see it")
		}
	}
	fmt.Fprintf(out, "\n  tenant %-12s key %s\n  tenant %-12s key %s\n  without runs:read    key %s\n  workspace %-9s  key %s\n",
		k.TenantA, k.KeyA, k.TenantB, k.KeyB, k.KeyLow, k.Workspace, k.KeyWS)
	if config.Console {
		fmt.Fprintf(out, "\nWatch it and move it in a browser, with the first key: %s%s\n", host.URL, mockhost.ConsolePath)
	}
	fmt.Fprintf(out, `
Read the events:
  curl -N -H 'OpenWOP-Version: 2' -H 'Authorization: Bearer %[2]s' %[1]s/host/events

Cause one:
  curl -X POST -H 'OpenWOP-Version: 2' -H 'Authorization: Bearer %[2]s' -H 'Content-Type: application/json' \
    -d '{"delivery":"durable"}' %[1]s/host/events/test

Resume after one (put its eventId for ID):
  curl -N -H 'OpenWOP-Version: 2' -H 'Authorization: Bearer %[2]s' -H 'Last-Event-ID: ID' '%[1]s/host/events?replay=required'

Test it:
  wopwitness run --host %[1]s --key %[2]s --key-b %[3]s --key-low %[4]s --workspace %[5]s --key-ws %[6]s

Ctrl-C stops it.
`, host.URL, k.KeyA, k.KeyB, k.KeyLow, k.Workspace, k.KeyWS)
}

// checkServed reads the rate, and refuses what the configuration would take for a value that was left out.
func checkServed(flags *pflag.FlagSet, config *mockhost.Config, rateLimit string) error {
	for _, k := range []struct{ flag, key string }{{"--key-a", config.KeyA}, {"--key-b", config.KeyB}, {"--key-low", config.KeyLow}} {
		if k.key == "" {
			return fmt.Errorf("%s is empty: leave it out for the usual key", k.flag)
		}
	}
	switch {
	case config.MinRetention < time.Second:
		return fmt.Errorf("--min-retention %s: it must be whole seconds, at least one", config.MinRetention)
	case config.Agent.ToolTimeout <= 0:
		return fmt.Errorf("--tool-timeout %s: it must be above zero", config.Agent.ToolTimeout)
	case config.RetentionDays < 1:
		return fmt.Errorf("--retention-days %d: it must be at least one", config.RetentionDays)
	case flags.Changed("otlp") && config.OTLP == "":
		return errors.New("--otlp is empty: it is a collector's address, as http://127.0.0.1:4318")
	case config.Models != mockhost.ModelServers{} && !config.Seams:
		return errors.New("--model-url, --classifier-url and --repairer-url are for the agent worker, which is there with --seams only")
	case config.OTLP != "" && !config.Seams:
		return errors.New("--otlp tells of the agent worker, which is there with --seams only")
	case flags.Changed("cors") && config.CORSOrigin == "":
		return errors.New("--cors is empty: it is * or an origin, as http://127.0.0.1:8000")
	}
	var err error
	if config.RateLimit, err = parseRate(rateLimit); err != nil {
		return err
	}
	return checkDefect(flags, config.Defect)
}

// parseRate reads "N" or "N/s"; "" is no limit.
func parseRate(text string) (float64, error) {
	if text == "" {
		return 0, nil
	}
	rate, err := strconv.ParseFloat(strings.TrimSuffix(text, "/s"), 64)
	if err != nil || !(rate > 0) || math.IsInf(rate, 0) {
		return 0, fmt.Errorf("--rate-limit %q: expected a number of triggers a second above zero, as 5 or 5/s", text)
	}
	return rate, nil
}
