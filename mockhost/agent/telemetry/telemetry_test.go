package telemetry_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/http/httptest"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/wopwitness/wopwitness/mockhost/agent/telemetry"
	"github.com/wopwitness/wopwitness/mockhost/parts"
)

func at(seconds float64) time.Time {
	return time.Date(2026, 5, 2, 10, 0, 0, 0, time.UTC).Add(time.Duration(seconds * float64(time.Second)))
}

func start(t *testing.T, o telemetry.Options) *telemetry.Telemetry {
	t.Helper()
	o.Version = "1.2.3"
	tel, err := telemetry.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tel.Close(context.Background()) })
	return tel
}

func gauges(context.Context) ([]telemetry.Gauge, error) {
	return []telemetry.Gauge{
		{
			Tenant: "acme", Threshold: 100, Replayed: 4, Succeeded: 3,
			Queues: []telemetry.QueueGauge{{"tool", 7, 90 * time.Second}, {"message", 0, 0}},
		},
		{Tenant: "birch", Threshold: 100, Queues: []telemetry.QueueGauge{{"tool", 1, time.Second}}},
	}, nil
}

// play is an entry's life, as the instruments are told of it.
func play(tel *telemetry.Telemetry) {
	e := parts.Entry{Tenant: "acme", Queue: parts.ToolQueue, Tool: "book", Category: parts.SemanticFailure, FirstSeen: at(0), Ended: at(12.5)}
	tel.Enqueued(e)
	tel.Enqueued(e)
	tel.Enqueued(parts.Entry{Tenant: "birch", Queue: parts.MessageQueue})
	tel.Proposed(e, parts.Proposal{Confidence: 0.85})
	tel.Replayed(e, false)
	tel.Replayed(e, true)
	tel.Resolved(e)
}

const (
	traceID  = "0af7651916cd43dd8448eb211c80319c"
	callSpan = "b7ad6b7169203331"
	putSpan  = "00f067aa0ba902b7"
	backSpan = "53995c3f42cd8ad8"
)

func TestACollectorReceivesTheMetricsUnderTheirNames(t *testing.T) {
	c := newCollector(t)
	tel := start(t, telemetry.Options{OTLP: c.url, Interval: time.Hour, Gauges: gauges})
	play(tel)
	if err := tel.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()

	var enqueued []string
	sum := c.metrics[telemetry.EnqueueRate].GetSum()
	for _, p := range sum.GetDataPoints() {
		w := words(p.GetAttributes())
		enqueued = append(enqueued, strings.Join([]string{w["tenant"], w["queue"], w["tool"], w["category"]}, " ")+" "+string(rune('0'+p.GetAsInt())))
	}
	slices.Sort(enqueued)
	if want := []string{"acme tool book SEMANTIC_FAILURE 2", "birch message  unclassified 1"}; !reflect.DeepEqual(enqueued, want) || !sum.GetIsMonotonic() {
		t.Errorf("enqueued: %q, want %q", enqueued, want)
	}
	if got := intAt(c.metrics[telemetry.Depth].GetGauge(), "acme", "tool"); got != 7 {
		t.Errorf("the depth is %d", got)
	}
	rate := c.metrics[telemetry.ReplaySuccessRate].GetGauge().GetDataPoints()
	if len(rate) != 1 || rate[0].GetAsDouble() != 0.75 || words(rate[0].GetAttributes())["tenant"] != "acme" {
		t.Errorf("the success rate is %v; where nothing was replayed there is none", rate)
	}
	resolution := c.metrics[telemetry.TimeToResolution].GetHistogram().GetDataPoints()
	if len(resolution) != 1 || resolution[0].GetSum() != 12.5 || c.metrics[telemetry.TimeToResolution].GetUnit() != "s" {
		t.Errorf("the time to resolution is %v", resolution)
	}
	confidence := c.metrics[telemetry.RepairConfidence].GetHistogram().GetDataPoints()
	if len(confidence) != 1 || !reflect.DeepEqual(confidence[0].GetExplicitBounds(), []float64{0.5, 0.85, 0.95, 1}) ||
		!reflect.DeepEqual(confidence[0].GetBucketCounts(), []uint64{0, 1, 0, 0, 0}) {
		t.Errorf("the confidence is %v", confidence)
	}
}

func intAt(g *metrics.Gauge, tenant, queue string) int64 {
	for _, p := range g.GetDataPoints() {
		if w := words(p.GetAttributes()); w["tenant"] == tenant && w["queue"] == queue {
			return p.GetAsInt()
		}
	}
	return -1
}

func TestACollectorReceivesAnEntrysWholeLife(t *testing.T) {
	c := newCollector(t)
	tel := start(t, telemetry.Options{OTLP: c.url, Interval: time.Hour})
	tel.Span(parts.Span{
		Tenant: "acme", Name: parts.SpanToolCall, TraceID: traceID, SpanID: callSpan, Parent: "1111111111111111", Start: at(0), End: at(1),
		Attributes: map[string]any{"error.type": "server_error"},
	})
	tel.Span(parts.Span{
		Tenant: "acme", Name: parts.SpanEnqueue, TraceID: traceID, SpanID: putSpan, Start: at(1), End: at(1.25),
		Attributes: map[string]any{
			"dlq.invocation_id": "inv_1", "dlq.tool_name": "book", "dlq.failure_reason": "server_error", "dlq.attempt_count": 3.0,
		},
		Links: []parts.SpanLink{{TraceID: traceID, SpanID: callSpan}},
	})
	tel.Span(parts.Span{
		Tenant: "acme", Name: parts.SpanRecover, TraceID: "4bf92f3577b34da6a3ce929d0e0e4736", SpanID: backSpan, Start: at(60), End: at(61),
		Links: []parts.SpanLink{{TraceID: traceID, SpanID: putSpan}},
	})
	tel.Span(parts.Span{Name: "unnamed", TraceID: "none", SpanID: "none"})
	if err := tel.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.spans) != 3 || c.about["service.name"] != "wopwitness" || c.about["service.version"] != "1.2.3" {
		t.Fatalf("received %v of %v", c.spans, c.about)
	}
	call, put, back := c.spans[parts.SpanToolCall], c.spans[parts.SpanEnqueue], c.spans[parts.SpanRecover]
	if hex.EncodeToString(call.GetTraceId()) != traceID || hex.EncodeToString(call.GetSpanId()) != callSpan ||
		hex.EncodeToString(call.GetParentSpanId()) != "1111111111111111" || call.GetStatus().GetCode() != trace.Status_STATUS_CODE_ERROR {
		t.Errorf("the call is %v", call)
	}
	if links := linked(put); !reflect.DeepEqual(links, []string{traceID + "/" + callSpan}) || len(put.GetParentSpanId()) > 0 {
		t.Errorf("dlq.enqueue links to %v", links)
	}
	w := words(put.GetAttributes())
	if w["dlq.invocation_id"] != "inv_1" || w["dlq.tool_name"] != "book" || w["dlq.failure_reason"] != "server_error" ||
		w["dlq.attempt_count"] != "int_value:3" {
		t.Errorf("dlq.enqueue says %v", w)
	}
	if put.GetStartTimeUnixNano() != uint64(at(1).UnixNano()) || put.GetEndTimeUnixNano() != uint64(at(1.25).UnixNano()) {
		t.Errorf("dlq.enqueue took from %d to %d", put.GetStartTimeUnixNano(), put.GetEndTimeUnixNano())
	}
	if links := linked(back); !reflect.DeepEqual(links, []string{traceID + "/" + putSpan}) {
		t.Errorf("dlq.recover links to %v", links)
	}
}

func linked(s *trace.Span) []string {
	var out []string
	for _, l := range s.GetLinks() {
		out = append(out, hex.EncodeToString(l.GetTraceId())+"/"+hex.EncodeToString(l.GetSpanId()))
	}
	return out
}

// scrape is what Prometheus reads for a tenant.
func scrape(tel *telemetry.Telemetry, tenant string) (int, string) {
	w := httptest.NewRecorder()
	_ = tel.Scrape(w, httptest.NewRequest("GET", "/metrics", nil), tenant)
	return w.Code, w.Body.String()
}

func TestAScrapeShowsOneTenantsMetrics(t *testing.T) {
	tel := start(t, telemetry.Options{Gauges: gauges})
	play(tel)
	status, text := scrape(tel, "acme")
	for _, line := range []string{
		`dlq_enqueue_rate_total{category="SEMANTIC_FAILURE",queue="tool",tenant="acme",tool="book"} 2`,
		`dlq_depth{queue="tool",tenant="acme"} 7`,
		`dlq_depth_threshold{tenant="acme"} 100`,
		`dlq_oldest_age_seconds{queue="tool",tenant="acme"} 90`,
		`dlq_replay_success_rate_ratio{tenant="acme"} 0.75`,
		`dlq_replays_total{outcome="failed",tenant="acme",tool="book"} 1`,
		`dlq_time_to_resolution_seconds_sum{tenant="acme",tool="book"} 12.5`,
		`dlq_semantic_repair_confidence_bucket{tenant="acme",tool="book",le="0.85"} 1`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no line %s\nin %s", line, text)
		}
	}
	if status != 200 || strings.Contains(text, "birch") {
		t.Errorf("status %d, and another tenant: %s", status, text)
	}
	if _, text := scrape(tel, "birch"); strings.Contains(text, "acme") || !strings.Contains(text, `dlq_depth{queue="tool",tenant="birch"} 1`) {
		t.Errorf("the other tenant reads %s", text)
	}
	if _, text := scrape(tel, "nobody"); regexp.MustCompile(`(?m)^dlq_`).MatchString(text) {
		t.Errorf("a third reads %s", text)
	}
}

func TestAScrapeWithoutTheStoreFails(t *testing.T) {
	tel := start(t, telemetry.Options{Gauges: func(context.Context) ([]telemetry.Gauge, error) { return nil, errors.New("the store is closed") }})
	w := httptest.NewRecorder()
	err := tel.Scrape(w, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil), "acme")
	if err == nil || !strings.Contains(err.Error(), "the store is closed") || w.Body.Len() > 0 {
		t.Errorf("got %v, and answered %s", err, w.Body)
	}
}

func TestACollectorThatIsDownIsToldToTheLogAndToNobodyElse(t *testing.T) {
	gone := httptest.NewServer(nil)
	gone.Close()
	var log bytes.Buffer
	tel := start(t, telemetry.Options{OTLP: gone.URL, Interval: time.Hour, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	play(tel)
	tel.Span(parts.Span{Tenant: "acme", Name: parts.SpanMessage, TraceID: traceID, SpanID: callSpan, Start: at(0), End: at(1)})
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_ = tel.Flush(ctx)
	if !strings.Contains(log.String(), "spans were not taken by the collector") {
		t.Errorf("the log says %q", log.String())
	}
	if status, text := scrape(tel, "acme"); status != 200 || !strings.Contains(text, "dlq_enqueue_rate_total") {
		t.Errorf("the scrape answered %d: %s", status, text)
	}
}

func TestACollectorsAddressIsChecked(t *testing.T) {
	for _, address := range []string{"127.0.0.1:4318", "ftp://c", "http://", "http://c?x=1", "http://user:pw@c"} {
		if _, err := telemetry.New(t.Context(), telemetry.Options{OTLP: address}); err == nil || !strings.Contains(err.Error(), "http://HOST[:PORT]") {
			t.Errorf("%q: %v", address, err)
		}
	}
}
