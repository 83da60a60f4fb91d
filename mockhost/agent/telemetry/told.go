package telemetry

import (
	"context"
	"log/slog"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// toldSpans tells the log of a push that failed, rather than the whole process's error handler.
type toldSpans struct {
	sdktrace.SpanExporter
	log *slog.Logger
}

// ExportSpans implements sdktrace.SpanExporter. The spans of a push that failed are gone.
func (e toldSpans) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if err := e.SpanExporter.ExportSpans(ctx, spans); err != nil {
		e.log.Warn("spans were not taken by the collector", "spans", len(spans), "error", err)
	}
	return nil
}

// toldMetrics does the same for metrics. The next push makes up for one that failed.
type toldMetrics struct {
	sdkmetric.Exporter
	log *slog.Logger
}

// Export implements sdkmetric.Exporter.
func (e toldMetrics) Export(ctx context.Context, m *metricdata.ResourceMetrics) error {
	if err := e.Exporter.Export(ctx, m); err != nil {
		e.log.Warn("metrics were not taken by the collector", "error", err)
	}
	return nil
}
