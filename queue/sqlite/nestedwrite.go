package sqlite

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/nestedwrite"
)

// longTurn is the duration of a turn after which waiting writes check whether they wait for themselves.
const longTurn = 5 * time.Millisecond

// nestedWriteTimeout is how long a write waits for another write whose function does not return. That function may wait
// for a goroutine that it has started and that makes this write, which cannot be detected.
const nestedWriteTimeout = 30 * time.Second

// A nestedWriteGuard finds a write that was begun inside another one on the same goroutine, which would deadlock.
// Inspecting a stack takes longer than many a write, so the guard does not while turns are short.
type nestedWriteGuard struct {
	guard   nestedwrite.Guard
	running atomic.Pointer[request]
	waiting atomic.Int64 // so many requests for a turn
	armed   atomic.Bool
	long    atomic.Pointer[chan struct{}]
}

func newNestedWriteGuard() *nestedWriteGuard {
	l := &nestedWriteGuard{}
	l.renew()
	return l
}

func (l *nestedWriteGuard) renew() chan struct{} {
	fresh := make(chan struct{})
	if old := l.long.Swap(&fresh); old != nil {
		return *old
	}
	return nil
}

// watch returns a channel that closes when the turn of another has lasted long.
func (l *nestedWriteGuard) watch() <-chan struct{} {
	long := *l.long.Load()
	if r := l.running.Load(); r != nil && l.armed.CompareAndSwap(false, true) {
		time.AfterFunc(longTurn, func() { l.recheck(r) })
	}
	return long
}

// recheck makes all waiting writes check again if the write that had the turn before still has it. One timer serves all
// of them.
func (l *nestedWriteGuard) recheck(before *request) {
	l.armed.Store(false)
	switch now := l.running.Load(); {
	case now == nil:
	case now == before:
		close(l.renew())
	case l.armed.CompareAndSwap(false, true):
		time.AfterFunc(longTurn, func() { l.recheck(now) })
	}
}

// lasts reports whether the turn that runs has lasted so long.
func (l *nestedWriteGuard) lasts(d time.Duration) bool {
	r := l.running.Load()
	return r != nil && time.Since(r.began) >= d
}

// run runs fn as the turn of r. Others that have begun to wait when nobody had the turn check, too, when it lasts.
func (l *nestedWriteGuard) run(r *request, fn func()) {
	r.began = time.Now()
	l.running.Store(r)
	if l.waiting.Load() > 0 {
		l.watch()
	}
	defer l.running.CompareAndSwap(r, nil)
	l.guard.Run(fn)
}

// InWrite implements [driver.WriteChecker].
func (db *engine) InWrite(ctx context.Context) bool { return db.writer.inWrite(ctx) }

func (w *writer) inWrite(ctx context.Context) bool {
	return ctx.Value(writeKey{}) != nil || w.nested.guard.Inside()
}

var _ driver.WriteChecker = (*engine)(nil)
