package main

import (
	"context"
)

// A Queue is one contender, open on a store of its own.
type Queue interface {
	// Enqueue stores one job that is due and returns when it is as durable as was asked.
	Enqueue(ctx context.Context, p Payload) error
	// EnqueueMany stores n jobs with one call, or returns errors.ErrUnsupported where the contender has no such call.
	EnqueueMany(ctx context.Context, n int) error
	// Run works jobs until ctx is done, then stops in good order: what has run is recorded as done, and what has not is
	// still there. It calls ran with each job's [Payload.N], from the goroutine of its handler.
	Run(ctx context.Context, ran func(n int64)) error
	// Stage puts n jobs into the store; it is not measured.
	Stage(ctx context.Context, kind Kind, n int) error
	// Unfinished counts the jobs that are due, scheduled or running.
	Unfinished(ctx context.Context) (int, error)
	Close() error
}

// A RowQueue is a queue whose handlers can write to the database that holds the jobs.
type RowQueue interface {
	Queue
	// RunWriting is Run with a handler that writes one row by [rowInsert] and completes its job in the same transaction, or,
	// where the contender has no call for that, right after it.
	RunWriting(ctx context.Context, ran func(n int64)) error
	// Exec executes a statement of the workload.
	Exec(ctx context.Context, statement string) error
	// Count returns the number that a query selects.
	Count(ctx context.Context, query string) (int, error)
}

// A Kind says what staged jobs are.
type Kind int

// The kinds.
const (
	Due       Kind = iota
	Finished       // kept after they were done; errors.ErrUnsupported where none are kept
	Scheduled      // for tomorrow, of higher priority than those that are due, where there are priorities
)

// A Durability is what has happened when a write returns, in SQLite's words. A server's own default is Full.
type Durability string

// The durabilities.
const (
	Full   Durability = "FULL"
	Normal Durability = "NORMAL"
)

// A Place is where and how a contender opens its store.
type Place struct {
	Path       string // of a SQLite file that does not exist yet
	DSN        string // of an empty database of a server
	Durability Durability
	// Connections is how many a pool has on a server; 0 means 20.
	Connections int
	// Retain asks contenders that can do without to keep finished jobs.
	Retain bool
}

// A Group is what a contender takes part in.
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

// A Contender is a way to keep a queue.
type Contender struct {
	Engine string // "sqlite", "postgres" or "redis"
	Name   string
	// Variant distinguishes settings of which the better one stands for the contender.
	Variant string
	Module  string // whose version the report names; empty for a further setting
	Setting string // for the report
	Groups  Group
	Peer    bool // what others made, at its best setting: ratios are taken to the best of these
	Open    func(ctx context.Context, place Place) (Queue, error)
	// OpenMachine opens one of many dispatchers on the same store, with so many workers, or with the number of Open when it
	// is 0. It is nil where several machines are not measured.
	OpenMachine func(ctx context.Context, place Place, workers int) (Queue, error)
	// Elsewhere builds the program that measures the contender when this program cannot link it. Open is nil then.
	Elsewhere *program
}

// String is what -only matches.
func (c *Contender) String() string {
	name := c.Engine + "/" + c.Name
	if c.Variant != "" {
		name += " " + c.Variant
	}
	return name
}

const (
	rawName       = "raw"
	rawLargeName  = "raw, by 1,000"
	rawSchemaName = "raw on our schema"
	ourName       = "postroom"
)

func contenders() []Contender {
	var all []Contender
	for _, some := range [][]Contender{
		rawSQLiteContenders(), rawPostgresContenders(), postroomContenders(), goqiteContenders(), backliteContenders(),
		riverContenders(), dbosContenders(), asynqContenders(),
	} {
		all = append(all, some...)
	}
	return all
}
