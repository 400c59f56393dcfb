// Package queueadmin has the tools for operating a queue: [Move] takes a live queue to another database, [Doctor] reports the
// health of the database and of the queue, [Verify] checks the invariants of the tables, [CheckProgram] compares what is stored
// with the handlers of a new version of a program, [Explain] says why a job does not run, and [ReadStats] returns the figures
// of the queue.
//
// All but Move only read. They may be used while dispatchers run.
//
// They ask the driver for optional interfaces (driver.Auditor, driver.MoveSource, driver.MoveTarget), which queue/sqlite and
// queue/postgres implement. A driver that wraps one of those must embed them, too: to embed a driver.Driver leaves them out.
package queueadmin

import (
	"errors"
	"fmt"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

// driverOf returns the driver that queue.New was given.
func driverOf(q *queue.Queue) driver.Driver {
	d, ok := q.DB().(driver.Driver)
	if !ok {
		panic(fmt.Sprintf("queueadmin: the queue's DB is a %T", q.DB())) // queue.New takes nothing else
	}
	return d
}

var (
	errNoQueue      = errors.New("the Queue is nil: make one with queue.New")
	errNoDispatcher = errors.New("the Dispatcher is nil: make one with queue.NewDispatcher")
)

// auditorOf returns the driver as what [Verify], [Explain] and [CheckProgram] need.
func auditorOf(q *queue.Queue) (driver.Auditor, error) {
	if q == nil {
		return nil, errNoQueue
	}
	a, ok := q.DB().(driver.Auditor)
	if !ok {
		return nil, fmt.Errorf("a %T does not implement driver.Auditor", q.DB())
	}
	return a, nil
}

func wrap(op, jobID string, err error) error {
	if err == nil {
		return nil
	}
	return &queue.Error{Op: op, JobID: jobID, Err: err}
}
