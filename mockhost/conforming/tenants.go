// Package conforming is the right behaviour of the host's ports, each in its own file: who may ask, what is advertised,
// what the trigger takes, where a stream starts, what a refusal says.
//
// It never speaks HTTP beyond reading a header, and knows nothing of defects. Start at the port of package parts that
// you are looking for; the file has its name.
package conforming

import (
	"crypto/sha256"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/wopwitness/wopwitness/mockhost/parts"
)

// Tenant is a tenant and its workspaces.
type Tenant struct {
	ID         string
	Workspaces []string
}

// Directory implements parts.Directory over a fixed list.
type Directory []Tenant

// Tenants implements parts.Directory.
func (d Directory) Tenants() []string {
	out := make([]string, len(d))
	for i, t := range d {
		out[i] = t.ID
	}
	return out
}

// WorkspaceOwner implements parts.Directory.
func (d Directory) WorkspaceOwner(workspace string) (string, bool) {
	for _, t := range d {
		if slices.Contains(t.Workspaces, workspace) {
			return t.ID, true
		}
	}
	return "", false
}

// Gate implements parts.Gate over a fixed set of keys.
type Gate struct {
	// keys are held as digests: a map's lookup takes a time that depends on the bytes compared.
	keys  map[[sha256.Size]byte]parts.Principal
	rate  float64
	clock clockwork.Clock

	mu      sync.Mutex
	buckets map[string]*bucket
}

type bucket struct {
	tokens float64
	at     time.Time
}

// NewGate makes a gate. rate bounds each tenant's trigger requests per second of the (real) clock, 0 for no bound.
func NewGate(keys map[string]parts.Principal, rate float64, clock clockwork.Clock) *Gate {
	g := &Gate{keys: map[[sha256.Size]byte]parts.Principal{}, rate: rate, clock: clock, buckets: map[string]*bucket{}}
	for k, p := range keys {
		g.keys[sha256.Sum256([]byte(k))] = p
	}
	return g
}

// Admit implements parts.Gate.
func (g *Gate) Admit(r *http.Request) (parts.Principal, error) {
	refused := &parts.Problem{
		Status: http.StatusUnauthorized, Code: "unauthenticated", Message: "a valid bearer key is required",
	}
	given := r.Header.Values("Authorization")
	if len(given) != 1 {
		return parts.Principal{}, refused
	}
	scheme, key, ok := strings.Cut(given[0], " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return parts.Principal{}, refused
	}
	p, ok := g.keys[sha256.Sum256([]byte(strings.TrimSpace(key)))]
	if !ok {
		return parts.Principal{}, refused
	}
	return p, nil
}

// Require implements parts.Gate.
func (g *Gate) Require(p parts.Principal, scope string) error {
	if p.May(scope) {
		return nil
	}
	return &parts.Problem{
		Status: http.StatusForbidden, Code: "forbidden", Message: fmt.Sprintf("this key lacks the scope %s", scope),
	}
}

// Throttle implements parts.Gate: a token bucket a tenant, that holds one second's worth.
func (g *Gate) Throttle(p parts.Principal) error {
	if g.rate <= 0 {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	now, full := g.clock.Now(), max(g.rate, 1)
	b, ok := g.buckets[p.Tenant]
	if !ok {
		b = &bucket{tokens: full, at: now}
		g.buckets[p.Tenant] = b
	}
	b.tokens = math.Min(full, b.tokens+now.Sub(b.at).Seconds()*g.rate)
	b.at = now
	if b.tokens >= 1 {
		b.tokens--
		return nil
	}
	return &parts.Problem{
		Status: http.StatusTooManyRequests, Code: "rate_limited", Message: "too many requests; wait as Retry-After says",
		RetryAfter: time.Duration((1 - b.tokens) / g.rate * float64(time.Second)),
	}
}
