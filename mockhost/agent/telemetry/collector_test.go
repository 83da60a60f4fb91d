package telemetry_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	metricspb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// collector takes what is pushed by OTLP over HTTP, as protobuf.
type collector struct {
	url     string
	mu      sync.Mutex
	spans   map[string]*trace.Span // by name
	metrics map[string]*metrics.Metric
	about   map[string]string // the resource
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{spans: map[string]*trace.Span{}, metrics: map[string]*metrics.Metric{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /base/v1/traces", func(w http.ResponseWriter, r *http.Request) {
		var m tracepb.ExportTraceServiceRequest
		c.take(t, r, &m)
		for _, rs := range m.GetResourceSpans() {
			c.about = words(rs.GetResource().GetAttributes())
			for _, ss := range rs.GetScopeSpans() {
				for _, s := range ss.GetSpans() {
					c.spans[s.GetName()] = s
				}
			}
		}
		c.mu.Unlock()
		answer(t, w, &tracepb.ExportTraceServiceResponse{})
	})
	mux.HandleFunc("POST /base/v1/metrics", func(w http.ResponseWriter, r *http.Request) {
		var m metricspb.ExportMetricsServiceRequest
		c.take(t, r, &m)
		for _, rm := range m.GetResourceMetrics() {
			for _, sm := range rm.GetScopeMetrics() {
				for _, one := range sm.GetMetrics() {
					c.metrics[one.GetName()] = one
				}
			}
		}
		c.mu.Unlock()
		answer(t, w, &metricspb.ExportMetricsServiceResponse{})
	})
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	c.url = srv.URL + "/base/"
	return c
}

// take decodes a push, and leaves the collector locked.
func (c *collector) take(t *testing.T, r *http.Request, m proto.Message) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Error(err)
	}
	if got := r.Header.Get("Content-Type"); got != "application/x-protobuf" {
		t.Errorf("%s is pushed as %q", r.URL.Path, got)
	}
	if err := proto.Unmarshal(body, m); err != nil {
		t.Errorf("%s: %v", r.URL.Path, err)
	}
	c.mu.Lock()
}

func answer(t *testing.T, w http.ResponseWriter, m proto.Message) {
	body, err := proto.Marshal(m)
	if err != nil {
		t.Error(err)
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
	_, _ = w.Write(body)
}

// words are attributes as texts; a number is written in decimal.
func words(kvs []*common.KeyValue) map[string]string {
	out := map[string]string{}
	for _, kv := range kvs {
		switch v := kv.GetValue().GetValue().(type) {
		case *common.AnyValue_StringValue:
			out[kv.GetKey()] = v.StringValue
		default:
			out[kv.GetKey()] = kv.GetValue().String()
		}
	}
	return out
}
