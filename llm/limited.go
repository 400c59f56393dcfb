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
	// RequestsPerMinute and TokensPerMinute limit the calls of this process. The tokens of a request are estimated, and
	// corrected by its usage. Default 0: no limit except the provider's.
	RequestsPerMinute int
	TokensPerMinute   int
	// Concurrent is how many calls this process makes at once. Default 0: no limit.
	Concurrent int
	// MaxWait is the longest wait for a limit within a call. A call that would have to wait longer returns
	// [ErrRateLimited], at once if the wait is known, so that its job waits in the queue. Default 5 s.
	MaxWait time.Duration
}

// A Limited client keeps rate limits: its own, and those that the provider reports in its answers. After a rate limit
// it makes no call until the time that the provider named. After a refused key, a wrong name or an unpaid bill it makes
// no call for a minute and returns that failure again; otherwise all waiting jobs would ask at once.
type Limited struct {
	cfg      LimitedConfig
	requests *rate.Limiter
	tokens   *rate.Limiter
	slots    chan struct{} // nil: no limit on concurrent calls

	mu      sync.Mutex
	until   time.Time // no call before
	refusal *Error    // returned instead of a call until then; nil for a rate limit
}

// refusedWait is the pause after a failure that a person must resolve.
const refusedWait = time.Minute

var _ Client = (*Limited)(nil)

// NewLimited makes a limited client; a bad configuration is an error that names the field.
func NewLimited(cfg LimitedConfig) (*Limited, error) {
	if err := fields.Required("llm: LimitedConfig.Client", cfg.Client, "the client of a provider"); err != nil {
		return nil, err
	}
	if min(cfg.RequestsPerMinute, cfg.TokensPerMinute, cfg.Concurrent) < 0 || cfg.MaxWait < 0 {
		return nil,
			errors.New("llm: LimitedConfig: RequestsPerMinute, TokensPerMinute, Concurrent and MaxWait must be at least 0")
	}
	if cfg.MaxWait == 0 {
		cfg.MaxWait = 5 * time.Second
	}
	l := &Limited{cfg: cfg, requests: perMinute(cfg.RequestsPerMinute), tokens: perMinute(cfg.TokensPerMinute)}
	if cfg.Concurrent > 0 {
		l.slots = make(chan struct{}, cfg.Concurrent)
	}
	return l, nil
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
	leave, err := l.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if refusal := l.refused(); refusal != nil {
		return nil, refusal
	}
	estimate := req.EstimateTokens()
	wait, cancel := l.reserve(estimate)
	if wait > l.cfg.MaxWait {
		cancel()
		return nil, &Error{Provider: "llm", Reason: ErrRateLimited, RetryAfter: wait,
			Err: fmt.Errorf("the next call is allowed in %v", wait.Round(time.Second))}
	}
	if !sleep(ctx, wait) {
		cancel()
		return nil, context.Cause(ctx)
	}
	resp, err := Complete(ctx, l.cfg.Client, req)
	if err == nil && resp.Cached {
		cancel() // no call was made
		return resp, nil
	}
	l.learn(estimate, resp, err)
	return resp, err
}

// enter waits for a slot for a concurrent call.
func (l *Limited) enter(ctx context.Context) (leave func(), err error) {
	if l.slots == nil {
		return func() {}, nil
	}
	late := time.NewTimer(l.cfg.MaxWait)
	defer late.Stop()
	select {
	case l.slots <- struct{}{}:
		return func() { <-l.slots }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-late.C:
		return nil, &Error{
			Provider: "llm", Reason: ErrRateLimited, RetryAfter: l.cfg.MaxWait,
			Err: fmt.Errorf("%d calls are being made, and no more are allowed at once", l.cfg.Concurrent),
		}
	}
}

// learn updates the limits from the end of a call.
func (l *Limited) learn(estimate int, resp *Response, err error) {
	var e *Error
	switch {
	case err == nil:
		l.correct(estimate, resp.Usage.Total())
		l.pause(resp.Limits.wait(), nil)
	case errors.As(err, &e):
		l.correct(estimate, e.Usage.Total())
		switch {
		case errors.Is(e, ErrRateLimited):
			l.pause(e.wait(), nil)
		case e.NeedsPerson():
			l.pause(refusedWait, e)
		}
	}
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

// correct takes the tokens that were used beyond the estimate. Tokens that were estimated too high come back within the
// minute.
func (l *Limited) correct(estimate, used int) {
	minute := l.cfg.TokensPerMinute
	if minute == 0 {
		return
	}
	// The bucket gives at most a minute's tokens at once.
	for more := used - estimate; more > 0; more -= minute {
		l.tokens.ReserveN(time.Now(), min(more, minute))
	}
}

// pause blocks calls; refusal is their error meanwhile, nil for a rate limit.
func (l *Limited) pause(d time.Duration, refusal *Error) {
	if d <= 0 {
		return
	}
	until := time.Now().Add(d)
	l.mu.Lock()
	defer l.mu.Unlock()
	if until.After(l.until) {
		l.until, l.refusal = until, refusal
	}
}

// refused returns the error of a blocked call; nil if the call may be made or waits.
func (l *Limited) refused() *Error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refusal == nil || !time.Now().Before(l.until) {
		return nil
	}
	again := *l.refusal
	again.Usage = Usage{}
	return &again
}

// EstimateTokens returns about how many tokens the request has, with the longest answer: a token is three bytes or more
// in most texts.
func (r *Request) EstimateTokens() int {
	if r == nil {
		return 0
	}
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
