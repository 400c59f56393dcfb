// Package contender holds what a queue under test implements, and what all of them share.
package contender

import (
	"context"

	"github.com/postroom-go/postroom/internal/bench/child"
	"github.com/postroom-go/postroom/internal/bench/store"
)

// A Queue is one contender, open on a store of its own.
type Queue interface {
	// Enqueue stores one due job and returns when it is durable as configured.
	Enqueue(ctx context.Context, p Payload) error
	// EnqueueMany stores n jobs with one call, or returns errors.ErrUnsupported if the contender has no such call.
	EnqueueMany(ctx context.Context, n int) error
	// Run works jobs until ctx is done, then stops in an orderly way: finished jobs are recorded as done, and the
	// others stay. It calls ran with each job's [Payload.N], from the goroutine of its handler.
	Run(ctx context.Context, ran func(n int64)) error
	// Stage puts n jobs into the store without measurement.
	Stage(ctx context.Context, kind Kind, n int) error
	// Unfinished returns the number of jobs that are due, scheduled or running.
	Unfinished(ctx context.Context) (int, error)
	Close() error
}

// A RowQueue is a queue whose handlers can write to the database that holds the jobs.
type RowQueue interface {
	Queue
	// RunWriting is Run with a handler that writes one row by [RowInsert] and completes its job in the same transaction
	// or, if the contender has no call for that, right after it.
	RunWriting(ctx context.Context, ran func(n int64)) error
	// Exec executes a statement of the workload.
	Exec(ctx context.Context, statement string) error
	// Count returns the number that a query selects.
	Count(ctx context.Context, query string) (int, error)
}

// A Kind is a kind of staged jobs.
type Kind int

// The kinds.
const (
	Due       Kind = iota
	Finished       // kept after they were done; errors.ErrUnsupported where none are kept
	Scheduled      // for tomorrow, of higher priority than those that are due, where there are priorities
)

// A Group is a group of workloads for a contender.
type Group int

// The groups of workloads; they are combined with |.
const (
	Enqueueing Group = 1 << iota
	Draining
	Starting
	Mixing
	Writing
	Everything = Enqueueing | Draining | Starting | Mixing | Writing
)

// An OpenFunc opens a contender on a store.
type OpenFunc func(ctx context.Context, place store.Place) (Queue, error)

// A Contender is a queue under test.
type Contender struct {
	Engine string // "sqlite", "postgres" or "redis"
	Name   string
	// Variant distinguishes settings, of which the better one counts for the contender.
	Variant string
	Module  string // whose version the report names; empty for a further setting
	Setting string // for the report
	Groups  Group
	Peer    bool // made by others, at its best setting: ratios compare with the best of these
	Open    OpenFunc
	// OpenMachine opens one of many dispatchers on the same store with the given number of workers; 0 means the number
	// of Open. It is nil if several machines are not measured.
	OpenMachine func(ctx context.Context, place store.Place, workers int) (Queue, error)
	// Elsewhere builds the program that measures the contender if this program cannot link it. Open is nil then.
	Elsewhere *child.Program
}

// String is matched by -only.
func (c *Contender) String() string {
	name := c.Engine + "/" + c.Name
	if c.Variant != "" {
		name += " " + c.Variant
	}
	return name
}
