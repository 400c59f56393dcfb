// Package joined remembers which of a program's own transactions a driver has looked at.
package joined

import (
	"database/sql"
	"sync"

	"github.com/jmoiron/sqlx"

	"github.com/postroom-go/postroom/queue/driver"
)

// Seen has the transactions that were looked at last. The zero Seen is ready for use, by many goroutines.
type Seen struct {
	mu   sync.Mutex
	last [32]any
	next int
}

// Has reports whether the transaction was added, and is not forgotten.
func (s *Seen) Has(tx any) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, seen := range s.last {
		if seen == tx {
			return true
		}
	}
	return false
}

// Add remembers the transaction, whose type must be comparable, in the place of the one that was added first.
func (s *Seen) Add(tx any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last[s.next] = tx
	s.next = (s.next + 1) % len(s.last)
}

// IsOfPool reports whether the type alone says that it is one transaction of database/sql, from its beginning to its end. Anything
// else may be a pool in disguise, or stand for another transaction in an hour.
func IsOfPool(tx any) bool {
	switch tx.(type) {
	case *sql.Tx, *sqlx.Tx:
		return true
	}
	return false
}

// Innermost is the transaction that a WriteTx stands for, also where a driver that wraps another has made one of the other's.
func Innermost(w *driver.WriteTx) driver.Tx {
	for {
		inner, ok := w.Tx.(*driver.WriteTx)
		if !ok {
			return w.Tx
		}
		w = inner
	}
}
