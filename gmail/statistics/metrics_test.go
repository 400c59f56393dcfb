package statistics_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/postroom-go/postroom/gmail/statistics"
	"github.com/postroom-go/postroom/internal/dbtest"
)

func TestMetricsNameNobody(t *testing.T) {
	w := newTestWorld(t, dbtest.SQLite(t))
	reader := metric.NewManualReader()
	meters := metric.NewMeterProvider(metric.WithReader(reader))
	registered, err := storeOf(t, w.db).Observe(meters)
	require.NoError(t, err)
	w.fill()
	w.count()
	w.message("ada@example.org", "[]", at(50))
	points := collected(t, reader)
	for _, wanted := range []string{
		"postroom.statistics.received [] 1", "postroom.statistics.messages [category=work] 1",
		"postroom.statistics.actions [outcome=corrected source=deterministic] 1",
		"postroom.statistics.actions [outcome=corrected source=llm] 1",
		"postroom.statistics.acts [act=moved_back] 1", "postroom.statistics.marked_days [] 1",
	} {
		require.Contains(t, points, wanted)
	}
	for _, p := range points {
		require.NotContains(t, p, "@")
		require.NotContains(t, p, "News")
	}
	require.NoError(t, registered.Unregister())
	require.Empty(t, collected(t, reader))
	require.Len(t, statistics.Dimensions, 7)
}

func collected(t *testing.T, reader metric.Reader) (points []string) {
	t.Helper()
	var all metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(t.Context(), &all))
	add := func(name string, attrs []string, value any) {
		points = append(points, fmt.Sprintf("%s %v %v", name, attrs, value))
	}
	for _, s := range all.ScopeMetrics {
		for _, m := range s.Metrics {
			switch data := m.Data.(type) {
			case metricdata.Gauge[int64]:
				for _, p := range data.DataPoints {
					add(m.Name, texts(p.Attributes), p.Value)
				}
			case metricdata.Gauge[float64]:
				for _, p := range data.DataPoints {
					add(m.Name, texts(p.Attributes), p.Value)
				}
			}
		}
	}
	slices.Sort(points)
	return points
}

func texts(set attribute.Set) (list []string) {
	for _, kv := range set.ToSlice() { // in the order of their keys
		list = append(list, fmt.Sprintf("%s=%s", kv.Key, kv.Value.String()))
	}
	return list
}
