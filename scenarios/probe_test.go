package scenarios

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// TestTheProbeTellsWhichKeyIsRefused is about a host that takes one key and knows no other.
func TestTheProbeTellsWhichKeyIsRefused(t *testing.T) {
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.URL.Path == "/.well-known/openwop":
			w.Header().Set("OpenWOP-Version", "2.0")
			_, _ = w.Write([]byte(`{"protocolVersions":["2.0"],"preferredVersion":"2.0"}`))
		case r.Header.Get("Authorization") == "Bearer right", r.Header.Get("Authorization") == "Bearer other":
			w.WriteHeader(http.StatusNotFound)
		default:
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	defer host.Close()
	for name, tt := range map[string]struct {
		a, b       string
		every, ofB string // what begins the problem of every leg, and of those with a second tenant
	}{
		"both are taken":       {a: "right", b: "other"},
		"the second is wrong":  {a: "right", b: "wrong", ofB: "the host refused --key-b: GET /runs/"},
		"there is no second":   {a: "right"},
		"the first is wrong":   {a: "wrong", b: "other", every: "the host refused --key: GET /runs/"},
		"both are wrong":       {a: "wrong", b: "wrong-too", every: "the host refused --key: GET /runs/"},
		"one key in two flags": {a: "right", b: "right"},
	} {
		t.Run(name, func(t *testing.T) {
			facts, problem, err := Probe(context.Background(), Config{BaseURL: host.URL, KeyA: tt.a, KeyB: tt.b})
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range []struct {
				of   string
				got  *Problem
				want string
			}{{"every leg", problem, tt.every}, {"a second tenant", facts.KeyB, tt.ofB}} {
				switch {
				case c.want == "" && c.got != nil:
					t.Errorf("the problem of %s is %+v, want none", c.of, *c.got)
				case c.want != "" && (c.got == nil || c.got.Reason != registry.Unauthorized || !strings.HasPrefix(c.got.Says, c.want) ||
					!strings.HasSuffix(c.got.Says, " answered 401; check the key and that it belongs to this host")):
					t.Errorf("the problem of %s is %+v, want %q", c.of, c.got, c.want)
				}
			}
		})
	}
}

func TestARefusedKeyAndAMissingScopeAreTwoThings(t *testing.T) {
	answered := func(credential string, status int) observe.Exchange {
		return observe.Exchange{Credential: credential, Request: observe.Request{Method: "POST", Target: "/runs"}, Response: &observe.Response{Status: status}}
	}
	for want, x := range map[string]observe.Exchange{
		"the host refused --key: POST /runs answered 401; check the key and that it belongs to this host":    answered(observe.CredentialA, 401),
		"the host refused --key-b: POST /runs answered 401; check the key and that it belongs to this host":  answered(observe.CredentialB, 401),
		"the host refused --key-ws: POST /runs answered 401; check the key and that it belongs to this host": answered(observe.CredentialWorkspace, 401),
		"POST /runs answered 403 to --key-b; that key needs the scope runs:create":                           answered(observe.CredentialB, 403),
		"POST /runs answered 403 to --key-low; that key needs the scope runs:create":                         answered(observe.CredentialLow, 403),
	} {
		if got := keyRefused(x, "runs:create"); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}

// TestARefusedSecondKeyStopsOnlyWhatNeedsIt drives the gates of a leg with a second tenant and of one without.
func TestARefusedSecondKeyStopsOnlyWhatNeedsIt(t *testing.T) {
	refused := &Problem{Reason: registry.Unauthorized, Says: "the host refused --key-b"}
	_, url := newDeadHost(t)
	r, err := newRun(context.Background(), Config{BaseURL: url, KeyA: "ka", KeyB: "wrong"}, HostFacts{Majors: []int{2}, KeyB: refused})
	if err != nil {
		t.Fatal(err)
	}
	if r.config.KeyB != "" {
		t.Error("legs that can do without the second key would still use it")
	}
	second := registry.Leg{ID: "x", Majors: []int{2}, Needs: []registry.Need{registry.NeedSecondTenant}}
	e := r.outcomeOf(context.Background(), registry.Case{Leg: second, Major: 2})
	if s := e.Record.Stop; s == nil || s.Result != registry.Blocked || s.Reason != registry.Unauthorized || s.Says != refused.Says {
		t.Errorf("a leg with a second tenant stopped as %+v", s)
	}
	if err := r.gate(registry.Case{Leg: registry.Leg{ID: "y", Majors: []int{2}}, Major: 2}); err != nil {
		t.Errorf("a leg without one: %v", err)
	}
}
