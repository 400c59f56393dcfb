package llm_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/llmtest"
)

func fault(reason error, after time.Duration) llmtest.Turn {
	return llmtest.Fails(&llm.Error{Provider: "acme", Reason: reason, RetryAfter: after})
}

var hello = &llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Text: "Hello?"}}}

func retrying(t *testing.T, turns ...llmtest.Turn) *llm.Retrying {
	t.Helper()
	client, err := llm.NewRetrying(llm.RetryingConfig{Client: llmtest.NewScripted(t, turns...)})
	require.NoError(t, err)
	return client
}

func TestRetryingWaitsAsLongAsTheProviderAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		resp, err := retrying(t, fault(llm.ErrOverloaded, 7*time.Second), fault(llm.ErrRateLimited, 2*time.Second),
			llmtest.Says("Hello.")).Complete(t.Context(), hello)
		require.NoError(t, err)
		require.Equal(t, "Hello.", resp.Text)
		require.Equal(t, 9*time.Second, time.Since(begin))
	})
}

func TestRetryingLeavesTheRestToTheQueue(t *testing.T) {
	for name, test := range map[string]struct {
		turns []llmtest.Turn
		want  error
	}{
		"a long wait":          {[]llmtest.Turn{fault(llm.ErrRateLimited, time.Minute)}, llm.ErrRateLimited},
		"a wait without bound": {[]llmtest.Turn{fault(llm.ErrRateLimited, 0)}, llm.ErrRateLimited},
		"a wrong request":      {[]llmtest.Turn{fault(llm.ErrBadRequest, 0)}, llm.ErrBadRequest},
		"a wrong key":          {[]llmtest.Turn{fault(llm.ErrBadKey, 0)}, llm.ErrBadKey},
		"the third failure":    {[]llmtest.Turn{fault(llm.ErrUnavailable, 0), fault(llm.ErrUnavailable, 0), fault(llm.ErrOverloaded, 0)}, llm.ErrOverloaded},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, err := retrying(t, test.turns...).Complete(t.Context(), hello)
				require.ErrorIs(t, err, test.want)
			})
		})
	}
}

func TestRetryingStopsWithItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := retrying(t, fault(llm.ErrOverloaded, 7*time.Second)).Complete(ctx, hello)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, llm.ErrOverloaded)
	})
}

// half streams a piece and fails.
type half struct{ calls int }

func (h *half) Complete(_ context.Context, req *llm.Request) (*llm.Response, error) {
	h.calls++
	if err := req.Stream(llm.Chunk{Text: "Hel"}); err != nil {
		return nil, err
	}
	return nil, &llm.Error{Provider: "acme", Reason: llm.ErrUnavailable}
}

func TestAStreamIsNotBegunAnew(t *testing.T) {
	text := ""
	req := *hello
	req.Stream = func(c llm.Chunk) error { text += c.Text; return nil }
	client := &half{}
	again, err := llm.NewRetrying(llm.RetryingConfig{Client: client})
	require.NoError(t, err)
	other, err := llm.NewFallback(again, llmtest.NewScripted(t))
	require.NoError(t, err)
	_, err = other.Complete(t.Context(), &req)
	require.ErrorIs(t, err, llm.ErrUnavailable)
	require.Equal(t, "Hel", text)
	require.Equal(t, 1, client.calls)
}

func fallback(t *testing.T, turns ...llmtest.Turn) *llm.Fallback {
	t.Helper()
	var clients []llm.Client
	for _, turn := range turns {
		clients = append(clients, llmtest.NewScripted(t, turn))
	}
	client, err := llm.NewFallback(clients...)
	require.NoError(t, err)
	return client
}

func TestFallbackAsksTheNext(t *testing.T) {
	for _, reason := range []error{llm.ErrRateLimited, llm.ErrOverloaded, llm.ErrUnavailable, llm.ErrBadKey,
		llm.ErrNoCredit, llm.ErrContextTooLong, llm.ErrBadRequest} {
		resp, err := fallback(t, fault(reason, 0), llmtest.Says("Hello.")).Complete(t.Context(), hello)
		require.NoError(t, err)
		require.Equal(t, "Hello.", resp.Text)
	}
}

func TestFallbackDoesNotOverrule(t *testing.T) {
	for _, reason := range []error{llm.ErrRefused, llm.ErrBudget} {
		client, err := llm.NewFallback(llmtest.NewScripted(t, fault(reason, 0)), llmtest.NewScripted(t))
		require.NoError(t, err)
		_, err = client.Complete(t.Context(), hello)
		require.ErrorIs(t, err, reason)
	}
}

func TestFallbackReturnsTheFailureThatEndsFirst(t *testing.T) {
	_, err := fallback(t, fault(llm.ErrBadRequest, 0), fault(llm.ErrRateLimited, time.Hour),
		fault(llm.ErrRateLimited, 5*time.Minute)).Complete(t.Context(), hello)
	var e *llm.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, llm.Deferred, e.Class())
	require.Equal(t, 5*time.Minute, e.RetryAfter)
	require.ErrorContains(t, err, "bad request")
}

func TestLimitedKeepsItsRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, err := llm.NewLimited(llm.LimitedConfig{
			Client: llmtest.NewScripted(t, llmtest.Says("1"), llmtest.Says("2"), llmtest.Says("3")), RequestsPerMinute: 2,
			MaxWait: 45 * time.Second,
		})
		require.NoError(t, err)
		begin := time.Now()
		for range 3 {
			_, err := client.Complete(t.Context(), hello)
			require.NoError(t, err)
		}
		require.Equal(t, 30*time.Second, time.Since(begin))
	})
}

func TestLimitedCallsNobodyUntilTheProviderSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := llmtest.Says("1")
		full.Response.Limits.Tokens = &llm.Allowance{Remaining: 0, Reset: 3 * time.Second}
		client, err := llm.NewLimited(
			llm.LimitedConfig{Client: llmtest.NewScripted(t, full, fault(llm.ErrRateLimited, time.Minute), llmtest.Says("3"))})
		require.NoError(t, err)
		begin := time.Now()
		_, err = client.Complete(t.Context(), hello)
		require.NoError(t, err)
		_, err = client.Complete(t.Context(), hello)
		require.ErrorIs(t, err, llm.ErrRateLimited)
		require.Equal(t, 3*time.Second, time.Since(begin), "the headers are kept")

		_, err = client.Complete(t.Context(), hello)
		var e *llm.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, time.Minute, e.RetryAfter, "nobody was called")
		time.Sleep(time.Minute)
		_, err = client.Complete(t.Context(), hello)
		require.NoError(t, err)
	})
}

func TestLimitedCountsTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := llmtest.Says("1")
		first.Response.Usage = llm.Usage{InputTokens: 900, OutputTokens: 100}
		client, err := llm.NewLimited(llm.LimitedConfig{Client: llmtest.NewScripted(t, first), TokensPerMinute: 600})
		require.NoError(t, err)
		_, err = client.Complete(t.Context(), hello)
		require.NoError(t, err)
		_, err = client.Complete(t.Context(), hello)
		require.ErrorIs(t, err, llm.ErrRateLimited, "what was used beyond the estimate counts")
	})
}

func TestClientsWantClients(t *testing.T) {
	_, err := llm.NewRetrying(llm.RetryingConfig{})
	require.ErrorContains(t, err, "RetryingConfig.Client")
	_, err = llm.NewLimited(llm.LimitedConfig{})
	require.ErrorContains(t, err, "LimitedConfig.Client")
	_, err = llm.NewFallback()
	require.ErrorContains(t, err, "no client")
	_, err = llm.NewFallback((*llm.Retrying)(nil))
	require.ErrorContains(t, err, "client 0")
	_, err = llm.NewRetrying(llm.RetryingConfig{Client: &half{}, Attempts: -1})
	require.ErrorContains(t, err, "at least 0")
}
