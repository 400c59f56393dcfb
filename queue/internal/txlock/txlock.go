// Package txlock has the calls of one transaction work one after the other.
package txlock

import (
	"context"
	"reflect"
	"sync"

	"github.com/jmoiron/sqlx"

	"github.com/postroom-go/postroom/queue/driver"
)

// Locks make goroutines that share a transaction of the program's own call one after the other: a connection answers
// one query at a time, and a call makes several that belong together.
type Locks struct {
	mu sync.Mutex
	of map[any]*lock
}

// A lock is the lock of one transaction. It exists while calls hold it or wait for it.
type lock struct {
	calls int
	held  chan struct{} // of one element: full while a call holds the lock
}

// Lock returns when no other call works in the transaction. The caller calls leave when its own is over.
func (t *Locks) Lock(ctx context.Context, tx driver.Tx) (leave func(), err error) {
	var key any = tx
	if x, ok := tx.(*sqlx.Tx); ok {
		key = x.Tx
	}
	if !reflect.ValueOf(key).Comparable() {
		return func() {}, nil // nothing says whether two of them are the same
	}
	own := t.enter(key)
	select {
	case own.held <- struct{}{}:
		return func() {
			<-own.held
			t.leave(key, own)
		}, nil
	case <-ctx.Done():
		t.leave(key, own)
		return nil, ctx.Err()
	}
}

func (t *Locks) enter(key any) *lock {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil {
		t.of = make(map[any]*lock)
	}
	own := t.of[key]
	if own == nil {
		own = &lock{held: make(chan struct{}, 1)}
		t.of[key] = own
	}
	own.calls++
	return own
}

func (t *Locks) leave(key any, own *lock) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if own.calls--; own.calls == 0 {
		delete(t.of, key)
	}
}
