package telemetry_test

import (
	"context"
	"log/slog"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
	metricspb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	tracespb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc"

	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/telemetry"
)

// A collector takes spans and metrics by gRPC.
type collector struct {
	tracespb.UnimplementedTraceServiceServer
	spans chan string
}

func (c *collector) Export(_ context.Context, r *tracespb.ExportTraceServiceRequest) (
	*tracespb.ExportTraceServiceResponse, error) {
	for _, of := range r.GetResourceSpans() {
		for _, scope := range of.GetScopeSpans() {
			for _, span := range scope.GetSpans() {
				c.spans <- span.GetName()
			}
		}
	}
	return &tracespb.ExportTraceServiceResponse{}, nil
}

type metricCollector struct {
	metricspb.UnimplementedMetricsServiceServer
	names chan string
}

func (c *metricCollector) Export(_ context.Context, r *metricspb.ExportMetricsServiceRequest) (
	*metricspb.ExportMetricsServiceResponse, error) {
	for _, of := range r.GetResourceMetrics() {
		for _, scope := range of.GetScopeMetrics() {
			for _, metric := range scope.GetMetrics() {
				c.names <- metric.GetName()
			}
		}
	}
	return &metricspb.ExportMetricsServiceResponse{}, nil
}

func TestTelemetryArrivesByGRPC(t *testing.T) {
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := grpc.NewServer()
	t.Cleanup(server.Stop)
	traces, metrics := &collector{spans: make(chan string, 9)}, &metricCollector{names: make(chan string, 9)}
	tracespb.RegisterTraceServiceServer(server, traces)
	metricspb.RegisterMetricsServiceServer(server, metrics)
	go server.Serve(listener)

	cfg := config.Config{Telemetry: config.Telemetry{OTLPEndpoint: "http://" + listener.Addr().String(),
		OTLPProtocol: config.OTLPByGRPC, ExportTraces: true, ExportMetrics: true}}
	sent, err := telemetry.Start(t.Context(), cfg, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	_, span := sent.Tracers.Tracer("test").Start(t.Context(), "email.receive")
	span.End()
	count, err := sent.Meters.Meter("test").Int64Counter("mails")
	require.NoError(t, err)
	count.Add(t.Context(), 1)
	require.NoError(t, sent.Close())
	require.Equal(t, "email.receive", <-traces.spans)
	require.Equal(t, "mails", <-metrics.names)
}
