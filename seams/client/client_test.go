package client

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/witness/observe"
)

const (
	keyA = "key-of-tenant-a/+1"
	keyB = "key-of-tenant-b"
)

func newClient(t *testing.T, cfg Config) *Client {
	t.Helper()
	if cfg.Keys == nil {
		cfg.Keys = map[string]string{observe.CredentialA: keyA, observe.CredentialB: keyB}
	}
	if cfg.RequestTimeout == 0 {
		cfg.RequestTimeout = 20 * time.Second
	}
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestNewSaysWhatIsWrongWithTheConfiguration(t *testing.T) {
	notPEM := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(notPEM, []byte("not a certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	const url = "http://host.example"
	for _, c := range []struct {
		name string
		cfg  Config
		says string // "" for a good one
	}{
		{"a plain URL", Config{BaseURL: url}, ""},
		{"a URL with a path", Config{BaseURL: "https://host.example/api/"}, ""},
		{"no URL", Config{}, "no host is given"},
		{"no scheme", Config{BaseURL: "host.example:80"}, "must begin with http"},
		{"another scheme", Config{BaseURL: "ftp://host.example"}, "must begin with http"},
		{"no host", Config{BaseURL: "http:///x"}, "names no host"},
		{"not a URL", Config{BaseURL: "http://a b"}, "cannot be read"},
		{"a password in it", Config{BaseURL: "http://u:p@host.example"}, "user name or password"},
		{"a query", Config{BaseURL: url + "?a=b"}, "query or fragment"},
		{"a CA file that isn't there", Config{BaseURL: url, CAFile: notPEM + ".x"}, "CA file cannot be read"},
		{"a CA file without a certificate", Config{BaseURL: url, CAFile: notPEM}, "no certificate in PEM"},
		{"a key with its scheme", Config{BaseURL: url, Keys: map[string]string{"a": "Bearer x"}}, "bare key"},
		{"a key with a line end", Config{BaseURL: url, Keys: map[string]string{"a": "x\n"}}, "bare key"},
		{"an empty key is no key", Config{BaseURL: url, Keys: map[string]string{"a": ""}}, ""},
		{"a header with a line end", Config{BaseURL: url, Headers: []observe.Header{{Name: "X", Value: "a\nb"}}}, "cannot be sent"},
		{"an Authorization header", Config{BaseURL: url, Headers: []observe.Header{{Name: "authorization", Value: "x"}}}, "suite's own"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := New(c.cfg)
			if c.says == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("got %v, want it to say %q", err, c.says)
			}
		})
	}
}

func TestAUsageErrorNamesNoPassword(t *testing.T) {
	_, err := New(Config{BaseURL: "http://u:hush@host.example"})
	if err == nil || strings.Contains(err.Error(), "hush") {
		t.Errorf("got %v", err)
	}
}

func TestKeysAreToldApart(t *testing.T) {
	c := newClient(t, Config{BaseURL: "http://127.0.0.1:1", Keys: map[string]string{"a": "same-key", "b": "same-key", "low": "other-key"}})
	for _, one := range []struct {
		name      string
		got, want bool
	}{
		{"a and b", c.SameKey("a", "b"), true},
		{"a and low", c.SameKey("a", "low"), false},
		{"two that are not given", c.SameKey("x", "y"), false},
		{"a is given", c.HasKey("a"), true},
		{"the bad one is always there", c.HasKey(observe.CredentialBad), true},
		{"none is no key", c.HasKey(observe.CredentialNone), false},
		{"workspace is not given", c.HasKey(observe.CredentialWorkspace), false},
	} {
		if one.got != one.want {
			t.Errorf("%s: got %v", one.name, one.got)
		}
	}
}

func TestLoopback(t *testing.T) {
	for base, want := range map[string]bool{
		"http://127.0.0.1:80": true, "http://[::1]:80": true, "https://LocalHost": true,
		"http://127.0.0.1.example": false, "http://10.0.0.1": false, "https://host.example": false,
	} {
		if got := newClient(t, Config{BaseURL: base}).Loopback(); got != want {
			t.Errorf("%s: got %v", base, got)
		}
	}
}
