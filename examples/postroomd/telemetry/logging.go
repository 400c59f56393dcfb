package telemetry

import (
	"context"
	"io"
	"log/slog"

	"go.opentelemetry.io/otel/trace"

	"github.com/postroom-go/postroom/examples/postroomd/config"
)

// NewLogger logs text for people or, in production, JSON for machines.
func NewLogger(w io.Writer, app config.App) *slog.Logger {
	options := &slog.HandlerOptions{Level: app.LogLevel}
	if app.Env == config.EnvProd {
		return slog.New(traced{slog.NewJSONHandler(w, options)})
	}
	return slog.New(traced{slog.NewTextHandler(w, options)})
}

// traced adds the trace and span ids to log lines, so that a line leads to its trace and vice versa.
type traced struct{ slog.Handler }

func (t traced) Handle(ctx context.Context, r slog.Record) error {
	if span := trace.SpanContextFromContext(ctx); span.IsValid() {
		r.AddAttrs(slog.String("trace_id", span.TraceID().String()), slog.String("span_id", span.SpanID().String()))
	}
	return t.Handler.Handle(ctx, r)
}

func (t traced) WithAttrs(attrs []slog.Attr) slog.Handler { return traced{t.Handler.WithAttrs(attrs)} }

func (t traced) WithGroup(name string) slog.Handler { return traced{t.Handler.WithGroup(name)} }
