package queuehealth_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/flow"
	"github.com/postroom-go/postroom/queue/queuehealth"
	"github.com/postroom-go/postroom/queue/queuetest"
)

func TestMain(m *testing.M) { dbtest.Main(m, queue.Migrate) }

const greet queue.Type[int] = "greet"

func open(t *testing.T, db queue.DB, cfg *queue.Config) *queue.Queue {
	t.Helper()
	require.NoError(t, queue.Migrate(t.Context(), db))
	q, err := queue.New(db, cfg)
	require.NoError(t, err)
	return q
}

// An answer is what the handler says.
type answer struct {
	code     int
	Status   string
	Error    string
	Findings []struct{ Severity, Text string }
}

func get(t *testing.T, h http.Handler, path string) (a answer) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
	a.code = w.Code
	if w.Header().Get("Content-Type") == "application/json" {
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &a))
	}
	return a
}

func TestHealthChecks(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := open(t, db, nil)
		var notReady error
		cfg := &queuehealth.Config{Ready: func(context.Context) error { return notReady }}
		h, err := queuehealth.Handler(q, cfg)
		require.NoError(t, err)
		require.Equal(t, answer{code: http.StatusOK, Status: "ok"}, get(t, h, "/live"))
		require.Equal(t, answer{code: http.StatusOK, Status: "ok"}, get(t, h, "/ready"))
		notReady = errors.New("the index is being built")
		unready := answer{code: http.StatusServiceUnavailable, Status: "unavailable", Error: "the index is being built"}
		require.Equal(t, unready, get(t, h, "/ready"))
		require.Equal(t, http.StatusNotFound, get(t, h, "/").code)

		a := get(t, h, "/doctor")
		require.Equal(t, http.StatusOK, a.code)
		require.NotEmpty(t, a.Findings)

		enqueued, err := q.Enqueue(t.Context(), greet.New(1, nil))
		require.NoError(t, err)
		require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			_, err := tx.ExecContext(ctx, "UPDATE jobs SET state = 'failed' WHERE id = $1", enqueued.ID)
			return err
		}))
		require.Equal(t, a, get(t, h, "/doctor"), "findings are kept for a minute")
		h, err = queuehealth.Handler(q, cfg)
		require.NoError(t, err)
		a = get(t, h, "/doctor")
		require.Equal(t, http.StatusServiceUnavailable, a.code)
		require.Equal(t, "problem", a.Status)
	})
}

func TestADatabaseWithoutTablesIsNotReady(t *testing.T) {
	dbtest.EachEmpty(t, func(t *testing.T, db queue.DB) {
		q, err := queue.New(db, nil)
		require.NoError(t, err)
		h, err := queuehealth.Handler(q, nil)
		require.NoError(t, err)
		a := get(t, h, "/ready")
		require.Equal(t, http.StatusServiceUnavailable, a.code)
		require.Contains(t, a.Error, "call queue.Migrate first")
		require.Equal(t, http.StatusOK, get(t, h, "/live").code)

		reader := sdk.NewManualReader()
		_, err = queuehealth.Measure(q, &queuehealth.Config{MeterProvider: sdk.NewMeterProvider(sdk.WithReader(reader))})
		require.NoError(t, err)
		points := collect(t, reader)
		require.Equal(t, map[string]float64{"": 0}, points["postroom_queue_up"])
	})
}

// collect returns the points of all metrics by their names in Prometheus, and by the values of their attributes.
func collect(t *testing.T, reader sdk.Reader) map[string]map[string]float64 {
	t.Helper()
	var read metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(t.Context(), &read))
	points := make(map[string]map[string]float64)
	for _, s := range read.ScopeMetrics {
		for _, m := range s.Metrics {
			name := strings.ReplaceAll(m.Name, ".", "_")
			if m.Unit == "s" {
				name += "_seconds"
			}
			add := func(suffix string, set attribute.Set, v float64) {
				if points[name+suffix] == nil {
					points[name+suffix] = make(map[string]float64)
				}
				var values []string
				for _, kv := range set.ToSlice() {
					values = append(values, kv.Value.AsString())
				}
				points[name+suffix][strings.Join(values, " ")] = v
			}
			switch data := m.Data.(type) {
			case metricdata.Gauge[int64]:
				for _, p := range data.DataPoints {
					add("", p.Attributes, float64(p.Value))
				}
			case metricdata.Gauge[float64]:
				for _, p := range data.DataPoints {
					add("", p.Attributes, p.Value)
				}
			case metricdata.Sum[int64]:
				suffix := ""
				if data.IsMonotonic {
					suffix = "_total"
				}
				for _, p := range data.DataPoints {
					add(suffix, p.Attributes, float64(p.Value))
				}
			case metricdata.Histogram[float64]:
				for _, p := range data.DataPoints {
					add("_bucket", p.Attributes, 0)
					add("_count", p.Attributes, float64(p.Count))
					add("_sum", p.Attributes, p.Sum)
				}
			}
		}
	}
	return points
}

func TestGaugesAreReportedAndTheDashboardNamesOnlyWhatExists(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		reader := sdk.NewManualReader()
		meters := sdk.NewMeterProvider(sdk.WithReader(reader))
		q := open(t, db, &queue.Config{MeterProvider: meters})
		registration, err := queuehealth.Measure(q, &queuehealth.Config{MeterProvider: meters})
		require.NoError(t, err)
		jobs := []queue.NewJob{greet.New(1, &queue.Options{MaxAttempts: 1, Sequence: "s"}),
			greet.New(3, &queue.Options{Sequence: "s"}), greet.New(2, nil)}
		_, err = q.EnqueueMany(t.Context(), jobs)
		require.NoError(t, err)
		queuetest.Work(t, q, func(d *queue.Dispatcher) {
			queue.Handle(d, greet, func(_ context.Context, w *queue.Work[int]) error {
				if w.Payload == 1 {
					return errors.New("broken")
				}
				return nil
			})
		})
		_, err = q.EnqueueMany(t.Context(), jobs)
		require.NoError(t, err)
		_, err = flow.Enqueue(t.Context(), q, flow.Chain(greet.New(3, nil), greet.New(4, nil)))
		require.NoError(t, err)
		points := collect(t, reader)
		require.Equal(t, map[string]float64{"": 1}, points["postroom_queue_up"])
		require.InDelta(t, 2, points["postroom_queue_jobs"]["ready greet"], 0)
		require.InDelta(t, 4, points["postroom_queue_jobs"]["waiting greet"], 0)
		require.Equal(t, map[string]float64{"": 1}, points["postroom_queue_sequences_stopped"])
		require.InDelta(t, 1, points["postroom_queue_jobs"]["failed greet"], 0)
		require.Contains(t, points["postroom_queue_oldest_due_age_seconds"], "greet")
		require.Equal(t, map[string]float64{"running": 1, "canceling": 0}, points["postroom_queue_flows"])
		require.Equal(t, map[string]float64{"alive": 0, "dead": 0}, points["postroom_queue_workers"])
		require.Contains(t, points["postroom_queue_findings"], "problem")

		dashboard, err := os.ReadFile("../../deploy/grafana/queue.json")
		require.NoError(t, err)
		require.True(t, json.Valid(dashboard))
		doc, err := os.ReadFile("doc.go")
		require.NoError(t, err)
		named := regexp.MustCompile(`postroom_queue_\w+`).FindAllString(string(dashboard)+string(doc), -1)
		require.Greater(t, len(named), 10)
		for _, name := range named {
			require.Contains(t, points, name, "the dashboard or the description names a metric that is not reported")
		}
		for name := range points {
			if !strings.HasSuffix(name, "_count") && !strings.HasSuffix(name, "_sum") {
				require.Contains(t, string(dashboard), name, "the dashboard shows all")
			}
		}
		require.NoError(t, registration.Unregister())
		require.NotContains(t, collect(t, reader), "postroom_queue_up")
	})
}

func TestConfigIsChecked(t *testing.T) {
	_, err := queuehealth.Handler(nil, nil)
	require.ErrorContains(t, err, "the Queue is nil")
	_, err = queuehealth.Measure(queuetest.New(t), &queuehealth.Config{MaxAge: 1})
	require.ErrorContains(t, err, "Config.MaxAge is 1ns; it must be within 1s and 1h")
}
