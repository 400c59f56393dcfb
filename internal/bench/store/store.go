// Package store holds the engines that contenders keep their jobs in.
package store

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
)

// An Engine makes stores and takes them away.
type Engine interface {
	Title() string
	// Check returns the version and the relevant settings, or an error with a hint if the engine is not available.
	Check(ctx context.Context) (about string, err error)
	Durabilities() []Durability
	// Make makes an empty place; remove takes it away.
	Make(ctx context.Context) (place Place, remove func() error, err error)
	// Settle makes the engine do its delayed work after many writes at once, so that it does not disturb other
	// measurements.
	Settle(ctx context.Context, place Place) error
}

// Engines are all of them, by name; SQLite is measured with one durability, or, when it is empty, with both.
func Engines(dir string, only Durability) map[string]Engine {
	durabilities := []Durability{Normal, Full}
	if only != "" {
		durabilities = []Durability{only}
	}
	return map[string]Engine{"sqlite": sqliteEngine{dir, durabilities},
		"postgres": postgresEngine{dsn: os.Getenv(postgresEnv)}, "redis": redisEngine{}}
}

// A Durability is the state of a write when it returns, in SQLite's terms. A server's default is Full.
type Durability string

// The durabilities.
const (
	Full   Durability = "FULL"
	Normal Durability = "NORMAL"
)

// A Place is the location and configuration of a contender's store.
type Place struct {
	Path       string // of a SQLite file that does not exist yet
	DSN        string // of an empty database of a server
	Durability Durability
	// Connections is the size of a pool on a server; 0 means 20.
	Connections int
	// Retain asks contenders that can do without to keep finished jobs.
	Retain bool
}

// Pooled is the DSN for a pool that has a connection for each of the goroutines that enqueue, or as many as the place
// allows.
func (p Place) Pooled() string {
	separator := "?"
	if strings.Contains(p.DSN, "?") {
		separator = "&"
	}
	return fmt.Sprintf("%s%spool_max_conns=%d", p.DSN, separator, cmp.Or(p.Connections, 20))
}
