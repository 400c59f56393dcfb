package main

import (
	"context"
)

// A Queue is one contender, open on a store of its own.
type Queue interface {
	// Enqueue stores one job that is due and returns when it is as durable as was asked.
	Enqueue(ctx context.Context) error
	// EnqueueMany stores n jobs with one call, or returns errors.ErrUnsupported where the contender has no such call.
	EnqueueMany(ctx context.Context, n int) error
	// Run works jobs until ctx is done, then stops in good order: what has run is recorded as done, and what has not is
	// still there. It calls ran once for each job, from any goroutine.
	Run(ctx context.Context, ran func()) error
	// Stage puts n jobs into the store; it is not measured.
	Stage(ctx context.Context, kind Kind, n int) error
	// Unfinished counts the jobs that are due, scheduled or running.
	Unfinished(ctx context.Context) (int, error)
	Close() error
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
	Everything = Enqueueing | Draining | Starting
)

// A Contender is a way to keep a queue.
type Contender struct {
	Engine string // "sqlite", "postgres" or "redis"
	Name   string
	// Variant tells settings apart of which the better one stands for the contender.
	Variant string
	Module  string // whose version the report tells; empty for the engine alone
	Setting string // for the report
	Groups  Group
	Peer    bool // what others made, at its best setting: ratios are taken to the best of these
	Open    func(ctx context.Context, place Place) (Queue, error)
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
	rawName      = "raw"
	rawLargeName = "raw, by 1,000"
	ourName      = "postroom"
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
