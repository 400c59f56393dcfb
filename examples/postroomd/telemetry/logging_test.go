package telemetry

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace"

	"github.com/postroom-go/postroom/examples/postroomd/config"
)

// A line that is logged within a span names it, whatever has been made of the logger.
func TestLogLinesNameTheirTrace(t *testing.T) {
	span := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1, 2}, SpanID: trace.SpanID{3}})
	var out bytes.Buffer
	log := NewLogger(&out, config.App{Env: config.EnvProd}).With("account", "a@example.org").WithGroup("of")
	log.InfoContext(trace.ContextWithSpanContext(context.Background(), span), "traced", "job", 7)
	log.InfoContext(context.Background(), "alone", "job", 8)

	decoder := json.NewDecoder(&out)
	var traced, alone struct {
		Account string `json:"account"`
		Of      struct {
			Job     int    `json:"job"`
			TraceID string `json:"trace_id"`
			SpanID  string `json:"span_id"`
		} `json:"of"`
	}
	require.NoError(t, decoder.Decode(&traced))
	require.NoError(t, decoder.Decode(&alone))
	require.Equal(t, "a@example.org", traced.Account)
	require.Equal(t, 7, traced.Of.Job)
	require.Equal(t, span.TraceID().String(), traced.Of.TraceID)
	require.Equal(t, span.SpanID().String(), traced.Of.SpanID)
	require.Equal(t, 8, alone.Of.Job)
	require.Empty(t, alone.Of.TraceID)
}
