package provider

import (
	"net/http"
	"strconv"
	"time"

	"github.com/postroom-go/postroom/llm"
)

// maxWait bounds the delay that a provider can request.
const maxWait = 24 * time.Hour

// retryAfter parses the delay that the header requests, at now: retry-after-ms, or Retry-After as seconds or a date.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return bound(ms * float64(time.Millisecond))
	}
	value := h.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(value, 64); err == nil {
		return bound(seconds * float64(time.Second))
	}
	if at, err := http.ParseTime(value); err == nil {
		return bound(float64(at.Sub(now)))
	}
	return 0
}

// bound clamps an untrusted delay, which may be NaN.
func bound(d float64) time.Duration {
	switch {
	case d >= float64(maxWait):
		return maxWait
	case d > 0:
		return time.Duration(d)
	default:
		return 0
	}
}

// limits parses the rate limits: x-ratelimit-* of OpenAI and compatible servers, anthropic-ratelimit-* of Anthropic.
// Gemini reports none.
func limits(h http.Header, now time.Time) llm.Limits {
	requests := allowance(h, "X-Ratelimit-Limit-Requests", "X-Ratelimit-Remaining-Requests",
		"X-Ratelimit-Reset-Requests", now)
	if requests == nil {
		requests = allowance(h, "Anthropic-Ratelimit-Requests-Limit", "Anthropic-Ratelimit-Requests-Remaining",
			"Anthropic-Ratelimit-Requests-Reset", now)
	}
	tokens := allowance(h, "X-Ratelimit-Limit-Tokens", "X-Ratelimit-Remaining-Tokens", "X-Ratelimit-Reset-Tokens", now)
	if tokens == nil {
		tokens = allowance(h, "Anthropic-Ratelimit-Tokens-Limit", "Anthropic-Ratelimit-Tokens-Remaining",
			"Anthropic-Ratelimit-Tokens-Reset", now)
	}
	return llm.Limits{Requests: requests, Tokens: tokens}
}

func allowance(h http.Header, limit, remaining, reset string, now time.Time) *llm.Allowance {
	left, err := strconv.ParseInt(h.Get(remaining), 10, 64)
	if err != nil {
		return nil
	}
	a := &llm.Allowance{Remaining: left}
	if n, err := strconv.ParseInt(h.Get(limit), 10, 64); err == nil {
		a.Limit = n
	}
	// OpenAI writes 6m0s and 20ms, Anthropic an instant of RFC 3339, some gateways seconds.
	value := h.Get(reset)
	if d, err := time.ParseDuration(value); err == nil {
		a.Reset = bound(float64(d))
	} else if at, err := time.Parse(time.RFC3339, value); err == nil {
		a.Reset = bound(float64(at.Sub(now)))
	} else if seconds, err := strconv.ParseFloat(value, 64); err == nil {
		a.Reset = bound(seconds * float64(time.Second))
	}
	return a
}
