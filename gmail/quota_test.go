package gmail

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
)

func TestLimitsAreChecked(t *testing.T) {
	tests := []struct {
		name   string
		limits Limits
		want   string // empty: good
	}{
		{"the defaults", Limits{}, ""},
		{"a budget smaller than usual", Limits{UnitsPerMinute: 100}, ""},
		{"negative budget", Limits{UnitsPerMinute: -1}, "UnitsPerMinute is -1"},
		{"burst as large as the budget", Limits{UnitsPerMinute: 100, Burst: 100}, "Burst is 100"},
		{"budget below the dearest call", Limits{UnitsPerMinute: 20}, "Burst is 20"},
		{"negative concurrency", Limits{Concurrent: -1}, "Concurrent is -1"},
		{"a call that never fits", Limits{Burst: 10}, "is 20; it must be within 0 and Burst (10)"},
		{"a cost below nothing", Limits{Costs: map[Method]int{MethodTrash: -1}}, "Costs[messages.trash] is -1"},
		{"a cost of no method", Limits{Costs: map[Method]int{"messages.guess": 1}}, "Costs[messages.guess] is no method"},
		{"no costs of one's own", Limits{Costs: map[Method]int{}}, ""},
		{"no limit", Limits{Unlimited: true}, ""},
		{"a budget and no limit", Limits{Unlimited: true, UnitsPerMinute: 1}, "Unlimited is set beside other limits"},
		{"free calls and no limit", Limits{Unlimited: true, Costs: map[Method]int{}}, "Unlimited is set beside other limits"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := NewClient(ClientConfig{HTTPClient: http.DefaultClient, Limits: tt.limits})
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, "gmail: ClientConfig.Limits.")
			require.ErrorContains(t, err, tt.want)
		})
	}
}

func TestGateKeepsTheBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, err := newGate(Limits{UnitsPerMinute: 600, Concurrent: 1})
		require.NoError(t, err)
		start := time.Now()
		spent := 0
		for time.Since(start) < time.Minute {
			leave, err := g.enter(t.Context(), MethodGetMessage)
			require.NoError(t, err)
			leave()
			if time.Since(start) < time.Minute {
				spent += DefaultCosts()[MethodGetMessage]
			}
		}
		require.LessOrEqual(t, spent, 600)
		require.Greater(t, spent, 560, "nor is much of it left unused")
	})
}

func TestGateKeepsConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, err := newGate(Limits{Concurrent: 1})
		require.NoError(t, err)
		leave, err := g.enter(t.Context(), MethodGetProfile)
		require.NoError(t, err)

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = g.enter(ctx, MethodGetProfile)
		require.ErrorIs(t, err, context.DeadlineExceeded)

		leave()
		leave, err = g.enter(t.Context(), MethodGetProfile)
		require.NoError(t, err)
		leave()
	})
}

func TestGateStaysClosedAsLongAsGmailSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, err := newGate(Limits{})
		require.NoError(t, err)
		g.note(&Error{Class: ClassRateLimited, RetryAfter: time.Minute})
		g.note(&Error{Class: ClassRateLimited, RetryAfter: time.Second}) // a shorter word does not open it
		g.note(&Error{Class: ClassServer, RetryAfter: time.Hour})        // no limit

		_, err = g.enter(t.Context(), MethodGetProfile)
		require.Equal(t, queue.Defer(err, time.Minute), Verdict(err))

		time.Sleep(time.Minute)
		leave, err := g.enter(t.Context(), MethodGetProfile)
		require.NoError(t, err)
		leave()
	})
}

func TestCallThatNoBudgetReachesInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, err := newGate(Limits{UnitsPerMinute: 100})
		require.NoError(t, err)
		leave, err := g.enter(t.Context(), MethodGetMessage)
		require.NoError(t, err)
		leave()

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = g.enter(ctx, MethodGetMessage)
		require.Equal(t, ClassRateLimited, ClassOf(err))
		require.NoError(t, ctx.Err(), "it is told at once")
	})
}
