package scenarios

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"sync"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/formatter"
	"github.com/onsi/gomega"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/seams/client"
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/judges"
)

// run is one run over one host: what the legs share. They share the client and what has been learnt of the host's pace;
// they never share an event, a stream or a cursor.
type run struct {
	ctx     context.Context
	config  Config
	host    HostFacts
	problem *Problem
	client  *client.Client
	peer    *client.Client
	judges  map[registry.LegID]witness.Judge
	specs   []spec
	pace    pace
	sights  sights
	tenants sync.Once
	tenancy tenancy
	vain    vain
}

// errInterrupted is the cause of a context that a person cancelled, in contrast to a time limit.
var errInterrupted = errors.New("interrupted")

// Interrupted is the cause to cancel a run's context with when a person stops it.
func Interrupted() error { return errInterrupted }

func (r *run) interrupted() bool {
	return r.ctx.Err() != nil && errors.Is(context.Cause(r.ctx), errInterrupted)
}

func (r *run) progress(e Event) {
	if r.config.Progress != nil {
		r.config.Progress(e)
	}
}

// Run drives the cases of the configuration, one after another, and gives an entry for each that got as far as one.
// Ginkgo allows it once a process. It never fails as such: a host that cannot be spoken to is the outcome's Problem.
func Run(ctx context.Context, config Config, host HostFacts) Outcome {
	r, err := newRun(ctx, config, host)
	if err != nil {
		return Outcome{Host: host, Problem: &Problem{Reason: registry.Unreadable, Says: err.Error()}}
	}
	outcome := Outcome{Host: host}
	entries := r.build()
	// Ginkgo offers no way to leave its own console report out, and this run prints its own.
	formatter.ColorableStdOut = io.Discard
	suite, reporter := ginkgo.GinkgoConfiguration()
	suite.RandomSeed = 1
	reporter.Succinct, reporter.NoColor = true, true
	ginkgo.RunSpecs(bystander{}, "wopwitness", suite, reporter)
	outcome.Entries = entries()
	outcome.Interrupted = r.interrupted()
	outcome.Problem = r.problem
	return outcome
}

// bystander is the test that a plain binary hasn't: the ledger, not Ginkgo's exit, decides.
type bystander struct{}

func (bystander) Fail() {}

func newRun(ctx context.Context, config Config, host HostFacts) (*run, error) {
	if err := registry.Validate(); err != nil {
		return nil, err
	}
	c, err := config.client(config.BaseURL)
	if err != nil {
		return nil, err
	}
	r := &run{ctx: ctx, config: config, host: host, client: c, judges: judges.Table(), specs: specs()}
	if config.PeerURL != "" {
		if r.peer, err = config.client(config.PeerURL); err != nil {
			return nil, fmt.Errorf("--peer-url: %w", err)
		}
	}
	if host.KeyB != nil {
		r.config.KeyB = "" // legs that can do without a second tenant do; the clients go on hiding the key
	}
	for _, s := range r.specs {
		if r.judges[s.id] == nil {
			return nil, fmt.Errorf("leg %s has no judge", s.id)
		}
	}
	return r, nil
}

// build makes the tree: one spec a case. Legs that move the clock or restart the host form one last container. The
// function it returns gives the entries once the tree has run.
func (r *run) build() func() []Entry {
	gomega.RegisterFailHandler(ginkgo.Fail)
	var first, last []registry.Case
	for _, c := range r.config.Cases {
		if c.Leg.Last {
			last = append(last, c)
		} else {
			first = append(first, c)
		}
	}
	made := 0
	it := func(c registry.Case) {
		made++
		// Ginkgo orders specs that stand at one line by their text, so the text begins with the place.
		ginkgo.It(fmt.Sprintf("%04d %s on major %d", made, c.Leg.ID, c.Major), func(ctx ginkgo.SpecContext) { r.runLeg(ctx, c) })
	}
	ginkgo.Describe("wopwitness", func() {
		for _, c := range first {
			it(c)
		}
		if len(last) > 0 {
			ginkgo.Context("moving the clock or the process", ginkgo.Ordered, ginkgo.Serial, ginkgo.ContinueOnFailure, func() {
				for _, c := range last {
					it(c)
				}
			})
		}
	})
	var entries []Entry
	ginkgo.ReportAfterSuite("the ledger's entries", func(report ginkgo.Report) { entries = entriesOf(report) })
	return func() []Entry { return entries }
}

// entriesOf reads the legs' entries out of Ginkgo's report, which holds those of every process.
func entriesOf(report ginkgo.Report) []Entry {
	var entries []Entry
	for _, s := range report.SpecReports {
		for _, e := range s.ReportEntries {
			if e.Name != entryName {
				continue
			}
			if here, ok := e.GetRawValue().(reported); ok {
				entries = append(entries, Entry(here))
				continue
			}
			var entry Entry // another process's
			if err := json.Unmarshal([]byte(e.Value.AsJSON), &entry); err == nil {
				entries = append(entries, entry)
			}
		}
	}
	return entries
}

// isLoopback says whether a base URL names this machine.
func isLoopback(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	if u.Hostname() == "localhost" {
		return true
	}
	ip := net.ParseIP(u.Hostname())
	return ip != nil && ip.IsLoopback()
}
