package cause

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wopwitness/wopwitness/seams/client"
	"github.com/wopwitness/wopwitness/witness/observe"
)

const tenantRun = "acme/r-0123456789abcdef"

func TestDeadLetterRequests(t *testing.T) {
	from := int64(4)
	type m = map[string]any
	for _, c := range []struct {
		name string
		send func(context.Context, *client.Session) observe.Exchange
		want got
	}{
		{"create on major 1", func(ctx context.Context, s *client.Session) observe.Exchange {
			return CreateRun(ctx, s, RunCall{Credential: "a", Workflow: "w", Major: 1})[0]
		}, got{"POST", "/v1/runs", "", "Bearer key-of-a", "", m{"workflowId": "w"}}},
		{"create with inputs and configurable on major 2", func(ctx context.Context, s *client.Session) observe.Exchange {
			return CreateRun(ctx, s, RunCall{Credential: "b", Workflow: "w", Inputs: m{"x": "y"}, Configurable: m{"c": true}, Major: 2})[0]
		}, got{"POST", "/runs", "2.0", "Bearer key-of-b", "", m{"workflowId": "w", "inputs": m{"x": "y"}, "configurable": m{"c": true}}}},
		{"read on major 2", func(ctx context.Context, s *client.Session) observe.Exchange {
			return ReadRun(ctx, s, "a", tenantRun, 2)
		},
			got{"GET", "/runs/acme~2Fr-0123456789abcdef", "2.0", "Bearer key-of-a", "", nil}},
		{"read on major 1", func(ctx context.Context, s *client.Session) observe.Exchange { return ReadRun(ctx, s, "a", "a/b:c", 1) },
			got{"GET", "/v1/runs/a%2Fb%3Ac", "", "Bearer key-of-a", "", nil}},
		{"poll from the start on major 2", func(ctx context.Context, s *client.Session) observe.Exchange {
			return PollRun(ctx, s, "a", tenantRun, -1, 2)
		}, got{"GET", "/runs/acme~2Fr-0123456789abcdef/events/poll?timeout=1", "2.0", "Bearer key-of-a", "", nil}},
		{"poll on, on major 2", func(ctx context.Context, s *client.Session) observe.Exchange {
			return PollRun(ctx, s, "a", tenantRun, 0, 2)
		}, got{"GET", "/runs/acme~2Fr-0123456789abcdef/events/poll?afterSequence=0&timeout=1", "2.0", "Bearer key-of-a", "", nil}},
		{"poll on major 1", func(ctx context.Context, s *client.Session) observe.Exchange { return PollRun(ctx, s, "a", "r", 7, 1) },
			got{"GET", "/v1/runs/r/events/poll", "", "Bearer key-of-a", "", nil}},
		{"fork by replay", func(ctx context.Context, s *client.Session) observe.Exchange {
			return Fork(ctx, s, ForkCall{Credential: "a", RunID: "r", Mode: "replay", Major: 1})[0]
		}, got{"POST", "/v1/runs/r:fork", "", "Bearer key-of-a", "", m{"mode": "replay"}}},
		{"fork by branch", func(ctx context.Context, s *client.Session) observe.Exchange {
			return Fork(ctx, s, ForkCall{Credential: "a", RunID: tenantRun, Mode: "branch", FromSeq: &from, Overlay: m{"configurable": m{"c": true}}, Major: 2})[0]
		}, got{"POST", "/runs/acme~2Fr-0123456789abcdef:fork", "2.0", "Bearer key-of-a", "", m{"mode": "branch", "fromSeq": 4.0, "runOptionsOverlay": m{"configurable": m{"c": true}}}}},
		{"another verb", func(ctx context.Context, s *client.Session) observe.Exchange {
			return Fork(ctx, s, ForkCall{Credential: "a", RunID: "r", Verb: "spoon", Mode: "replay", Major: 2})[0]
		}, got{"POST", "/runs/r:spoon", "2.0", "Bearer key-of-a", "", m{"mode": "replay"}}},
		{"list", func(ctx context.Context, s *client.Session) observe.Exchange { return ListRuns(ctx, s, "l", "b", 2) },
			got{"GET", "/runs", "2.0", "Bearer key-of-b", "", nil}},
		{"exhaust", func(ctx context.Context, s *client.Session) observe.Exchange {
			return Exhaust(ctx, s, "exhaust-retries", time.Second, 1)
		}, got{"POST", "/v1/host/sample/deadletter/exhaust", "", "Bearer key-of-a", "", m{"scenario": "exhaust-retries"}}},
		{"entries", func(ctx context.Context, s *client.Session) observe.Exchange { return Entries(ctx, s, "b", "c d", 2) },
			got{"GET", "/conformance/seams/sample/deadletter/entries?cursor=c+d&limit=100", "2.0", "Bearer key-of-b", "", nil}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, s := serve(t, nil, reply{200, `{}`, ""})
			if x := c.send(context.Background(), s); x.Status() != 200 {
				t.Errorf("the exchange is %+v", x)
			}
			if len(h.got) == 1 && (h.got[0].Key != "") != (h.got[0].Method == "POST") {
				t.Errorf("%s has the idempotency key %q", h.got[0].Method, h.got[0].Key)
			}
			for i := range h.got {
				h.got[i].Key = ""
			}
			if diff := cmp.Diff([]got{c.want}, h.got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestForkIsPatientAndKeepsItsKey(t *testing.T) {
	h, s := serve(t, nil, reply{429, `{}`, "0"}, reply{201, `{}`, ""})
	attempts := Fork(context.Background(), s, ForkCall{Credential: "a", RunID: "r", Mode: "replay", Major: 2})
	if len(attempts) != 2 || attempts[1].Status() != 201 {
		t.Fatalf("attempts are %+v", attempts)
	}
	if h.got[0].Key == "" || h.got[0].Key != h.got[1].Key {
		t.Errorf("the keys are %q and %q, want one", h.got[0].Key, h.got[1].Key)
	}
}

func TestForceExpire(t *testing.T) {
	h, s := serve(t, nil, reply{204, ``, ""})
	_, elsewhere := serve(t, nil, reply{202, ``, ""})
	for _, c := range []struct {
		name, template, method, wantPath, wantAuth string
		major                                      int
	}{
		{"the host's own", s.Client().Base() + "/admin/{runId}/expire?token=t", "DELETE", "/admin/acme~2Fr-0123456789abcdef/expire?token=t", "Bearer key-of-a", 2},
		{"the host's own on major 1", s.Client().Base() + "/admin?run={runId}", "", "/admin?run=acme%2Fr-0123456789abcdef", "Bearer key-of-a", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			h.got = nil
			x, err := ForceExpire(context.Background(), s, c.template, c.method, tenantRun, c.major)
			if err != nil || x.Status() != 204 {
				t.Fatalf("exchange %+v, %v", x, err)
			}
			if h.got[0].Path != c.wantPath || h.got[0].Auth != c.wantAuth {
				t.Errorf("sent %+v, want %s with %s", h.got[0], c.wantPath, c.wantAuth)
			}
			if x.Request.Target != c.wantPath[:len(x.Request.Target)] || len(x.Request.Target) == len(c.wantPath) {
				t.Errorf("recorded %q, want the path without its query", x.Request.Target)
			}
		})
	}
	if x, err := ForceExpire(context.Background(), s, elsewhere.Client().Base()+"/x/{runId}", "", "r", 2); err != nil || x.Status() != 202 || x.Credential != "" {
		t.Errorf("elsewhere: %+v, %v; want 202 without a credential", x, err)
	}
	if _, err := ForceExpire(context.Background(), s, "ftp://x/{runId}", "", "r", 2); err == nil {
		t.Error("a URL of another scheme is taken")
	}
}
