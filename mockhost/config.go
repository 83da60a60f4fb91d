package mockhost

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/wopwitness/wopwitness/fixtures/workflows"
	"github.com/wopwitness/wopwitness/mockhost/clock"
	"github.com/wopwitness/wopwitness/mockhost/conforming"
	"github.com/wopwitness/wopwitness/mockhost/parts"
	"github.com/wopwitness/wopwitness/mockhost/store"
)

// Config is what a host is made from. The zero value is a host of both majors on a temporary store, with a real clock,
// fresh keys and no seams.
type Config struct {
	// Store is "memory" (or "") for one that lasts until Shutdown, "sqlite:PATH", or "postgres://…", the URL of a database:
	// hosts over one schema of it are instances of one host.
	Store string

	// The bearer keys; an empty one becomes a fresh random one. A and B belong to two tenants and hold every scope, Low to
	// A's tenant and may only read the manifest, WS to Workspace of A's tenant with every scope.
	KeyA, KeyB, KeyLow, KeyWS string
	// Workspace is the one KeyWS is bound to; "" for the default's.
	Workspace string

	// Seams mounts the conformance seams.
	Seams bool
	// Kill ends the process at once and without tidying up, where a seam asks for it; something must start the host again.
	// nil leaves that seam unmounted.
	Kill func()
	// Clock is "real" (or "") or "manual": time passes in both, and a manual one can be moved by its seam.
	Clock string

	// MinRetention is how long a durable event is promised to be a cursor; whole seconds, 0 for an hour.
	MinRetention time.Duration
	// RetentionDays is how long dead letters are kept; 0 for 7.
	RetentionDays int
	// CanarySecret is the value of the fixtures' canary secret, which nothing that can be read may show; "" for that of the
	// environment's OPENWOP_CANARY_SECRET_VALUE, else a fresh random one.
	CanarySecret string
	// StreamLife bounds each event stream, in real time; 0 is no bound.
	StreamLife time.Duration
	// ResumableLife bounds the streams of subscribers that said they can resume (resumable=true, RFC 0247), in real time;
	// 0 leaves them to StreamLife.
	ResumableLife time.Duration
	// KeepAlive is the pause before a comment is sent on an idle stream, in real time; 0 for 15 seconds.
	KeepAlive time.Duration
	// RateLimit bounds each tenant's trigger requests per second, in real time; 0 is no bound.
	RateLimit float64
	// CORSOrigin lets a browser page of that origin call, as a browser spells it (scheme://host[:port]); "*" every page,
	// "" none.
	CORSOrigin string
	// Console serves a page under /console/ on which people watch the host and move it.
	Console bool
	// Majors is which of 1 and 2 are served; empty for both.
	Majors []int
	// TriggerClasses lists the classes of the test trigger, "durable" and "ephemeral"; nil for both, empty for neither.
	TriggerClasses []string

	// Models are the model servers that the agent worker asks; the zero value asks none.
	Models ModelServers
	// OTLP is the base URL of a collector that is sent the agent worker's metrics and traces, where there is one; "" for none.
	OTLP string
	// Agent are the numbers of the agent worker, which is there where the seams are.
	Agent AgentNumbers

	// Defect is "" for the right host, or a name of Defects.
	Defect string

	// SigningKeys are published in discovery.
	SigningKeys []SigningKey
	// Version is the implementation's version in discovery; "" for "dev".
	Version string
	// Logger takes what an operator should know; nil for none.
	Logger *slog.Logger

	// What tests alone set.
	base         clockwork.Clock               // nil for the machine's clock
	wrap         func(store.Store) store.Store // what is between the host and its store; nil for nothing
	writeTimeout time.Duration                 // how long a stream's reader may stand still, in real time; 0 for 30 seconds
}

// SigningKey is an Ed25519 key to publish: PublicKey is the raw 32 bytes in unpadded base64url.
type SigningKey = conforming.SigningKey

// Credentials are the keys in force and what they belong to.
type Credentials struct {
	KeyA, KeyB, KeyLow, KeyWS string
	TenantA, TenantB          string
	Workspace                 string // of tenant A; KeyWS is bound to it
	OtherWorkspace            string // of tenant A; no key is bound to it
	ForeignWorkspace          string // of tenant B
}

// The names of this host's tenants and workspaces.
const (
	tenantA          = "acme-workshop"
	tenantB          = "birch-foundry"
	defaultWorkspace = "acme-assembly"
	otherWorkspace   = "acme-paintshop"
	foreignWorkspace = "birch-smeltery"
)

// settle checks the configuration and fills in what was left out.
func (c Config) settle() (Config, error) {
	var errs []error
	if c.Store == "" {
		c.Store = "memory"
	}
	if c.Clock == "" {
		c.Clock = hostclock.Real
	}
	if c.Clock != hostclock.Real && c.Clock != hostclock.Manual {
		errs = append(errs, fmt.Errorf("clock %q: it is real or manual", c.Clock))
	}
	if c.MinRetention == 0 {
		c.MinRetention = time.Hour
	}
	if c.MinRetention < time.Second || c.MinRetention%time.Second != 0 {
		errs = append(errs, fmt.Errorf("minimum retention %s: it must be whole seconds, at least one", c.MinRetention))
	}
	if c.RetentionDays == 0 {
		c.RetentionDays = 7
	}
	if c.RetentionDays < 1 {
		errs = append(errs, fmt.Errorf("retention of %d days: it must be at least one", c.RetentionDays))
	}
	if c.StreamLife < 0 || c.ResumableLife < 0 || c.KeepAlive < 0 || c.RateLimit < 0 {
		errs = append(errs, errors.New("stream life, keep-alive and rate limit can't be negative"))
	}
	for _, address := range []string{c.Models.Model, c.Models.Classifier, c.Models.Repairer} {
		if u, err := url.Parse(address); address != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "") {
			errs = append(errs, fmt.Errorf("model server %q: it is a URL that takes a POST, as http://127.0.0.1:9000/turn", address))
		}
	}
	if c.CORSOrigin != "" && c.CORSOrigin != "*" && !isOrigin(c.CORSOrigin) {
		errs = append(errs, fmt.Errorf("page's origin %q: it is * or scheme://host[:port] in lower case and with no path, as http://127.0.0.1:8000", c.CORSOrigin))
	}
	c.Agent = settleAgent(c.Agent)
	if c.KeepAlive == 0 {
		c.KeepAlive = 15 * time.Second
	}
	if len(c.Majors) == 0 {
		c.Majors = []int{1, 2}
	}
	for _, m := range c.Majors {
		if m != 1 && m != 2 {
			errs = append(errs, fmt.Errorf("major %d: this host serves 1 and 2", m))
		}
	}
	if c.TriggerClasses == nil {
		c.TriggerClasses = []string{parts.Durable, parts.Ephemeral}
	}
	for _, d := range c.TriggerClasses {
		if d != parts.Durable && d != parts.Ephemeral {
			errs = append(errs, fmt.Errorf("trigger class %q: it is durable or ephemeral", d))
		}
	}
	if c.Version == "" {
		c.Version = "dev"
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.base == nil {
		c.base = clockwork.NewRealClock()
	}
	if c.writeTimeout == 0 {
		c.writeTimeout = 30 * time.Second
	}
	if c.Workspace == "" {
		c.Workspace = defaultWorkspace
	}
	if c.Workspace == otherWorkspace || c.Workspace == foreignWorkspace {
		errs = append(errs, fmt.Errorf("workspace %q: that name is taken by another workspace of this host", c.Workspace))
	}
	if c.CanarySecret == "" {
		c.CanarySecret = os.Getenv("OPENWOP_CANARY_SECRET_VALUE")
	}
	if c.CanarySecret == "" {
		c.CanarySecret = workflows.CanaryPrefix + random()
	}
	for _, k := range []*string{&c.KeyA, &c.KeyB, &c.KeyLow, &c.KeyWS} {
		if *k == "" {
			*k = freshKey()
		}
	}
	keys := []string{c.KeyA, c.KeyB, c.KeyLow, c.KeyWS}
	slices.Sort(keys)
	if len(slices.Compact(keys)) != 4 {
		errs = append(errs, errors.New("two keys are equal, so one of them would stand for the wrong tenant or scopes"))
	}
	return c, errors.Join(errs...)
}

// isOrigin says whether a browser could send the text as the origin of a page on the web (RFC 6454 §6.2).
func isOrigin(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" &&
		text == u.Scheme+"://"+strings.ToLower(u.Host) && !strings.HasSuffix(u.Host, ":")
}

func freshKey() string { return "wop_" + random() }

func random() string {
	b := make([]byte, 24)
	_, _ = rand.Read(b) // never fails, says its package
	return base64.RawURLEncoding.EncodeToString(b)
}

// types lists what the host emits.
func (c Config) types() []parts.EventType {
	out := []parts.EventType{
		{Type: "inventory.item-changed", Delivery: parts.Durable},
		{Type: "presence.user-seen", Delivery: parts.Ephemeral},
	}
	if slices.Contains(c.TriggerClasses, parts.Durable) {
		out = append(out, parts.EventType{Type: parts.TriggeredDurable, Delivery: parts.Durable})
	}
	if slices.Contains(c.TriggerClasses, parts.Ephemeral) {
		out = append(out, parts.EventType{Type: parts.TriggeredEphemeral, Delivery: parts.Ephemeral})
	}
	return out
}

func (c Config) credentials() Credentials {
	return Credentials{
		KeyA: c.KeyA, KeyB: c.KeyB, KeyLow: c.KeyLow, KeyWS: c.KeyWS,
		TenantA: tenantA, TenantB: tenantB,
		Workspace: c.Workspace, OtherWorkspace: otherWorkspace, ForeignWorkspace: foreignWorkspace,
	}
}

func (c Config) principals() map[string]parts.Principal {
	every := []string{
		parts.ScopeRunsCreate, parts.ScopeRunsRead, parts.ScopeRunsCancel, parts.ScopeWebhooksManage, parts.ScopeManifestRead,
	}
	return map[string]parts.Principal{
		c.KeyA:   {Tenant: tenantA, Subject: "key-a", Scopes: every},
		c.KeyB:   {Tenant: tenantB, Subject: "key-b", Scopes: every},
		c.KeyLow: {Tenant: tenantA, Subject: "key-low", Scopes: []string{parts.ScopeManifestRead}},
		c.KeyWS:  {Tenant: tenantA, Workspace: c.Workspace, Subject: "key-ws", Scopes: every},
	}
}

func (c Config) directory() conforming.Directory {
	return conforming.Directory{
		{ID: tenantA, Workspaces: []string{c.Workspace, otherWorkspace}},
		{ID: tenantB, Workspaces: []string{foreignWorkspace}},
	}
}
