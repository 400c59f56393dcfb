package postgres

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// A walk remembers how long it took to see that no job is ready. To see that, a claim reads past what is left in the index of all
// jobs that have been claimed or deleted since the last vacuum: after a DELETE of a million jobs that takes most of its time. As
// long as claims within limits find jobs of limit keys, they look for others only so often that this is a small part of what
// they do.
type walk struct {
	mu    sync.Mutex
	types string
	until time.Time
}

const (
	// A walk that is shorter is made each time.
	longWalk = 10 * time.Millisecond
	// No walk is made for so many times as long as the last one took, and longestRest at most: jobs that become ready wait so long.
	restOfWalk  = 5
	longestRest = time.Second
)

// rests reports whether the claims of the types do without a walk now.
func (w *walk) rests(types []driver.TypeCapacity) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Now().Before(w.until) && w.types == typesOf(types)
}

// made notes a walk, and how many ready jobs it has led to.
func (w *walk) made(types []driver.TypeCapacity, took time.Duration, ready int) {
	if took < longWalk || ready > 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.types, w.until = typesOf(types), time.Now().Add(min(restOfWalk*took, longestRest))
}

func typesOf(types []driver.TypeCapacity) string {
	names, _ := columns(types)
	slices.Sort(names)
	return strings.Join(names, "\x00")
}

// How long the transaction has gone on before this statement, in microseconds.
const selectElapsed = `
SELECT (EXTRACT(EPOCH FROM statement_timestamp() - transaction_timestamp()) * 1000000)::bigint`

func scanElapsed(row jobsql.Scanner) (time.Duration, error) {
	var us int64
	err := row.Scan(&us)
	return time.Duration(us) * time.Microsecond, err
}
