package telemetry

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/metric"
	metricsdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	tracesdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/postroom-go/postroom/examples/postroomd/config"
)

// A Telemetry exports traces and metrics by OTLP, over HTTP or gRPC. The zero telemetry exports nothing.
type Telemetry struct {
	Tracers  trace.TracerProvider
	Meters   metric.MeterProvider
	shutDown []func(context.Context) error
}

// Start exports the configured telemetry. An unreachable server is logged and stops nothing.
func Start(ctx context.Context, cfg config.Config, log *slog.Logger) (*Telemetry, error) {
	t := new(Telemetry)
	endpoint := strings.TrimRight(cfg.Telemetry.OTLPEndpoint, "/")
	if endpoint == "" {
		return t, nil
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("telemetry is not exported", "error", err) }))
	of := resource.NewSchemaless(
		attribute.String("service.name", cfg.App.ServiceName),
		attribute.String("service.version", Version()),
		attribute.String("deployment.environment", cfg.App.Env),
		attribute.String("deployment.environment.name", cfg.App.Env),
		attribute.String("host.arch", runtime.GOARCH),
		attribute.String("os.type", runtime.GOOS),
	)
	if cfg.Telemetry.ExportTraces {
		exporter, err := traces(ctx, cfg.Telemetry.OTLPProtocol, endpoint)
		if err != nil {
			return nil, err
		}
		provider := tracesdk.NewTracerProvider(tracesdk.WithBatcher(exporter), tracesdk.WithResource(of))
		t.Tracers, t.shutDown = provider, append(t.shutDown, provider.Shutdown)
	}
	if cfg.Telemetry.ExportMetrics {
		exporter, err := metrics(ctx, cfg.Telemetry.OTLPProtocol, endpoint)
		if err != nil {
			return nil, errors.Join(err, t.Close())
		}
		provider := metricsdk.NewMeterProvider(metricsdk.WithReader(metricsdk.NewPeriodicReader(exporter)),
			metricsdk.WithResource(of))
		t.Meters, t.shutDown = provider, append(t.shutDown, provider.Shutdown)
	}
	return t, nil
}

func traces(ctx context.Context, protocol, endpoint string) (tracesdk.SpanExporter, error) {
	if protocol == config.OTLPByGRPC {
		return otlptracegrpc.New(ctx, otlptracegrpc.WithEndpointURL(endpoint))
	}
	return otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(endpoint+"/v1/traces"))
}

func metrics(ctx context.Context, protocol, endpoint string) (metricsdk.Exporter, error) {
	if protocol == config.OTLPByGRPC {
		return otlpmetricgrpc.New(ctx, otlpmetricgrpc.WithEndpointURL(endpoint))
	}
	return otlpmetrichttp.New(ctx, otlpmetrichttp.WithEndpointURL(endpoint+"/v1/metrics"))
}

// Unrecorded makes the ids of traces, which log lines and stored jobs have also where nothing is exported, and
// records nothing. A job costs 4 µs more by it, and less than a hundredth of a message's time.
func Unrecorded() trace.TracerProvider {
	return tracesdk.NewTracerProvider(tracesdk.WithSampler(tracesdk.NeverSample()))
}

// Close sends what is left.
func (t *Telemetry) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	var errs []error
	for _, shutDown := range t.shutDown {
		errs = append(errs, shutDown(ctx))
	}
	return errors.Join(errs...)
}
