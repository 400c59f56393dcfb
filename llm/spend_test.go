package llm_test

import (
	"context"
	"fmt"
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
		models, err := r.Models(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"acme::small"}, models)
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

// Days without calls are listed, too, and each account has its own.
func TestSpendingIsListedByDay(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		r := records(t, db)
		m := metered(t, llm.MeteredConfig{Records: r, Price: dear, Client: llmtest.NewScripted(t, spends("one", 1000, 100),
			spends("two", 10, 10))})
		for _, account := range []string{"a", "b"} {
			_, err := m.Complete(t.Context(), asks(account, "1"))
			require.NoError(t, err)
		}
		now := time.Now()
		for account, want := range map[string]llm.Spend{
			"":  {Calls: 2, Tokens: 1120, Cost: llm.Dollars(0.0156)},
			"a": {Calls: 1, Tokens: 1100, Cost: llm.Dollars(0.015)},
			"c": {},
		} {
			days, err := r.SpentByDay(t.Context(), account, now.AddDate(0, 0, -2), now)
			require.NoError(t, err)
			require.Len(t, days, 3)
			require.Less(t, days[0].Day, days[1].Day)
			require.Zero(t, days[1].Spend)
			require.Equal(t, want, days[2].Spend)
		}
	})
}

// Each model that was asked is named once.
func TestModelsOnRecord(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		r := records(t, db)
		none, err := r.Models(t.Context())
		require.NoError(t, err)
		require.Empty(t, none)
		require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			for i, model := range []string{"b", "c", "a", "b", "b", "c"} {
				_, err := tx.ExecContext(ctx, fmt.Sprintf(`INSERT INTO llm_calls (id, account_id, purpose, model, state, input_tokens,
					output_tokens, cost, latency_ms, created_at, about, prompt)
					VALUES ('%d', '', '', '%s', 'answered', 0, 0, 0, 0, '2026-01-01T00:00:00.000000Z', '', '')`, i, model))
				if err != nil {
					return err
				}
			}
			return nil
		}))
		models, err := r.Models(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"a", "b", "c"}, models)
	})
}
