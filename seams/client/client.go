// Package client is the suite's side of the HTTP boundary: it sends what a leg asks for, reads what comes back within
// limits, and writes both down as observe.Exchange with every key replaced by its marker. It trusts nothing a host
// sends, follows no redirect, asks for no compression, sends a key to one origin only, and never lets the HTTP library
// send a mutating request twice.
//
// It holds no opinion on an answer, and it returns no error for one: a failure is recorded like an answer. Start with
// New, Client.Begin and Session.Do; paths are in paths.go, the discovery document in discovery.go.
package client

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/jonboulle/clockwork"
	"golang.org/x/net/http/httpguts"

	"github.com/wopwitness/wopwitness/witness/observe"
)

// The client's limits. A body, header block or document beyond them is recorded as too large.
const (
	MaxBody    = 8 << 20   // bytes of an ordinary body, after decoding
	MaxHeaders = 256 << 10 // bytes of a response's header block
	MaxDepth   = 64        // nesting of a JSON document

	keptOfLarge = 256 << 10 // of a body beyond MaxBody: enough to see what it was
)

const (
	defaultTimeout = 10 * time.Second
	// A connection that idles is given up well before hosts usually close one, so that a POST is rarely written to a
	// connection that is ending: it could not be repeated.
	idleTimeout  = 2 * time.Second
	idlePerHost  = 64
	badKey       = "wopwitness-key-that-no-host-issued"
	defaultAgent = "wopwitness"
)

// Config is what the operator gives. The zero value of everything but BaseURL is usable.
type Config struct {
	BaseURL        string            // http or https, may have a path that all requests go under
	Keys           map[string]string // observe.CredentialX → key; an empty key is no key
	Headers        []observe.Header  // sent with every request, after the suite's own
	CAFile         string            // PEM file of certificates to trust beside the system's
	RequestTimeout time.Duration     // bound of one request with its body; 10 s where it is zero
	UserAgent      string
	LegBudget      int             // bytes of answers that one session keeps; 12 MiB where it is zero
	RunBudget      int             // and all sessions together, more or less; 36 MiB where it is zero
	Clock          clockwork.Clock // for moments and waits; the real one where it is nil
}

// Client speaks to one host. It is safe for concurrent use; Close gives its connections back.
type Client struct {
	base     *url.URL
	keys     map[string]string
	headers  []observe.Header
	timeout  time.Duration
	agent    string
	clock    clockwork.Clock
	secrets  *forms
	perLeg   int
	budget   budget
	http     *http.Client
	pool     *http.Transport
	hideVals map[string]bool // operator headers whose values aren't recorded, by canonical name
}

// New checks the configuration and gives a client. Its errors are usage errors, worded for the operator.
func New(cfg Config) (*Client, error) {
	base, err := parseBase(cfg.BaseURL)
	if err != nil {
		return nil, err
	}
	roots, err := trusted(cfg.CAFile)
	if err != nil {
		return nil, err
	}
	c := &Client{base: base, keys: map[string]string{}, timeout: cfg.RequestTimeout, agent: cfg.UserAgent, clock: cfg.Clock}
	if c.timeout <= 0 {
		c.timeout = defaultTimeout
	}
	if c.agent == "" {
		c.agent = defaultAgent
	}
	c.perLeg, c.budget.left = cmp.Or(cfg.LegBudget, defaultLegBudget), cmp.Or(cfg.RunBudget, defaultRunBudget)
	if c.clock == nil {
		c.clock = clockwork.NewRealClock()
	}
	for credential, key := range cfg.Keys {
		if key == "" || credential == observe.CredentialNone {
			continue
		}
		if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r == 0x7F }) {
			return nil, fmt.Errorf("the key for credential %q has a space or a control character in it: give the bare key, without \"Bearer\" and without a line end", credential)
		}
		c.keys[credential] = key
	}
	if c.keys[observe.CredentialBad] == "" {
		c.keys[observe.CredentialBad] = badKey
	}
	if err := c.takeHeaders(cfg.Headers); err != nil {
		return nil, err
	}
	c.secrets = newForms(c.keys, c.headers)
	c.pool = newTransport(roots, c.timeout)
	c.http = &http.Client{
		Transport:     c.pool,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c, nil
}

// Base is the base URL as it is used, without a slash at its end.
func (c *Client) Base() string { return c.base.String() }

// HasKey says whether the operator gave a key for the credential. The bad key is always there.
func (c *Client) HasKey(credential string) bool { return c.keys[credential] != "" }

// SameKey says whether two credentials are the same key, so that nothing can be told apart by them.
func (c *Client) SameKey(a, b string) bool { return c.keys[a] != "" && c.keys[a] == c.keys[b] }

// Loopback says whether the host is this machine, judged by the name or address in the base URL.
func (c *Client) Loopback() bool {
	name := c.base.Hostname()
	if strings.EqualFold(name, "localhost") {
		return true
	}
	ip := net.ParseIP(name)
	return ip != nil && ip.IsLoopback()
}

// Close drops idle connections. Requests under way are the business of their contexts.
func (c *Client) Close() { c.pool.CloseIdleConnections() }

// Redact replaces every form of every key in b. It gives b itself where there is none.
func (c *Client) Redact(b []byte) []byte { return c.secrets.replaceAll(b) }

func (c *Client) redactString(s string) string { return string(c.secrets.replaceAll([]byte(s))) }

func (c *Client) takeHeaders(headers []observe.Header) error {
	c.hideVals = map[string]bool{}
	for _, h := range headers {
		if !httpguts.ValidHeaderFieldName(h.Name) || !httpguts.ValidHeaderFieldValue(h.Value) {
			return fmt.Errorf("the header %q cannot be sent: a name is letters, digits and dashes, and a value has no line end", h.Name)
		}
		name := http.CanonicalHeaderKey(h.Name)
		if name == "Authorization" {
			return errors.New("the header Authorization is the suite's own: give keys with --key and its companions")
		}
		c.headers = append(c.headers, observe.Header{Name: name, Value: h.Value})
		c.hideVals[name] = true
	}
	return nil
}

func parseBase(raw string) (*url.URL, error) {
	if strings.TrimSpace(raw) == "" {
		return nil, errors.New("no host is given: name its base URL, for example https://host.example")
	}
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil {
		return nil, fmt.Errorf("the host URL %q cannot be read: %w", raw, err)
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("the host URL %q must begin with http:// or https://", raw)
	case u.Hostname() == "":
		return nil, fmt.Errorf("the host URL %q names no host", raw)
	case u.User != nil:
		return nil, fmt.Errorf("the host URL holds a user name or password: leave it out, and give keys with --key")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, fmt.Errorf("the host URL %q has a query or fragment: give the base only", raw)
	}
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), strings.TrimRight(u.RawPath, "/")
	return u, nil
}

func trusted(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("the CA file cannot be read: %w", err)
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("the CA file %s holds no certificate in PEM form", file)
	}
	return roots, nil
}

func newTransport(roots *x509.CertPool, timeout time.Duration) *http.Transport {
	dialer := &net.Dialer{Timeout: timeout}
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            dialer.DialContext,
		TLSClientConfig:        &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    timeout,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
		MaxIdleConnsPerHost:    idlePerHost,
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: MaxHeaders,
		WriteBufferSize:        32 << 10,
	}
}
