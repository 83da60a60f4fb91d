package mockhost_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	tracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"go.opentelemetry.io/proto/otlp/trace/v1"
	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/proto"

	"github.com/wopwitness/wopwitness/mockhost"
)

// playAll makes every metric show: entries of every sort, a repair, replays that succeed and fail, and a resolution.
func playAll(a agents) {
	a.tool("pay", "", "server_error", "server_error", "ok")
	a.tool("book", "", "semantic", "ok")
	a.ended("m1", call("pay", `{"to":"ana@example.com"}`))
	a.ended("m2", call("book", `{"start":9,"end":2}`))
	a.classified("pay")
	a.until(func() bool { return a.status("m2") == "completed" }, "the repair")
	a.advance(time.Hour)
}

// scraped is the metrics that Prometheus reads of the host, each with the names of its labels.
func scraped(a agents) map[string][]string {
	a.t.Helper()
	got := a.do("GET", "/metrics", a.KeyA, "")
	if got.status != http.StatusOK {
		a.t.Fatalf("/metrics answers %d %s", got.status, got.body)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(got.body))
	if err != nil {
		a.t.Fatal(err)
	}
	out := map[string][]string{}
	for name, f := range families {
		var labels []string
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetName())
			}
		}
		if f.GetMetric()[0].GetHistogram() == nil {
			out[name] = labels
			continue
		}
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			out[name+suffix] = labels
		}
		out[name+"_bucket"] = append(out[name+"_bucket"], "le")
	}
	return out
}

// expressions are the PromQL of the alerts and of the dashboard.
func expressions(t *testing.T) (out []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "deploy", "alerts", "agent-dlq.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var alerts struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr string
				Annotations map[string]string
			}
		}
	}
	if err := yaml.Unmarshal(text, &alerts); err != nil {
		t.Fatal(err)
	}
	for _, g := range alerts.Groups {
		for _, r := range g.Rules {
			out = append(out, r.Expr)
			if !anchored(t, r.Annotations["runbook"]) {
				t.Errorf("the alert %s leads to %q, which is no heading there", r.Alert, r.Annotations["runbook"])
			}
		}
	}
	text, err = os.ReadFile(filepath.Join("..", "deploy", "grafana", "agent-dlq.json"))
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct{ Targets []struct{ Expr string } }
	}
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			out = append(out, target.Expr)
		}
	}
	return out
}

// anchored says whether a link leads to a heading of a page of the project.
func anchored(t *testing.T, link string) bool {
	t.Helper()
	page, anchor, _ := strings.Cut(link, "#")
	text, err := os.ReadFile(filepath.Join("..", page))
	if err != nil {
		t.Fatal(err)
	}
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(string(text), -1) {
		plain := regexp.MustCompile(`[^a-z0-9 -]`).ReplaceAllString(strings.ToLower(heading[1]), "")
		if strings.ReplaceAll(plain, " ", "-") == anchor {
			return true
		}
	}
	return false
}

// TestTheDashboardAndTheAlertsAskForWhatTheHostShows compares every metric and label in them with a scrape.
func TestTheDashboardAndTheAlertsAskForWhatTheHostShows(t *testing.T) {
	a := playAgents(t, mockhost.Config{})
	playAll(a)
	shown := scraped(a)
	asked := map[string]bool{}
	for _, e := range expressions(t) {
		var labels []string
		for _, name := range regexp.MustCompile(`\bdlq_[a-z_]+`).FindAllString(e, -1) {
			if shown[name] == nil {
				t.Errorf("%s asks for %s, which the host doesn't show", e, name)
			}
			asked[strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_sum"), "_count")] = true
			labels = append(labels, shown[name]...)
		}
		for _, by := range regexp.MustCompile(`by \(([^)]*)\)|\{([a-z]+)=|,([a-z]+)=`).FindAllStringSubmatch(e, -1) {
			for label := range strings.SplitSeq(by[1]+by[2]+by[3], ", ") {
				if !slices.Contains(labels, label) {
					t.Errorf("%s asks for the label %q, which none of its metrics has", e, label)
				}
			}
		}
	}
	for name := range shown {
		base := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_sum"), "_count")
		if strings.HasPrefix(name, "dlq_") && !asked[base] {
			t.Errorf("nobody asks for %s", name)
		}
	}
	if len(asked) < 8 {
		t.Errorf("asked for %d metrics", len(asked))
	}
}

// TestEachAttemptAtAnEntryIsInItsTrace has replays that can't begin, and one of a message.
func TestEachAttemptAtAnEntryIsInItsTrace(t *testing.T) {
	a := playAgents(t, mockhost.Config{})
	a.tool("pay", "", "gone")
	a.ended("m", call("pay", `{}`))
	e := a.classified("pay")
	replay := fmt.Sprint("/queues/tool/", e["entryId"], "/replay")
	a.ask("POST", replay, `{"by":"ana"}`, http.StatusAccepted)
	a.ask("POST", fmt.Sprint("/conversations/", e["conversationRef"], "/expire"), `{}`, http.StatusNoContent)
	a.ask("POST", replay, `{"by":"ana"}`, http.StatusConflict)
	if got, want := a.recoveries("m"), []string{"circuit_open by ana", "conversation_expired by ana"}; !slices.Equal(got, want) {
		t.Errorf("the trace shows the attempts %v, want %v", got, want)
	}
	a.ask("POST", "/messages", `{"messageId":"n","body":"nonsense","workflow":{"steps":[{"tool":"pay","args":{}}]}}`, http.StatusAccepted)
	a.until(func() bool { return a.status("n") == "message_dead_lettered" }, "the end of n")
	id := a.ask("GET", "/queues/message", "", http.StatusOK)["entries"].([]any)[0].(jsonObject)["entryId"]
	a.ask("POST", fmt.Sprint("/queues/message/", id, "/replay"), `{"by":"ana"}`, http.StatusAccepted)
	if got, want := a.recoveries("n"), []string{"redelivered by ana"}; !slices.Equal(got, want) {
		t.Errorf("the trace shows the attempts %v, want %v", got, want)
	}
}

// recoveries are the attempts that the trace of a message shows, each with a link to an entry's span.
func (a agents) recoveries(id string) (out []string) {
	a.t.Helper()
	enqueued := map[any]bool{}
	spans := a.ask("GET", "/traces/"+traceOf(a, id), "", http.StatusOK)["spans"].([]any)
	for _, s := range spans {
		if s := s.(jsonObject); s["name"] == "dlq.enqueue" {
			enqueued[s["spanId"]] = true
		}
	}
	for _, s := range spans {
		s := s.(jsonObject)
		if s["name"] != "dlq.recover" {
			continue
		}
		links := s["links"].([]any)
		if len(links) != 1 || !enqueued[links[0].(jsonObject)["spanId"]] {
			a.t.Errorf("it links to no entry: %v", s)
		}
		says := s["attributes"].(jsonObject)
		out = append(out, fmt.Sprint(says["dlq.outcome"], " by ", says["dlq.by"]))
	}
	return out
}

func TestAScrapeNeedsAKeyAndShowsItsTenant(t *testing.T) {
	a := playAgents(t, mockhost.Config{})
	playAll(a)
	for key, want := range map[string]int{"": http.StatusUnauthorized, a.KeyLow: http.StatusForbidden, a.KeyB: http.StatusOK} {
		if got := a.do("GET", "/metrics", key, ""); got.status != want || strings.Contains(got.body, "pay") {
			t.Errorf("with %q it answers %d %s", key, got.status, got.body)
		}
	}
	plain := start(t, mockhost.Config{})
	if got := plain.do("GET", "/metrics", plain.KeyA, ""); got.status != http.StatusNotFound {
		t.Errorf("without an agent worker it answers %d", got.status)
	}
}

func TestACollectorIsSentTheSpansThatTheSeamShows(t *testing.T) {
	var mu sync.Mutex
	received := map[string]*v1.Span{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.HasSuffix(r.URL.Path, "/v1/traces") {
			var m tracepb.ExportTraceServiceRequest
			if err := proto.Unmarshal(body, &m); err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, rs := range m.GetResourceSpans() {
				for _, ss := range rs.GetScopeSpans() {
					for _, s := range ss.GetSpans() {
						received[hex.EncodeToString(s.GetSpanId())] = s
					}
				}
			}
		}
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	defer srv.Close()
	h, err := mockhost.New(t.Context(), mockhost.Config{OTLP: srv.URL, Seams: true, Clock: "manual"})
	if err != nil {
		t.Fatal(err)
	}
	a := agents{serve(t, h)}
	playAll(a)
	trace := a.ask("GET", "/messages/m1", "", http.StatusOK)["traceId"].(string)
	shown := a.ask("GET", "/traces/"+trace, "", http.StatusOK)["spans"].([]any)
	if err := h.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	for _, s := range shown {
		s := s.(jsonObject)
		got := received[s["spanId"].(string)]
		if got.GetName() != s["name"] || hex.EncodeToString(got.GetTraceId()) != trace || len(got.GetLinks()) != len(s["links"].([]any)) {
			t.Errorf("the seam shows %v, and the collector was sent %v", s, got)
			continue
		}
		for i, l := range s["links"].([]any) {
			if to := hex.EncodeToString(got.GetLinks()[i].GetSpanId()); to != l.(jsonObject)["spanId"] {
				t.Errorf("%s links to %s, want %v", s["name"], to, l)
			}
		}
		if strings.Contains(got.String(), "ana@") {
			t.Errorf("an address goes out: %v", got)
		}
	}
	if len(shown) < 6 { // the delivery, its call, the entry, two replays with theirs
		t.Errorf("the seam shows %d spans", len(shown))
	}
}

// TestTheAlertsFire has Prometheus' own tool try the rules on series as a host shows them.
func TestTheAlertsFire(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("no promtool is installed, so deploy/alerts isn't tried")
	}
	out, err := exec.CommandContext(t.Context(), promtool, "test", "rules", filepath.Join("..", "deploy", "alerts", "tests", "agent-dlq.yaml")).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
