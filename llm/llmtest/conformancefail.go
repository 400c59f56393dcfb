package llmtest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/llm"
)

// A client's handling of failures, limits, and invalid answers.

func (p Provider) brokenStream(t *testing.T) {
	overloaded := map[Wire]string{ChatCompletions: "overloaded", Messages: "overloaded_error",
		GenerateContent: "UNAVAILABLE"}[p.Wire]
	events := http.Header{"Content-Type": {"text/event-stream"}}
	for name, test := range map[string]struct {
		reply  Reply
		reason error
	}{
		"cut":          {Reply{Text: "Good day.", CutAfter: 1}, llm.ErrUnavailable},
		"with a fault": {Reply{Text: "Good day.", CutAfter: 1, Fault: overloaded}, llm.ErrOverloaded},
		"not JSON":     {Reply{Body: "data: {\n\n", Header: events}, llm.ErrUnavailable},
		"no object":    {Reply{Body: "event: message_start\ndata: null\n\n", Header: events}, llm.ErrUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			client, server := p.client(t, Settings{}, test.reply)
			req := ask()
			req.Stream = func(llm.Chunk) error { return nil }
			_, err := client.Complete(t.Context(), req)
			require.ErrorIs(t, err, test.reason)
			require.Len(t, server.Seen(), 1)
		})
	}
}

func (p Provider) failures(t *testing.T) {
	word := func(chat, messages, gemini string) string {
		return map[Wire]string{ChatCompletions: chat, Messages: messages, GenerateContent: gemini}[p.Wire]
	}
	invalid := word("invalid_request_error", "invalid_request_error", "INVALID_ARGUMENT")
	for name, test := range map[string]struct {
		reply  Reply
		reason error
		wait   time.Duration
	}{
		"rate limit":           {Reply{Status: 429, Code: word("rate_limit_exceeded", "rate_limit_error", "RESOURCE_EXHAUSTED"), Header: http.Header{"Retry-After": {"7"}}}, llm.ErrRateLimited, 7 * time.Second},
		"wait in milliseconds": {Reply{Status: 429, Header: http.Header{"Retry-After-Ms": {"1500"}, "Retry-After": {"2"}}}, llm.ErrRateLimited, 1500 * time.Millisecond},
		"a wait without end":   {Reply{Status: 429, Header: http.Header{"Retry-After": {"1e300"}}}, llm.ErrRateLimited, 24 * time.Hour},
		"no credit":            {Reply{Status: 402, Code: "billing_error", Message: "pay"}, llm.ErrNoCredit, 0},
		"bad key":              {Reply{Status: 401, Code: word("invalid_api_key", "authentication_error", "UNAUTHENTICATED")}, llm.ErrBadKey, 0},
		"no right":             {Reply{Status: 403, Code: word("forbidden", "permission_error", "PERMISSION_DENIED")}, llm.ErrBadKey, 0},
		"context too long":     {Reply{Status: 400, Code: word("context_length_exceeded", invalid, invalid), Message: word("This model's maximum context length is 8192 tokens.", "prompt is too long: 210000 tokens > 200000 maximum", "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).")}, llm.ErrContextTooLong, 0},
		"bad request":          {Reply{Status: 400, Code: invalid, Message: "no"}, llm.ErrBadRequest, 0},
		"no such model":        {Reply{Status: 404, Code: word("model_not_found", "not_found_error", "NOT_FOUND")}, llm.ErrNoModel, 0},
		"server error":         {Reply{Status: 500, Code: word("server_error", "api_error", "INTERNAL")}, llm.ErrUnavailable, 0},
		"overloaded":           {Reply{Status: 503, Code: word("server_error", "overloaded_error", "UNAVAILABLE"), Header: http.Header{"Retry-After": {"3"}}}, llm.ErrOverloaded, 3 * time.Second},
		"overloaded, 529":      {Reply{Status: 529, Code: "overloaded_error"}, llm.ErrOverloaded, 0},
		"a proxy's page":       {Reply{Status: 502, Body: "<html>Bad gateway</html>"}, llm.ErrUnavailable, 0},
		"a redirect":           {Reply{Status: 307, Body: "{}", Header: http.Header{"Location": {"http://elsewhere.invalid/"}}}, llm.ErrNoModel, 0},
		"an empty body":        {Reply{Status: 429, Body: " "}, llm.ErrRateLimited, 0},
	} {
		for _, streaming := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, streaming %v", name, streaming), func(t *testing.T) {
				client, server := p.client(t, Settings{}, test.reply)
				req := ask()
				if streaming {
					req.Stream = func(llm.Chunk) error { return nil }
				}
				_, err := client.Complete(t.Context(), req)
				require.ErrorIs(t, err, test.reason)
				var e *llm.Error
				require.ErrorAs(t, err, &e)
				require.Equal(t, test.reply.Status, e.Status)
				require.Equal(t, test.wait, e.RetryAfter)
				require.Len(t, server.Seen(), 1, "a client does not retry")
			})
		}
	}
}

func (p Provider) limits(t *testing.T) {
	var header http.Header
	switch p.Wire {
	case ChatCompletions:
		header = http.Header{
			"X-Ratelimit-Limit-Requests": {"60"}, "X-Ratelimit-Remaining-Requests": {"59"}, "X-Ratelimit-Reset-Requests": {"1s"},
			"X-Ratelimit-Limit-Tokens": {"150000"}, "X-Ratelimit-Remaining-Tokens": {"0"}, "X-Ratelimit-Reset-Tokens": {"6m0s"},
		}
	case Messages:
		reset := time.Now().Add(6 * time.Minute).UTC().Format(time.RFC3339)
		header = http.Header{
			"Anthropic-Ratelimit-Requests-Limit": {"60"}, "Anthropic-Ratelimit-Requests-Remaining": {"59"}, "Anthropic-Ratelimit-Requests-Reset": {reset},
			"Anthropic-Ratelimit-Tokens-Limit": {"150000"}, "Anthropic-Ratelimit-Tokens-Remaining": {"0"}, "Anthropic-Ratelimit-Tokens-Reset": {reset},
		}
	default:
		client, _ := p.client(t, Settings{}, Reply{
			Status: 429,
			Body:   `{"error":{"code":429,"message":"Quota exceeded, check your plan and billing details","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34s"}]}}`,
		})
		_, err := client.Complete(t.Context(), ask())
		require.ErrorIs(t, err, llm.ErrRateLimited)
		var e *llm.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, 34*time.Second, e.RetryAfter)
		return
	}
	client, _ := p.client(t, Settings{}, Reply{Text: "x", Header: header}, Reply{Status: 429, Header: header})
	resp, err := client.Complete(t.Context(), ask())
	require.NoError(t, err)
	require.Equal(t, int64(59), resp.Limits.Requests.Remaining)
	require.Equal(t, int64(60), resp.Limits.Requests.Limit)
	require.Equal(t, int64(0), resp.Limits.Tokens.Remaining)
	require.InDelta(t, 6*time.Minute, resp.Limits.Tokens.Reset, float64(time.Minute))
	_, err = client.Complete(t.Context(), ask())
	var e *llm.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, int64(0), e.Limits.Tokens.Remaining)
}

func (p Provider) timeout(t *testing.T) {
	client, _ := p.client(t, Settings{Timeout: 20 * time.Millisecond}, Reply{Hang: true})
	_, err := client.Complete(t.Context(), ask())
	require.ErrorIs(t, err, llm.ErrUnavailable)
	require.NotErrorIs(t, err, context.DeadlineExceeded, "the deadline is not the caller's")

	client, server := p.client(t, Settings{}, Reply{Hang: true})
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("the host stops")
	go func() {
		for len(server.Seen()) == 0 && ctx.Err() == nil {
			<-time.After(time.Millisecond)
		}
		cancel(stopped)
	}()
	_, err = client.Complete(ctx, ask())
	require.ErrorIs(t, err, stopped)
	var e *llm.Error
	require.NotErrorAs(t, err, &e, "the provider did nothing wrong")
}

func (p Provider) tooLong(t *testing.T) {
	client, _ := p.client(t, Settings{MaxAnswerBytes: 20_000}, Reply{Text: strings.Repeat("x", 30_000)})
	req := ask()
	_, err := client.Complete(t.Context(), req)
	require.ErrorIs(t, err, llm.ErrAnswerTooLong)
	req.Stream = func(llm.Chunk) error { return nil }
	_, err = client.Complete(t.Context(), req)
	require.ErrorIs(t, err, llm.ErrAnswerTooLong)
}

func (p Provider) garbage(t *testing.T) {
	for _, body := range []string{"<html>", "{", "[]", "{}", "null", `{"choices":[],"content":[],"candidates":[]}`} {
		client, server := p.client(t, Settings{}, Reply{Body: body})
		_, err := client.Complete(t.Context(), ask())
		require.ErrorIs(t, err, llm.ErrUnavailable, "body %s", body)
		require.Len(t, server.Seen(), 1)
	}
}
