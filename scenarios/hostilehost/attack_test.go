package hostilehost

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

func right() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "" && r.URL.Path != discoveryPath {
			reply(w, http.StatusUnauthorized, "application/json", `{"error":"unauthenticated","message":"no"}`)
			return
		}
		reply(w, http.StatusOK, "application/json", `{"protocolVersions":["2.0"]}`)
	})
}

func TestNamesAreUniqueAndEachAttackIsOneThing(t *testing.T) {
	seen := map[string]bool{}
	for _, a := range Attacks() {
		if seen[a.Name] || a.Name == "" || a.Says == "" {
			t.Errorf("%q is named twice, or says nothing", a.Name)
		}
		seen[a.Name] = true
		if a.Conn != nil && a.Answer != nil {
			t.Errorf("%s has both a connection and a handler", a.Name)
		}
	}
	if _, ok := Named("no such attack"); ok {
		t.Error("an attack that isn't there was found")
	}
}

// Every attack can be started, met once with a key, left, and closed: none holds on to what it started.
func TestEveryAttackEndsWhenItIsClosed(t *testing.T) {
	for _, a := range Attacks() {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			s, err := Start(a, right())
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range []string{discoveryPath, streamPath, triggerPath} {
				ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
				r, err := http.NewRequestWithContext(ctx, "GET", s.URL+path, nil)
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set("Authorization", "Bearer some-key-0123456789")
				transport := &http.Transport{DisableKeepAlives: true, DisableCompression: true}
				if resp, err := transport.RoundTrip(r); err == nil && resp.StatusCode != http.StatusSwitchingProtocols {
					_, _ = io.CopyN(io.Discard, resp.Body, 1<<16)
					_ = resp.Body.Close()
				}
				cancel()
				transport.CloseIdleConnections()
			}
			s.Close()
			if c, err := net.Dial("tcp", strings.TrimPrefix(strings.TrimPrefix(s.URL, "http://"), "https://")); err == nil {
				_ = c.Close()
				t.Error("it still listens")
			}
		})
	}
}

func ask(t *testing.T, name, path, key string) (*http.Response, string, error) {
	t.Helper()
	a, ok := Named(name)
	if !ok {
		t.Fatalf("no attack %s", name)
	}
	s, err := Start(a, right())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	r, err := http.NewRequestWithContext(t.Context(), "GET", s.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	transport := &http.Transport{DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	resp, err := transport.RoundTrip(r)
	if err != nil {
		return nil, "", err
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, 2<<20))
	_ = resp.Body.Close()
	return resp, string(b), err
}

func TestAttacksOnTheWire(t *testing.T) {
	const key = "some-key-0123456789"
	cases := []struct {
		attack, path, key string
		status            int    // 0 for no answer
		contains          string // in the body
	}{
		{"dead-port", discoveryPath, "", 0, ""},
		{"cuts-at-once", discoveryPath, "", 0, ""},
		{"status-garbage", discoveryPath, "", 0, ""},
		{"html-page", discoveryPath, "", 200, "<script>"},
		{"wrong-key", streamPath, key, 401, "unauthenticated"},
		{"wrong-key", discoveryPath, key, 200, "protocolVersions"},
		{"duplicate-keys", discoveryPath, "", 200, `"protocolVersions":["2.0"]`},
		{"redirect", streamPath, key, 307, ""},
		{"redirect-after-discovery", discoveryPath, "", 200, "protocolVersions"},
		{"endless-line", streamPath, key, 200, strings.Repeat("a", 1<<20)},
		{"event-id-with-nul", triggerPath, key, 202, `\u0000`},
		{"limited-for-decades", triggerPath, key, 429, "rate_limited"},
		{"live-text-in-errors", streamPath, "", 401, "alert(1)"},
		{"echo-in-body", streamPath, key, 200, key},
		{"echo-as-event-id", triggerPath, key, 202, key},
		{"echo-in-redirect", streamPath, key, 303, key},
	}
	for _, tc := range cases {
		t.Run(tc.attack+tc.path, func(t *testing.T) {
			t.Parallel()
			resp, body, err := ask(t, tc.attack, tc.path, tc.key)
			if tc.status == 0 {
				if err == nil {
					t.Fatalf("answered %s", resp.Status)
				}
				return
			}
			if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatal(err)
			}
			if resp.StatusCode != tc.status || !strings.Contains(body, tc.contains) {
				t.Errorf("%s %.200s", resp.Status, body)
			}
		})
	}
}

func TestRedirectCatchesWhatComesAlong(t *testing.T) {
	a, _ := Named("redirect")
	s, err := Start(a, right())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, sends := range []bool{false, true} {
		if sends {
			r, err := http.NewRequestWithContext(t.Context(), "GET", s.other.URL+streamPath, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer careless")
			resp, err := http.DefaultTransport.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
		}
		if got := len(s.Stolen()); (got == 1) != sends {
			t.Errorf("sent %v: caught %d", sends, got)
		}
	}
}

func TestFormsOfAKey(t *testing.T) {
	want := map[string]string{"plain": "k/1", "base64": "ay8x", "base64 unpadded": "ay8x", "base64url": "ay8x",
		"base64 of header": "QmVhcmVyIGsvMQ==", "percent": "%6B%2F%31", "percent lowercase": "%6b%2f%31"}
	got := Forms("k/1")
	if len(got) != len(want) {
		t.Errorf("%d forms", len(got))
	}
	for form, text := range want {
		if got[form] != text {
			t.Errorf("%s: %q, want %q", form, got[form], text)
		}
	}
}
