package llm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/postroom-go/postroom/internal/fields"
)

// RetryingConfig configures a [Retrying] client. It is copied and checked once, by [NewRetrying].
type RetryingConfig struct {
	// Client makes the calls. Required.
	Client Client
	// Attempts is how often a request is sent at most. Default 3.
	Attempts int
	// MaxWait is the longest wait before another attempt. If an answer asks for more, it is returned at once, so that the
	// job waits in the queue instead. Default 10 s.
	MaxWait time.Duration
}

// A Retrying client sends a request again if the provider was overloaded, unavailable, or asked for a short delay. It
// waits as long as the provider asks, or with exponential backoff. A stream that has begun is not restarted.
type Retrying struct{ cfg RetryingConfig }

var _ Client = (*Retrying)(nil)

// NewRetrying makes a retrying client; a bad configuration is an error that names the field.
func NewRetrying(cfg RetryingConfig) (*Retrying, error) {
	if err := fields.Required("llm: RetryingConfig.Client", cfg.Client, "the client of a provider"); err != nil {
		return nil, err
	}
	if cfg.Attempts < 0 || cfg.MaxWait < 0 {
		return nil, fmt.Errorf("llm: RetryingConfig: Attempts is %d and MaxWait %v; they must be at least 0",
			cfg.Attempts, cfg.MaxWait)
	}
	if cfg.Attempts == 0 {
		cfg.Attempts = 3
	}
	if cfg.MaxWait == 0 {
		cfg.MaxWait = 10 * time.Second
	}
	return &Retrying{cfg: cfg}, nil
}

// Complete calls the model, several times if need be.
func (r *Retrying) Complete(ctx context.Context, req *Request) (*Response, error) {
	delays := backoff.NewExponentialBackOff(backoff.WithMaxInterval(r.cfg.MaxWait), backoff.WithMaxElapsedTime(0))
	begun := watchStream(req)
	for attempt := 1; ; attempt++ {
		resp, err := Complete(ctx, r.cfg.Client, begun.req)
		if err == nil || attempt == r.cfg.Attempts || begun.any {
			return resp, err
		}
		wait, ok := r.wait(err, delays)
		if !ok {
			return nil, err
		}
		if !sleep(ctx, wait) {
			return nil, errors.Join(context.Cause(ctx), err)
		}
	}
}

// wait reports how long to wait before the next attempt, and whether there is one.
func (r *Retrying) wait(err error, delays backoff.BackOff) (time.Duration, bool) {
	var e *Error
	if !errors.As(err, &e) || e.Class() == Fatal {
		return 0, false
	}
	wait := e.wait()
	if wait == 0 {
		wait = min(delays.NextBackOff(), r.cfg.MaxWait)
	}
	return wait, wait <= r.cfg.MaxWait
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// A watchedStream notes whether pieces of an answer have arrived.
type watchedStream struct {
	req *Request
	any bool
}

func watchStream(req *Request) *watchedStream {
	w := &watchedStream{req: req}
	if req == nil || req.Stream == nil {
		return w
	}
	copied := *req
	copied.Stream = func(c Chunk) error {
		w.any = true
		return req.Stream(c)
	}
	w.req = &copied
	return w
}
