package queue

import (
	"context"
	"reflect"
	"sync"

	"github.com/jmoiron/sqlx"
)

// turns makes goroutines that share a transaction of the program's own call one after the other: a connection answers one query
// at a time, and a call makes several that belong together.
type turns struct {
	mu sync.Mutex
	of map[any]*turn
}

// A turn is one transaction's. It is there while calls have it or wait for it.
type turn struct {
	calls int
	taken chan struct{} // of one
}

// callTurns are the turns of all queues, since several may be given the same transaction.
var callTurns = turns{of: make(map[any]*turn)}

// take returns when no other call works in the transaction. The caller calls leave when its own is over.
func (t *turns) take(ctx context.Context, tx Tx) (leave func(), err error) {
	var key any = tx
	if x, ok := tx.(*sqlx.Tx); ok {
		key = x.Tx
	}
	if !reflect.ValueOf(key).Comparable() {
		return func() {}, nil // nothing says whether two of them are the same
	}
	own := t.enter(key)
	select {
	case own.taken <- struct{}{}:
		return func() {
			<-own.taken
			t.leave(key, own)
		}, nil
	case <-ctx.Done():
		t.leave(key, own)
		return nil, ctx.Err()
	}
}

func (t *turns) enter(key any) *turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	own := t.of[key]
	if own == nil {
		own = &turn{taken: make(chan struct{}, 1)}
		t.of[key] = own
	}
	own.calls++
	return own
}

func (t *turns) leave(key any, own *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if own.calls--; own.calls == 0 {
		delete(t.of, key)
	}
}
