package llm_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/llmtest"
	"github.com/postroom-go/postroom/queue"
)

func TestCallsAreFoundByWhatTheyWereAbout(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		r := records(t, db)
		bad := llmtest.Says("I would " + strings.Repeat("archive ", 2000) + "\x00")
		d := newDecider(t, llm.Config{Client: metered(t, llm.MeteredConfig{Records: r, Client: llmtest.NewScripted(t, bad, llmtest.Decides("archive", "{}", 1), llmtest.Decides("star", "{}", 1))})})
		first, second := mail("one"), mail("two")
		first.AccountID, second.AccountID, second.ID = "a", "a", "m2"
		for _, m := range []*postroom.Message{first, second, first} {
			_, err := d.Decide(t.Context(), m)
			require.NoError(t, err)
		}
		calls, err := r.CallsAbout(t.Context(), "a", "m1", 100)
		require.NoError(t, err)
		require.Len(t, calls, 4, "two, and the two that are kept")
		require.Equal(t, llm.Cached, calls[3].Outcome)
		require.Less(t, len(calls[0].Answer), 8010)
		require.Contains(t, calls[1].Answer, `record_decision {"decision":{"action":"archive"`)
		require.Equal(t, calls[1].Answer, calls[3].Answer)

		now, err := d.Prompt(t.Context(), first)
		require.NoError(t, err)
		for _, c := range calls {
			require.Equal(t, now.Hash, c.Prompt, "what was asked would be asked again, corrections included")
		}
		first.BodyPlain = "other"
		now, err = d.Prompt(t.Context(), first)
		require.NoError(t, err)
		require.NotEqual(t, now.Hash, calls[0].Prompt)
		var names []string
		for _, l := range now.Layers {
			names = append(names, l.Name)
		}
		require.Equal(t, []string{"SYSTEM", "MESSAGE CONTEXT", "TASK"}, names)

		none, err := r.CallsAbout(t.Context(), "b", "m1", 100)
		require.NoError(t, err)
		require.Empty(t, none, "they are another account's")
	})
}

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
	require.Equal(t, "2026-04-01T00:00:00+02:00 2026-05-01T00:00:00+02:00", from.Format(time.RFC3339)+" "+to.Format(time.RFC3339))
	from, to = r.Day(time.Date(2026, 10, 25, 12, 0, 0, 0, time.UTC))
	require.Equal(t, 25*time.Hour, to.Sub(from), "the clocks go back")
}

func TestPromptFailsAsGuidanceDoes(t *testing.T) {
	d := newDecider(t, llm.Config{Client: llmtest.Obedient{}, Guidance: func(context.Context, *postroom.Message) (llm.Guidance, error) {
		return llm.Guidance{}, context.DeadlineExceeded
	}})
	_, err := d.Prompt(t.Context(), mail("x"))
	require.ErrorIs(t, err, context.DeadlineExceeded)
}
