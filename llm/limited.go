package llm

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/postroom-go/postroom/internal/fields"
)

// LimitedConfig configures a [Limited] client. It is copied and checked once, by [NewLimited].
type LimitedConfig struct {
	// Client makes the calls. Required.
	Client Client
	// RequestsPerMinute and TokensPerMinute bound the calls of this process; the tokens of a request are estimated and corrected
	// by what it used. Default 0: no bound but the provider's.
	RequestsPerMinute int
	TokensPerMinute   int
	// MaxWait is the longest wait for a limit within a call; a call that would have to wait longer returns [ErrRateLimited] at
	// once, so that its job waits in the queue. Default 5 s.
	MaxWait time.Duration
}

// A Limited client keeps rate limits: its own, and those that the provider reports in its answers. After a rate limit it calls
// nobody until the time that the provider named.
type Limited struct {
	cfg      LimitedConfig
	requests *rate.Limiter
	tokens   *rate.Limiter

	mu    sync.Mutex
	until time.Time // no call before
}

var _ Client = (*Limited)(nil)

// NewLimited makes a limited client; a bad configuration is an error that names the field.
func NewLimited(cfg LimitedConfig) (*Limited, error) {
	if err := fields.Required("llm: LimitedConfig.Client", cfg.Client, "the client of a provider"); err != nil {
		return nil, err
	}
	if cfg.RequestsPerMinute < 0 || cfg.TokensPerMinute < 0 || cfg.MaxWait < 0 {
		return nil, errors.New("llm: LimitedConfig: RequestsPerMinute, TokensPerMinute and MaxWait must be at least 0")
	}
	if cfg.MaxWait == 0 {
		cfg.MaxWait = 5 * time.Second
	}
	return &Limited{cfg: cfg, requests: perMinute(cfg.RequestsPerMinute), tokens: perMinute(cfg.TokensPerMinute)}, nil
}

// perMinute is a bucket that holds the calls of a minute.
func perMinute(n int) *rate.Limiter {
	if n == 0 {
		return rate.NewLimiter(rate.Inf, 0)
	}
	return rate.NewLimiter(rate.Limit(float64(n)/60), n)
}

// Complete waits for the limits and calls the model.
func (l *Limited) Complete(ctx context.Context, req *Request) (*Response, error) {
	estimate := req.estimate()
	wait, cancel := l.reserve(estimate)
	if wait > l.cfg.MaxWait {
		cancel()
		return nil, &Error{Provider: "llm", Reason: ErrRateLimited, RetryAfter: wait, Err: fmt.Errorf("the next call is allowed in %v", wait.Round(time.Second))}
	}
	if !sleep(ctx, wait) {
		cancel()
		return nil, context.Cause(ctx)
	}
	resp, err := l.cfg.Client.Complete(ctx, req)
	var e *Error
	switch {
	case err == nil:
		l.correct(estimate, resp.Usage.Total())
		l.pause(resp.Limits.wait())
	case errors.As(err, &e):
		l.correct(estimate, e.Usage.Total())
		if errors.Is(e, ErrRateLimited) {
			l.pause(e.wait())
		}
	}
	return resp, err
}

// reserve takes a request and its tokens from the limits and returns the wait for them.
func (l *Limited) reserve(tokens int) (wait time.Duration, cancel func()) {
	now := time.Now()
	request := l.requests.ReserveN(now, 1)
	// A request that is larger than a minute's tokens takes a minute's.
	if l.cfg.TokensPerMinute > 0 {
		tokens = min(tokens, l.cfg.TokensPerMinute)
	}
	used := l.tokens.ReserveN(now, tokens)
	l.mu.Lock()
	paused := l.until.Sub(now)
	l.mu.Unlock()
	cancel = func() {
		request.CancelAt(now)
		used.CancelAt(now)
	}
	return max(0, paused, request.DelayFrom(now), used.DelayFrom(now)), cancel
}

// correct takes what was used beyond the estimate; what was estimated too high comes back by itself within the minute.
func (l *Limited) correct(estimate, used int) {
	minute := l.cfg.TokensPerMinute
	if minute == 0 {
		return
	}
	// The bucket gives no more than a minute's at once.
	for more := used - estimate; more > 0; more -= minute {
		l.tokens.ReserveN(time.Now(), min(more, minute))
	}
}

func (l *Limited) pause(d time.Duration) {
	if d <= 0 {
		return
	}
	until := time.Now().Add(d)
	l.mu.Lock()
	defer l.mu.Unlock()
	if until.After(l.until) {
		l.until = until
	}
}

// estimate is about how many tokens the request has, with its answer: a token is three bytes or more in most texts.
func (r *Request) estimate() int {
	bytes := 0
	for _, m := range r.Messages {
		bytes += len(m.Text)
		for _, c := range m.ToolCalls {
			bytes += len(c.Arguments)
		}
	}
	for _, t := range r.Tools {
		bytes += len(t.Description) + len(t.Schema)
	}
	return bytes/3 + r.MaxOutputTokens
}
