// Package txlock checks the transactions that calls are given, and has the calls of one work one after the other.
package txlock

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/postroom-go/postroom/queue/driver"
)

// locks are those of all queues, since several may be given the same transaction. They make goroutines that share a
// transaction of the program's own call one after the other: a connection answers one query at a time, and a call makes
// several that belong together.
var locks struct {
	mu sync.Mutex
	of map[any]*lock
}

// Adopt returns tx as the driver takes it, whoever has begun it. The caller calls leave when it needs it no more: until
// then no other call works in it, where it is the program's own.
func Adopt(
	ctx context.Context, d driver.Driver, tx driver.Tx, now time.Time,
) (w *driver.WriteTx, leave func(), err error) {
	if ctx == nil {
		return nil, nil, driver.ErrNilContext
	}
	leave = func() {}
	if w, ok := tx.(*driver.WriteTx); !ok || w == nil {
		if err := validTx(tx); err != nil {
			return nil, nil, err
		}
		if leave, err = Lock(ctx, tx); err != nil {
			return nil, nil, err
		}
	}
	if w, err = d.Adopt(ctx, tx, now); err != nil {
		leave()
		return nil, nil, err
	}
	return w, leave, nil
}

// validTx refuses a value whose type shows that it is not a transaction.
func validTx(tx driver.Tx) error {
	if v := reflect.ValueOf(tx); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return fmt.Errorf("%w: it is nil", driver.ErrNoTransaction)
	}
	if x, ok := tx.(*sqlx.Tx); ok && x.Tx == nil {
		return fmt.Errorf("%w: the *sqlx.Tx has none", driver.ErrNoTransaction)
	}
	// A pool and a connection also have the methods of a transaction, and would write each statement separately.
	// BeginTx of some wrappers has other results than that of database/sql.
	if _, ok := reflect.TypeOf(tx).MethodByName("BeginTx"); ok {
		return fmt.Errorf("%w: a %T begins some with BeginTx", driver.ErrNoTransaction, tx)
	}
	return nil
}

// A wrapper is a transaction as a driver has adopted it.
type wrapper interface{ Given() driver.Tx }

// A lock is the lock of one transaction. It exists while calls hold it or wait for it.
type lock struct {
	calls int
	held  chan struct{} // of one element: full while a call holds the lock
}

// Lock returns when no other call works in the transaction. The caller calls leave when its own is over.
func Lock(ctx context.Context, tx driver.Tx) (leave func(), err error) {
	for x, ok := tx.(wrapper); ok; x, ok = tx.(wrapper) {
		tx = x.Given()
	}
	var key any = tx
	if x, ok := tx.(*sqlx.Tx); ok {
		key = x.Tx
	}
	if !reflect.ValueOf(key).Comparable() {
		return func() {}, nil // nothing says whether two of them are the same
	}
	own := enter(key)
	select {
	case own.held <- struct{}{}:
		return func() {
			<-own.held
			exit(key, own)
		}, nil
	case <-ctx.Done():
		exit(key, own)
		return nil, ctx.Err()
	}
}

func enter(key any) *lock {
	locks.mu.Lock()
	defer locks.mu.Unlock()
	if locks.of == nil {
		locks.of = make(map[any]*lock)
	}
	own := locks.of[key]
	if own == nil {
		own = &lock{held: make(chan struct{}, 1)}
		locks.of[key] = own
	}
	own.calls++
	return own
}

func exit(key any, own *lock) {
	locks.mu.Lock()
	defer locks.mu.Unlock()
	if own.calls--; own.calls == 0 {
		delete(locks.of, key)
	}
}
