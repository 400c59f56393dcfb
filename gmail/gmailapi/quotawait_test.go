package gmailapi

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
)

// spendAll makes calls until none is permitted at once.
func spendAll(t *testing.T, g *rateLimiter) {
	t.Helper()
	for g.wait(false, []Method{MethodGetMessage}) == 0 {
		leave, err := g.enter(t.Context(), MethodGetMessage)
		require.NoError(t, err)
		leave()
	}
}

// What is estimated is what a call waits for; a call that can wait leaves units to the others.
func TestQuotaWaitIsWhatACallWaitsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, err := newGate(Limits{})
		require.NoError(t, err)
		require.Zero(t, g.wait(false, []Method{MethodGetMessage}))
		spendAll(t, g)
		require.Equal(t, time.Second, g.wait(true, []Method{MethodGetMessage})-g.wait(false, []Method{MethodGetMessage}),
			"a sixth of 600 units at 100 a second")
		for range 700 { // beyond the minute, of which no part has more than the budget
			for _, method := range []Method{MethodGetMessage, MethodSend} {
				wait, began := g.wait(false, []Method{method}), time.Now()
				require.GreaterOrEqual(t, g.wait(true, []Method{method}), wait)
				leave, err := g.enter(t.Context(), method)
				require.NoError(t, err)
				leave()
				require.InDelta(t, wait.Seconds(), time.Since(began).Seconds(), 0.01)
			}
		}
		var unlimited *rateLimiter
		require.Zero(t, unlimited.wait(true, []Method{MethodSend}))
	})
}

func TestQuotaWaitLastsUntilARetryAfterIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, err := newGate(Limits{})
		require.NoError(t, err)
		g.note(MethodGetMessage, &Error{Class: ClassRateLimited, RetryAfter: time.Minute})
		require.Equal(t, time.Minute, g.wait(false, []Method{MethodGetMessage}))
		time.Sleep(time.Minute)
		require.Zero(t, g.wait(false, []Method{MethodGetMessage}))
	})
}

// A process that shares a quota estimates from what the database has said last.
func TestQuotaWaitOfASharedQuota(t *testing.T) {
	s := newSharing(t, Limits{UnitsPerMinute: 240, Burst: 200, Concurrent: 8}, time.Minute)
	g := s.gate()
	spendAll(t, g)
	wait := g.wait(false, []Method{MethodGetMessage})
	require.InDelta(t, 5, wait.Seconds(), 2, "20 units at 4 a second")
	require.Greater(t, g.wait(true, []Method{MethodGetMessage}), wait+5*time.Second, "and a sixth of the burst")
	ctx, cancel := context.WithTimeout(t.Context(), wait/2)
	defer cancel()
	_, err := g.enter(ctx, MethodGetMessage)
	require.Error(t, err)
}

func TestJobLimitSpendsTheBudget(t *testing.T) {
	for name, tt := range map[string]struct {
		limits Limits
		want   queue.Limit
	}{
		"default":   {Limits{}, queue.Limit{MaxRunning: 4, Rate: 300, Per: time.Minute, Burst: 30}},
		"old":       {Limits{UnitsPerMinute: 15_000}, queue.Limit{MaxRunning: 4, Rate: 750, Per: time.Minute, Burst: 75}},
		"few":       {Limits{UnitsPerMinute: 101, Concurrent: 1}, queue.Limit{MaxRunning: 1, Rate: 5, Per: time.Minute, Burst: 5}},
		"free":      {Limits{Costs: map[Method]int{MethodGetMessage: 0}}, queue.Limit{MaxRunning: 4}},
		"unlimited": {Limits{Unlimited: true}, queue.Limit{}},
	} {
		t.Run(name, func(t *testing.T) {
			limit, err := tt.limits.JobLimit()
			require.NoError(t, err)
			require.Equal(t, tt.want, limit)
		})
	}
	_, err := Limits{UnitsPerMinute: -1}.JobLimit()
	require.ErrorContains(t, err, "UnitsPerMinute is -1")
}
