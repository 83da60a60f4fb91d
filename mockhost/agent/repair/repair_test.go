package repair_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/wopwitness/wopwitness/mockhost/agent/modelserver"
	"github.com/wopwitness/wopwitness/mockhost/agent/repair"
	"github.com/wopwitness/wopwitness/mockhost/parts"
)

// tier proposes an object of its name with a confidence; below nothing, -1, it has nothing to propose.
type tier struct {
	name       string
	confidence float64
	err        error
	asked      *[]string
}

func (t tier) Propose(context.Context, parts.RepairAsk) (parts.Proposal, bool, error) {
	*t.asked = append(*t.asked, t.name)
	return parts.Proposal{Payload: json.RawMessage(`{"by":"` + t.name + `"}`), Confidence: t.confidence}, t.confidence != -1, t.err
}

func TestTheSmallTierIsAskedFirst(t *testing.T) {
	down := errors.New("down")
	type says struct {
		name       string
		confidence float64
		err        error
	}
	cases := map[string]struct {
		tiers []says
		asked []string
		by    string // "" for no proposal
		err   string
	}{
		"sure enough":            {[]says{{"small", 0.85, nil}, {"large", 1, nil}}, []string{"small"}, "small", ""},
		"not quite":              {[]says{{"small", 0.84, nil}, {"large", 0.9, nil}}, []string{"small", "large"}, "large", ""},
		"nobody sure":            {[]says{{"small", 0.6, nil}, {"large", 0.5, nil}}, []string{"small", "large"}, "small", ""},
		"of equals the earlier":  {[]says{{"small", 0.5, nil}, {"large", 0.5, nil}}, []string{"small", "large"}, "small", ""},
		"one knows nothing":      {[]says{{"small", -1, nil}, {"large", 0.1, nil}}, []string{"small", "large"}, "large", ""},
		"nobody knows":           {[]says{{"small", -1, nil}, {"large", -1, nil}}, []string{"small", "large"}, "", ""},
		"one fails":              {[]says{{"small", 0.9, down}, {"large", 0.2, nil}}, []string{"small", "large"}, "large", ""},
		"all fail":               {[]says{{"small", 0.9, down}, {"large", 0.9, down}}, []string{"small", "large"}, "", "repairer 2 of 2: down"},
		"more than sure":         {[]says{{"small", 1.01, nil}, {"large", 0.7, nil}}, []string{"small", "large"}, "large", ""},
		"not a number":           {[]says{{"small", math.NaN(), nil}}, []string{"small"}, "", "want 0 to 1"},
		"as sure as one can be":  {[]says{{"small", 1, nil}}, []string{"small"}, "small", ""},
		"not sure at all, still": {[]says{{"small", 0, nil}}, []string{"small"}, "small", ""},
		"no tiers":               {nil, nil, "", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var asked []string
			tiers := repair.Tiers{Threshold: 0.85}
			for _, s := range c.tiers {
				tiers.Order = append(tiers.Order, tier{s.name, s.confidence, s.err, &asked})
			}
			p, ok, err := tiers.Propose(t.Context(), parts.RepairAsk{})
			if ok != (c.by != "") || ok && string(p.Payload) != `{"by":"`+c.by+`"}` || !reflect.DeepEqual(asked, c.asked) {
				t.Errorf("got %s, %v, having asked %v; want %q, having asked %v", p.Payload, ok, asked, c.by, c.asked)
			}
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("got %v, want an error with %q", err, c.err)
			}
		})
	}
}

func TestTheRuleSwapsWhatStandsTheWrongWayRound(t *testing.T) {
	cases := map[string]struct{ payload, want string }{
		"dates":                    {`{"start":"2026-05-09","end":"2026-05-02","room":1.50}`, `{"end":"2026-05-09","room":1.50,"start":"2026-05-02"}`},
		"instants of two zones":    {`{"start":"2026-05-02T10:00:00Z","end":"2026-05-02T11:00:00+02:00"}`, `{"end":"2026-05-02T10:00:00Z","start":"2026-05-02T11:00:00+02:00"}`},
		"numbers":                  {`{"start":9,"end":2}`, `{"end":9,"start":2}`},
		"times of day":             {`{"start":"18:00","end":"09:30"}`, `{"end":"18:00","start":"09:30"}`},
		"the right way round":      {`{"start":"2026-05-02","end":"2026-05-09"}`, ""},
		"the same":                 {`{"start":"2026-05-02","end":"2026-05-02"}`, ""},
		"a date and a number":      {`{"start":"2026-05-02","end":1}`, ""},
		"a date and an instant":    {`{"start":"2026-05-02","end":"2026-05-01T00:00:00Z"}`, ""},
		"words":                    {`{"start":"b","end":"a"}`, ""},
		"no end":                   {`{"start":"2026-05-02"}`, ""},
		"deeper down, not its own": {`{"range":{"start":9,"end":2}}`, ""},
		"a list":                   {`[9,2]`, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p, ok, err := repair.Rules{}.Propose(t.Context(), parts.RepairAsk{Payload: json.RawMessage(c.payload)})
			if err != nil || ok != (c.want != "") || string(p.Payload) != c.want || ok && p.Confidence != 0.9 {
				t.Errorf("got %s (%v), %v, %v; want %s", p.Payload, p.Confidence, ok, err, c.want)
			}
		})
	}
}

func TestAModelServerIsGivenTheWholeStory(t *testing.T) {
	cases := map[string]struct{ says, payload, err string }{
		"a proposal":    {`{"payload":{"n":2},"confidence":0.7}`, `{"n":2}`, ""},
		"nothing":       {`{"payload":null,"confidence":0}`, "", ""},
		"no confidence": {`{"payload":{"n":2}}`, "", "nothing of its confidence"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var asked map[string]any
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				if err := json.Unmarshal(body, &asked); err != nil {
					t.Error(err)
				}
				_, _ = io.WriteString(w, c.says)
			}))
			defer srv.Close()
			p, ok, err := repair.Server{Server: modelserver.Server{URL: srv.URL}}.Propose(t.Context(), parts.RepairAsk{
				Tenant: "acme", Tool: "book", Schema: json.RawMessage(`{"type":"object"}`), Documentation: "books a room",
				Payload: json.RawMessage(`{"n":1}`), Reason: "no such room", Purpose: "a trip",
			})
			if ok != (c.payload != "") || string(p.Payload) != c.payload || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("got %s, %v, %v", p.Payload, ok, err)
			}
			want := map[string]any{
				"tool": "book", "schema": map[string]any{"type": "object"}, "documentation": "books a room",
				"payload": map[string]any{"n": 1.0}, "reason": "no such room", "purpose": "a trip",
			}
			if !reflect.DeepEqual(asked, want) {
				t.Errorf("asked %v", asked)
			}
		})
	}
}

func TestNoMoreAskAtOnceThanThereAreSlots(t *testing.T) {
	var now, most atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for n := now.Add(1); ; {
			if m := most.Load(); n <= m || most.CompareAndSwap(m, n) {
				break
			}
		}
		now.Add(-1)
		_, _ = io.WriteString(w, `{"payload":{},"confidence":1}`)
	}))
	defer srv.Close()
	s := repair.Server{Server: modelserver.Server{URL: srv.URL}, Slots: make(chan struct{}, 2)}
	done := make(chan error)
	for range 12 {
		go func() {
			_, _, err := s.Propose(t.Context(), parts.RepairAsk{Payload: json.RawMessage("{}")})
			done <- err
		}()
	}
	for range 12 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if most.Load() > 2 {
		t.Errorf("%d asked at once", most.Load())
	}
	s.Slots <- struct{}{}
	s.Slots <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := s.Propose(ctx, parts.RepairAsk{Payload: json.RawMessage("{}")}); !errors.Is(err, context.Canceled) {
		t.Errorf("with no slot free, and nobody waiting: %v", err)
	}
}
