// Package scenarios drives a host, one leg after another, as Ginkgo specs. A scenario causes something and observes what
// comes of it; it holds no opinion: judges in witness/… do, and leg.go brings the two together. leg.go is the only file
// that skips, asserts or writes report entries.
//
// Start with leg.go for what happens to every leg, drive.go for what a scenario may do, specs.go for the table.
package scenarios

import (
	"context"
	"time"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/seams/client"
	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// Config is what one run knows before it starts. Empty keys mean that the operator gave none.
type Config struct {
	BaseURL string
	KeyA    string // the first tenant
	KeyB    string // a second tenant
	KeyLow  string // a valid key without runs:read

	Workspace string // a workspace of the first tenant
	KeyWS     string // a key bound to it

	PeerURL    string // a second instance of the same host
	RestartCmd string // replaces the host's process by an ordinary restart
	// Restart does the same where the host is this process's own; nil for RestartCmd.
	Restart func(context.Context) error
	CAFile  string
	Headers []observe.Header // sent with every request

	Cases    []registry.Case // what to run, in order
	Strict   bool            // not-advertised and class-not-listed convict
	OptedOut []string        // profiles, or patterns of legs, that the operator opted out of

	Volume         int           // events behind the cursor in the volume leg
	Quiet          time.Duration // how long a stream is read after its sentinel; 0 chooses by distance
	EventTimeout   time.Duration // how long one event may take to arrive; 0 means ten seconds
	RequestTimeout time.Duration // how long an answer's headers may take; 0 means ten seconds
	NoClock        bool          // never move the host's clock
	CanaryValue    string        // of the canary secret, where it does not begin as the fixtures' page says

	ExpiredRunID      string // a run of the first tenant that the operator knows to be purged
	ForceExpireURL    string // expires the run whose id stands in for {runId}
	ForceExpireMethod string // POST where it is empty

	Progress func(Event) // called as legs start and end, from the goroutine of the run; may be nil
}

// Event tells that a leg started, or ended with its entry, or in between what it waits for.
type Event struct {
	Case    registry.Case
	Started bool
	Says    string // what the leg waits for; may hold host text
	Again   bool   // Says tells of a wait that was told before
	Entry   *Entry
	Elapsed time.Duration
	Untried bool // the problem had already been found, so the host was not asked again
}

// Entry is the outcome of one leg: what was recorded, and what the judge made of it where there was anything to judge.
type Entry struct {
	Record  witness.Record   `json:"record"`
	Verdict *witness.Verdict `json:"verdict,omitempty"`
}

// HostFacts is what the host says of itself before any leg runs.
type HostFacts struct {
	Majors    []int                    // served, ascending
	Discovery map[int]client.Discovery // by major
	Loopback  bool                     // the host is on this machine, so short quiet windows do
	// KeyB is why the second tenant's key is of no use, nil where it is or where none was given. It stops only the legs
	// that need a second tenant.
	KeyB *Problem
}

// Problem is one cause that stops every leg. Says is the one line for the operator.
type Problem struct {
	Reason registry.Reason
	Says   string
}

// Outcome is a whole run.
type Outcome struct {
	Host        HostFacts
	Entries     []Entry
	Problem     *Problem
	Interrupted bool
}

func (c Config) eventTimeout() time.Duration {
	if c.EventTimeout > 0 {
		return c.EventTimeout
	}
	return 10 * time.Second
}

func (c Config) requestTimeout() time.Duration {
	if c.RequestTimeout > 0 {
		return c.RequestTimeout
	}
	return 10 * time.Second
}

func (c Config) quiet(loopback bool) time.Duration {
	switch {
	case c.Quiet > 0:
		return c.Quiet
	case loopback:
		return 20 * time.Millisecond
	}
	return 500 * time.Millisecond
}

// What is kept of a host's answers, a leg: enough for every leg, and for a volume that the operator asked for, whose
// events are shown by two streams.
const (
	ordinaryBudget = 12 << 20
	budgetAnEvent  = 2 << 10
)

func (c Config) keys() map[string]string {
	keys := map[string]string{observe.CredentialBad: "wopwitness-no-host-issued-this-key"}
	for name, key := range map[string]string{
		observe.CredentialA: c.KeyA, observe.CredentialB: c.KeyB,
		observe.CredentialLow: c.KeyLow, observe.CredentialWorkspace: c.KeyWS,
	} {
		if key != "" {
			keys[name] = key
		}
	}
	return keys
}

func (c Config) client(baseURL string) (*client.Client, error) {
	return client.New(client.Config{
		BaseURL: baseURL, Keys: c.keys(), Headers: c.Headers, CAFile: c.CAFile, RequestTimeout: c.requestTimeout(),
		LegBudget: ordinaryBudget + c.Volume*budgetAnEvent, RunBudget: 3 * (ordinaryBudget + c.Volume*budgetAnEvent),
	})
}
