package queuehealth

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

// A probe asks the database a question, one at a time: those who ask meanwhile share the answer. Nobody waits longer
// than they want to, also where a file system or a driver hangs and does not heed a context.
type probe[T any] struct {
	ask    func(ctx context.Context, q *queue.Queue) (T, error)
	q      *queue.Queue
	limit  time.Duration // after which ask is told to give up
	maxAge time.Duration // how long an answer serves; 0: only those who waited for it

	mu     sync.Mutex
	latest *answer[T]
}

// An answer may be read once done is closed.
type answer[T any] struct {
	done  chan struct{}
	value T
	at    time.Time
	err   error
}

func doctorOf(q *queue.Queue, maxAge time.Duration) *probe[[]queueadmin.Finding] {
	return &probe[[]queueadmin.Finding]{ask: queueadmin.Doctor, q: q, limit: maxExamination, maxAge: maxAge}
}

// look returns an answer that is not too old, and when it was given.
func (p *probe[T]) look(ctx context.Context, patience time.Duration) (value T, at time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	a := p.current(ctx)
	select {
	case <-a.done:
		return a.value, a.at, a.err
	case <-ctx.Done():
		return value, at, fmt.Errorf("the database has not answered within %v: %w", patience, ctx.Err())
	}
}

// current returns the answer that serves, or the one that is being waited for. It asks if there is none.
func (p *probe[T]) current(ctx context.Context) *answer[T] {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.latest != nil && p.latest.serves(p.maxAge) {
		return p.latest
	}
	a := &answer[T]{done: make(chan struct{})}
	p.latest = a
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.limit)
	go func() {
		defer cancel()
		defer close(a.done)
		a.value, a.err = p.ask(ctx, p.q)
		a.at = time.Now()
	}()
	return a
}

func (a *answer[T]) serves(maxAge time.Duration) bool {
	select {
	case <-a.done:
		return a.err == nil && time.Since(a.at) < maxAge
	default:
		return true
	}
}
