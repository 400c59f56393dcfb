package llm_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/llmtest"
	"github.com/postroom-go/postroom/queue"
)

func outages(t *testing.T, r *llm.Records, now time.Time) []llm.Outage {
	t.Helper()
	found, err := r.Outages(t.Context(), now)
	require.NoError(t, err)
	return found
}

func TestARefusedKeyIsToldOnceAndForgottenWhenTheModelAnswers(t *testing.T) {
	for _, reason := range []error{llm.ErrBadKey, llm.ErrNoModel, llm.ErrNoCredit} {
		dbtest.Each(t, func(t *testing.T, db queue.DB) {
			var log bytes.Buffer
			r := records(t, db)
			refused := fault(reason, 0)
			m, err := llm.NewMetered(llm.MeteredConfig{
				Records: r, Model: "acme::small", Logger: slog.New(slog.NewTextHandler(&log, nil)),
				Client: llmtest.NewScripted(t, refused, refused, refused, llmtest.Says("one")),
			})
			require.NoError(t, err)
			for range 3 {
				_, err := m.Complete(t.Context(), asks("a", "1"))
				require.ErrorIs(t, err, reason)
			}
			found := outages(t, r, time.Now())
			require.Len(t, found, 1)
			require.Equal(t, "acme::small", found[0].Model)
			require.Empty(t, found[0].AccountID)
			require.Equal(t, reason.Error(), found[0].Reason)
			require.EqualValues(t, 3, found[0].Calls)
			require.Zero(t, found[0].Until)
			require.False(t, found[0].Last.Before(found[0].Since))
			require.Equal(t, 1, strings.Count(log.String(), "a model is not asked"), "once")

			_, err = m.Complete(t.Context(), asks("a", "1"))
			require.NoError(t, err)
			require.Empty(t, outages(t, r, time.Now()))
			require.Equal(t, 1, strings.Count(log.String(), "answers again"))
		})
	}
}

func TestASpentBudgetIsAnOutageOfItsAccountUntilTheNextDay(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		r := records(t, db)
		m := metered(t, llm.MeteredConfig{Records: r, AccountBudget: llm.Budget{Tokens: 2500},
			Client: llmtest.NewScripted(t, spends("one", 1500, 500), spends("b", 1, 1))})
		_, err := m.Complete(t.Context(), asks("a", "1"))
		require.NoError(t, err)
		for range 2 {
			_, err = m.Complete(t.Context(), asks("a", "2"))
			require.ErrorIs(t, err, llm.ErrBudget)
		}
		_, err = m.Complete(t.Context(), asks("b", "2"))
		require.NoError(t, err)
		found := outages(t, r, time.Now())
		require.Len(t, found, 1, "the answer of another account does not end it")
		require.Equal(t, "a", found[0].AccountID)
		require.EqualValues(t, 2, found[0].Calls)
		require.True(t, found[0].Until.After(time.Now()))
		require.Empty(t, outages(t, r, found[0].Until), "then the budget begins anew")

		spent, err := r.Spent(t.Context(), "a", time.Now(), time.Now())
		require.NoError(t, err)
		require.EqualValues(t, 2000, spent.Tokens, "what was refused costs nothing")
		var states []llm.CallState
		for _, c := range allCalls(t, r) {
			states = append(states, c.State)
		}
		require.Equal(t, []llm.CallState{llm.Answered, llm.Unaffordable, llm.Unaffordable, llm.Answered}, states)
		refused := allCalls(t, r)[1]
		require.Contains(t, refused.Failure, "budget spent")
		require.Zero(t, refused.Usage, "what was refused used nothing")
	})
}

// What a budget has refused waits until tomorrow, also where smaller calls still fit into it.
func TestASmallCallDoesNotHideASpentBudget(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		r := records(t, db)
		m := metered(t, llm.MeteredConfig{Records: r, AccountBudget: llm.Budget{Tokens: 6000},
			Client: llmtest.NewScripted(t, spends("one", 1500, 500), spends("two", 1, 1))})
		_, err := m.Complete(t.Context(), asks("a", "1"))
		require.NoError(t, err)
		large := asks("a", "2")
		large.MaxOutputTokens = 5000
		_, err = m.Complete(t.Context(), large)
		require.ErrorIs(t, err, llm.ErrBudget)
		_, err = m.Complete(t.Context(), asks("a", "3"))
		require.NoError(t, err)
		require.Len(t, outages(t, r, time.Now()), 1, "the large one waits")

		raised := metered(t, llm.MeteredConfig{Records: r, AccountBudget: llm.Budget{Tokens: 60_000},
			Client: llmtest.NewScripted(t, spends("four", 1, 1))})
		_, err = raised.Complete(t.Context(), large)
		require.NoError(t, err)
		require.Empty(t, outages(t, r, time.Now()))
	})
}

func TestAFailureThatPassesIsNoOutage(t *testing.T) {
	r := records(t, dbtest.SQLite(t))
	m := metered(t, llm.MeteredConfig{Records: r, Client: llmtest.NewScripted(t, fault(llm.ErrOverloaded, 0),
		fault(llm.ErrRateLimited, 0), llmtest.Fails(errors.New("gone")))})
	for range 3 {
		_, err := m.Complete(t.Context(), asks("a", "1"))
		require.Error(t, err)
	}
	require.Empty(t, outages(t, r, time.Now()))
}

func TestLimitedDoesNotAskWhoHasRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, err := llm.NewLimited(
			llm.LimitedConfig{Client: llmtest.NewScripted(t, fault(llm.ErrBadKey, 0), llmtest.Says("2"))})
		require.NoError(t, err)
		for range 5 {
			_, err = client.Complete(t.Context(), hello)
			require.ErrorIs(t, err, llm.ErrBadKey)
		}
		time.Sleep(time.Minute)
		resp, err := client.Complete(t.Context(), hello)
		require.NoError(t, err)
		require.Equal(t, "2", resp.Text)
	})
}

func TestLimitedMakesSoManyCallsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{entered: make(chan struct{}, 9), open: make(chan struct{})}
		client, err := llm.NewLimited(llm.LimitedConfig{Client: g, Concurrent: 2, MaxWait: time.Second})
		require.NoError(t, err)
		ended := make(chan error, 3)
		call := func() { _, err := client.Complete(t.Context(), hello); ended <- err }
		for range 3 {
			go call()
		}
		err = <-ended
		require.ErrorIs(t, err, llm.ErrRateLimited, "the third waits for a second and leaves the rest to the queue")
		require.Len(t, g.entered, 2)
		require.Equal(t, time.Second, func() time.Duration {
			var e *llm.Error
			require.ErrorAs(t, err, &e)
			return e.RetryAfter
		}())
		go call()
		synctest.Wait()
		close(g.open)
		for range 3 {
			require.NoError(t, <-ended, "one that ends makes room")
		}
	})
}

func TestAKeptAnswerTakesNothingFromTheLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := llmtest.Says("1")
		kept.Response.Cached = true
		client, err := llm.NewLimited(llm.LimitedConfig{Client: llmtest.NewScripted(t, kept, kept, kept),
			RequestsPerMinute: 1, MaxWait: time.Second})
		require.NoError(t, err)
		for range 3 {
			_, err = client.Complete(t.Context(), hello)
			require.NoError(t, err)
		}
	})
}
