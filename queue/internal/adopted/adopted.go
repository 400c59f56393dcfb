// Package adopted remembers the transactions that a program has begun, and a driver has checked.
package adopted

import (
	"database/sql"
	"sync"

	"github.com/jmoiron/sqlx"

	"github.com/postroom-go/postroom/queue/driver"
)

// Seen holds the transactions that were checked last. The zero Seen is ready for use. It is safe for concurrent use.
type Seen struct {
	mu   sync.Mutex
	last [32]any
	next int
}

// Has reports whether the transaction was added and is still remembered.
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

// Add adds the transaction, whose type must be comparable. It replaces the one that was added first.
func (s *Seen) Add(tx any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last[s.next] = tx
	s.next = (s.next + 1) % len(s.last)
}

// IsOfPool reports whether the type guarantees that the value is one transaction of database/sql during its life. Any
// other type may be a pool, or stand for another transaction later.
func IsOfPool(tx any) bool {
	switch tx.(type) {
	case *sql.Tx, *sqlx.Tx:
		return true
	}
	return false
}

// Innermost returns the transaction of a WriteTx, even if a wrapping driver has made it from another WriteTx.
func Innermost(w *driver.WriteTx) driver.Tx {
	for {
		inner, ok := w.Tx.(*driver.WriteTx)
		if !ok {
			return w.Tx
		}
		w = inner
	}
}
