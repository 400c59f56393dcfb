package drafting_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/postroom-go/postroom/gmail/drafting"
)

// Drafts are counted by what becomes of them, also if a person has sent them in Gmail, with the time to the answer.
func TestDraftsAreCounted(t *testing.T) {
	w := newWorld(t, dbSQLite(t))
	reader := sdk.NewManualReader()
	w.cfg.MeterProvider = sdk.NewMeterProvider(sdk.WithReader(reader))
	var err error
	w.service, err = drafting.New(w.cfg)
	require.NoError(t, err)
	w.drafted(1)
	w.send(w.oneDraft()) // in Gmail, as it is
	w.sync()
	m, word := w.drafted(2)
	require.NoError(t, w.say(word, "Shorter."))
	w.sync()
	w.edit(w.oneDraft(), func(string) string { return "I have changed it." })
	word.Turn = 0
	onRecord := 0
	require.NoError(t, w.sends(word, w.look(m.ThreadID).SHA256, &onRecord))
	_, word = w.drafted(3)
	_, err = w.discard(word)
	require.NoError(t, err)

	var got metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(t.Context(), &got))
	counts, answers := map[string]int64{}, uint64(0)
	for _, m := range got.ScopeMetrics[0].Metrics {
		switch data := m.Data.(type) {
		case metricdata.Sum[int64]:
			for _, point := range data.DataPoints {
				outcome, _ := point.Attributes.Value("postroom.draft.outcome")
				counts[outcome.AsString()] = point.Value
			}
		case metricdata.Histogram[float64]:
			answers = data.DataPoints[0].Count
		}
	}
	require.Equal(t, map[string]int64{"made": 3, "reworked": 1, "sent": 1, "sent_edited": 1, "discarded": 1}, counts)
	require.Equal(t, uint64(2), answers)
}
