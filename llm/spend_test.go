package llm_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/llmtest"
	"github.com/postroom-go/postroom/queue"
)

func TestCostsAreOfAccountsAndModels(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		r := records(t, db)
		m := metered(t, llm.MeteredConfig{Records: r, Price: dear, Client: llmtest.NewScripted(t,
			spends("one", 1000, 100), spends("two", 10, 10), fault(llm.ErrOverloaded, 0))})
		for _, ask := range []struct{ account, text string }{{"a", "1"}, {"b", "1"}, {"a", "1"}, {"a", "2"}} {
			_, _ = m.Complete(t.Context(), asks(ask.account, ask.text))
		}
		from, to := r.Day(time.Now())
		require.True(t, from.Before(to))
		costs, err := r.Costs(t.Context(), from, to)
		require.NoError(t, err)
		require.Equal(t, []llm.Cost{
			{AccountID: "a", Model: "acme::small", Calls: 1, Failed: 1, Cached: 1, InputTokens: 1000, OutputTokens: 100, Cost: llm.Dollars(0.015)},
			{AccountID: "b", Model: "acme::small", Calls: 1, InputTokens: 10, OutputTokens: 10, Cost: llm.Dollars(0.0006)},
		}, costs)
		none, err := r.Costs(t.Context(), to, to.Add(time.Hour))
		require.NoError(t, err)
		require.Empty(t, none)
	})
}

func TestDaysAndMonthsAreOfTheZone(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	r, err := llm.NewRecords(llm.RecordsConfig{DB: dbtest.SQLite(t), Zone: zone})
	require.NoError(t, err)
	night := time.Date(2026, 3, 31, 22, 30, 0, 0, time.UTC) // April in Berlin
	from, to := r.Month(night)
	require.Equal(t, "2026-04-01T00:00:00+02:00 2026-05-01T00:00:00+02:00", from.Format(time.RFC3339)+" "+
		to.Format(time.RFC3339))
	from, to = r.Day(time.Date(2026, 10, 25, 12, 0, 0, 0, time.UTC))
	require.Equal(t, 25*time.Hour, to.Sub(from), "the clocks go back")
}
