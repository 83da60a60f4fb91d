package cause

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/wopwitness/wopwitness/seams/client"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// AgentCall is one use of an agent dead-letter seam.
type AgentCall struct {
	Label      string
	Credential string
	Method     string // GET where it is empty
	Path       string // below the seams' base, escaped: "tools/x"
	Query      url.Values
	Body       any // sent as JSON where it isn't nil
	Major      int
	Timeout    time.Duration
	Patience   time.Duration // as of client.Call
}

// Agent makes the call once, whatever it is answered.
func Agent(ctx context.Context, s *client.Session, a AgentCall) observe.Exchange {
	call := client.Call{
		Label: a.Label, Credential: a.Credential, Method: a.Method, Path: client.SeamPath(a.Major, "agent-dlq/"+a.Path), Query: a.Query,
		Major: a.Major, Timeout: a.Timeout, Patience: a.Patience,
	}
	if a.Method != "" && a.Method != http.MethodGet {
		call.Header = idempotent("")
	}
	if a.Body != nil {
		body, err := json.Marshal(a.Body)
		if err != nil {
			panic("request body of a leg: " + err.Error())
		}
		call.Body = body
	}
	return s.Do(ctx, call)
}

// AgentPatiently makes the call, and again where the host pushes back, for as long as maxWait in all. Only the last
// attempt is given: the others left nothing behind.
func AgentPatiently(ctx context.Context, s *client.Session, a AgentCall, maxWait time.Duration) observe.Exchange {
	for left := maxWait; ; {
		x := Agent(ctx, s, a)
		if x.Status() != http.StatusTooManyRequests && x.Status() != http.StatusServiceUnavailable {
			return x
		}
		wait, said := client.RetryAfter(x)
		if !said {
			wait = unsaidWait
		}
		wait = max(wait, leastWait)
		if wait > left || !s.Sleep(ctx, wait) {
			return x
		}
		left -= wait
	}
}
