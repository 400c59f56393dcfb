package gmailapi

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/api/googleapi"

	"github.com/postroom-go/postroom/queue"
)

func TestLimitsAreChecked(t *testing.T) {
	tests := []struct {
		name   string
		limits Limits
		want   string // empty: good
	}{
		{"the defaults", Limits{}, ""},
		{"a budget smaller than usual", Limits{UnitsPerMinute: 101}, ""},
		{"negative budget", Limits{UnitsPerMinute: -1}, "UnitsPerMinute is -1"},
		{"budget beyond the clock", Limits{UnitsPerMinute: 1_000_000_001}, "Limits.Unlimited sets no limit"},
		{"burst as large as the budget", Limits{UnitsPerMinute: 100, Burst: 100}, "Burst is 100"},
		{"budget below the dearest call", Limits{UnitsPerMinute: 100}, "Burst is 100"},
		{"negative concurrency", Limits{Concurrent: -1}, "Concurrent is -1"},
		{"a call that never fits", Limits{Burst: 10}, "it must be within 0 and Burst (10)"},
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
		g.note(MethodGetMessage, &Error{Class: ClassRateLimited, RetryAfter: time.Minute})
		g.note(MethodGetMessage, &Error{Class: ClassRateLimited, RetryAfter: time.Second}) // a shorter word does not open it
		g.note(MethodGetMessage, &Error{Class: ClassServer, RetryAfter: time.Hour})        // no limit

		_, err = g.enter(t.Context(), MethodGetProfile)
		require.Equal(t, queue.Defer(err, time.Minute), Verdict(err))

		time.Sleep(time.Minute)
		leave, err := g.enter(t.Context(), MethodGetProfile)
		require.NoError(t, err)
		leave()
	})
}

// Gmail's limit of what may be sent in a day lasts until tomorrow, and says so in its text alone.
func TestLimitOfSendingStopsNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, err := newGate(Limits{})
		require.NoError(t, err)
		allowed := func(m Method) bool {
			leave, err := g.enter(t.Context(), m)
			if err == nil {
				leave()
			}
			return err == nil
		}
		answer := &googleapi.Error{Code: http.StatusTooManyRequests, Message: "User-rate limit exceeded.  Retry after " +
			time.Now().Add(time.Hour).UTC().Format(time.RFC3339) + " (Mail sending)"}
		g.note(MethodSend, newError("send message", ClassGone, answer, time.Now()))
		require.False(t, allowed(MethodSend))
		require.False(t, allowed(MethodSendDraft))
		require.True(t, allowed(MethodListHistory))
		time.Sleep(time.Hour)
		require.True(t, allowed(MethodSend))
	})
}

func TestCallThatNoBudgetReachesInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, err := newGate(Limits{UnitsPerMinute: 101, Burst: 100})
		require.NoError(t, err)
		leave, err := g.enter(t.Context(), MethodSend)
		require.NoError(t, err)
		leave()

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = g.enter(ctx, MethodSend)
		require.Equal(t, ClassRateLimited, ClassOf(err))
		require.NoError(t, ctx.Err(), "it is told at once")
	})
}
