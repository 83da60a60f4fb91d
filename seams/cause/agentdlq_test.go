package cause

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/wopwitness/wopwitness/seams/client"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// pushy is a host that refuses so many calls before it takes one.
type pushy struct {
	refuses, status, calls int
	after                  string
	body, path, key        string
}

func (p *pushy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	p.body, p.path, p.key = string(raw), r.URL.Path, r.Header.Get("Idempotency-Key")
	if p.calls++; p.calls <= p.refuses {
		if p.after != "" {
			w.Header().Set("Retry-After", p.after)
		}
		w.WriteHeader(p.status)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

func TestAgentCallsAreSentAgainWhereTheHostPushesBack(t *testing.T) {
	for _, c := range []struct {
		name       string
		host       pushy
		patience   time.Duration
		want, sent int
	}{
		{"taken at once", pushy{}, time.Second, 202, 1},
		{"put off by 429", pushy{refuses: 2, status: 429, after: "0"}, time.Second, 202, 3},
		{"put off by 503", pushy{refuses: 1, status: 503, after: "0"}, time.Second, 202, 2},
		{"for longer than there is patience", pushy{refuses: 1, status: 429, after: "60"}, time.Second, 429, 1},
		{"without saying for how long", pushy{refuses: 1, status: 503}, 10 * time.Millisecond, 503, 1},
		{"refused for another reason", pushy{refuses: 1, status: 400}, time.Second, 400, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewServer(&c.host)
			defer server.Close()
			to, err := client.New(client.Config{BaseURL: server.URL, Keys: map[string]string{observe.CredentialA: "ka"}})
			if err != nil {
				t.Fatal(err)
			}
			defer to.Close()
			x := AgentPatiently(t.Context(), to.Begin(), AgentCall{
				Label: "send", Credential: observe.CredentialA, Method: http.MethodPost, Path: "messages", Body: map[string]any{"messageId": "m"}, Major: 2,
			}, c.patience)
			if x.Status() != c.want || c.host.calls != c.sent {
				t.Errorf("answered %d after %d calls, want %d after %d", x.Status(), c.host.calls, c.want, c.sent)
			}
			if c.host.path != "/conformance/seams/sample/agent-dlq/messages" || c.host.body != `{"messageId":"m"}` || c.host.key == "" {
				t.Errorf("sent %s with %q under the key %q", c.host.path, c.host.body, c.host.key)
			}
		})
	}
}
