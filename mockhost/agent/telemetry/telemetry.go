// Package telemetry tells the outside of the dead letters: OpenTelemetry metrics and traces, pushed by OTLP over HTTP and
// read by Prometheus.
//
// It never decides anything and keeps nothing that can't be lost: what was counted is in the store, and the gauges are
// read from there. It counts tenants apart, and a scrape shows one tenant's. Start at New.
package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// scope names who tells, as OpenTelemetry calls it.
const scope = "wopwitness/agent-dlq"

// Options is what telemetry is made from.
type Options struct {
	// OTLP is the base URL of a collector, to which /v1/traces and /v1/metrics are added; "" for none.
	OTLP string
	// Interval is the pause between two pushes of the metrics, in real time; 0 for 15 seconds.
	Interval time.Duration
	// Gauges are asked at each push and each scrape.
	Gauges func(context.Context) ([]Gauge, error)
	// Version is the host's.
	Version string
	// Logger is told of pushes that failed; nil for none.
	Logger *slog.Logger
}

// Telemetry is one instance's.
type Telemetry struct {
	registry *prometheus.Registry
	meters   *sdkmetric.MeterProvider
	traces   *sdktrace.TracerProvider // nil without a collector
	tracer   trace.Tracer
	log      *slog.Logger
	// unread is why the gauges couldn't be read the last time; nil when they could.
	unread atomic.Pointer[error]
	instruments
}

// New makes it, and begins to push where a collector is given. Whether the collector is there shows only at a push.
func New(ctx context.Context, o Options) (*Telemetry, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Interval <= 0 {
		o.Interval = 15 * time.Second
	}
	about := resource.NewSchemaless(attribute.String("service.name", "wopwitness"), attribute.String("service.version", o.Version))
	t := &Telemetry{registry: prometheus.NewRegistry(), log: o.Logger}
	scraped, err := exporter.New(exporter.WithRegisterer(t.registry), exporter.WithoutScopeInfo())
	if err != nil {
		return nil, fmt.Errorf("metrics for Prometheus: %w", err)
	}
	metrics := []sdkmetric.Option{sdkmetric.WithResource(about), sdkmetric.WithReader(scraped)}
	for _, view := range views() {
		metrics = append(metrics, sdkmetric.WithView(view))
	}
	if o.OTLP != "" {
		base, err := collector(o.OTLP)
		if err != nil {
			return nil, err
		}
		pushed, err := otlpmetrichttp.New(ctx, otlpmetrichttp.WithEndpointURL(base+"/v1/metrics"))
		if err != nil {
			return nil, fmt.Errorf("metrics by OTLP: %w", err)
		}
		metrics = append(metrics, sdkmetric.WithReader(sdkmetric.NewPeriodicReader(
			toldMetrics{pushed, o.Logger}, sdkmetric.WithInterval(o.Interval))))
		spans, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(base+"/v1/traces"))
		if err != nil {
			return nil, fmt.Errorf("traces by OTLP: %w", err)
		}
		t.traces = sdktrace.NewTracerProvider(
			sdktrace.WithResource(about), sdktrace.WithSampler(sdktrace.AlwaysSample()), sdktrace.WithIDGenerator(keptIDs{}),
			sdktrace.WithBatcher(toldSpans{spans, o.Logger}))
		t.tracer = t.traces.Tracer(scope, trace.WithInstrumentationVersion(o.Version))
	}
	t.meters = sdkmetric.NewMeterProvider(metrics...)
	if t.instruments, err = newInstruments(t.meters.Meter(scope), t.asking(o.Gauges)); err != nil {
		return nil, errors.Join(fmt.Errorf("metrics: %w", err), t.Close(ctx))
	}
	return t, nil
}

// asking reads the gauges for the instruments. What can't be read is left out of a push, and a scrape fails by it.
func (t *Telemetry) asking(gauges func(context.Context) ([]Gauge, error)) func(context.Context) []Gauge {
	if gauges == nil {
		return nil
	}
	return func(ctx context.Context) []Gauge {
		all, err := gauges(ctx)
		if err != nil {
			t.log.Warn("how the queues stand can't be read", "error", err)
			t.unread.Store(&err)
			return nil
		}
		t.unread.Store(nil)
		return all
	}
}

// collector checks a collector's address, and returns it without a slash at its end.
func collector(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return "", fmt.Errorf("the collector's address %q: it is http://HOST[:PORT] or https://…, as http://127.0.0.1:4318; "+
			"/v1/traces and /v1/metrics are added", address)
	}
	return strings.TrimSuffix(u.String(), "/"), nil
}

// views give the histograms their buckets.
func views() []sdkmetric.View {
	buckets := func(name string, bounds ...float64) sdkmetric.View {
		return sdkmetric.NewView(
			sdkmetric.Instrument{Name: name, Scope: instrumentation.Scope{Name: scope}},
			sdkmetric.Stream{Aggregation: sdkmetric.AggregationExplicitBucketHistogram{Boundaries: bounds}})
	}
	return []sdkmetric.View{
		// From a second to the fourteen days that an entry is kept.
		buckets(TimeToResolution, 1, 5, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 43200, 86400, 172800, 604800, 1209600),
		buckets(RepairConfidence, 0.5, 0.85, 0.95, 1),
	}
}

// Close pushes what wasn't pushed, as long as ctx allows, and ends the pushing.
func (t *Telemetry) Close(ctx context.Context) error {
	var errs []error
	if t.traces != nil {
		errs = append(errs, t.traces.Shutdown(ctx))
	}
	return errors.Join(append(errs, t.meters.Shutdown(ctx))...)
}

// Flush pushes what wasn't pushed yet.
func (t *Telemetry) Flush(ctx context.Context) error {
	var errs []error
	if t.traces != nil {
		errs = append(errs, t.traces.ForceFlush(ctx))
	}
	return errors.Join(append(errs, t.meters.ForceFlush(ctx))...)
}
