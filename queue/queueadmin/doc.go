// Package queueadmin has the tools for operating a queue: [Move] takes a live queue to another database, [Doctor]
// reports the health of the database and of the queue, [Verify] checks the invariants of the tables, [CheckProgram]
// compares the stored jobs with the handlers of a new version of a program, [Explain] returns the reasons why a job
// does not run, [ReadStats] returns statistics of the queue, and [DeleteUser] removes all that it keeps about a user.
//
// [RunNow], [Reschedule], [SetPriority], [Retry], [Cancel] and [Delete] change the jobs that a [Selection] selects: by
// type, state, key, tag, user, time, and the text or the group of their last error ([ErrorGroups]). They work in
// transactions of 1,000 jobs (Retry of 100), each of which is done whole or not at all, and report their progress after
// each. An error comes with the counts of the transactions before it; call again for the rest. [Count] counts a
// selection. [Import] copies the jobs of a table of another queue.
//
// All other functions except Move and DeleteUser only read. All may be called while dispatchers run.
//
// They need optional interfaces of the driver (driver.Auditor, driver.Remover, driver.Rescheduler, driver.ErrorReader,
// driver.MoveSource, driver.MoveTarget), which queue/sqlite and queue/postgres implement. A driver that wraps one of
// those must have an Unwrap method (driver.Unwrapper).
package queueadmin

import (
	"context"
	"errors"
	"fmt"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

var (
	errNoQueue      = errors.New("the Queue is nil: make one with queue.New")
	errNoDispatcher = errors.New("the Dispatcher is nil: make one with queue.NewDispatcher")
)

// auditorOf returns the driver as an Auditor, for [Verify], [Explain] and [CheckProgram].
func auditorOf(q *queue.Queue) (driver.Auditor, error) {
	if q == nil {
		return nil, errNoQueue
	}
	a, ok := driver.As[driver.Auditor](q.DB().Driver())
	if !ok {
		return nil, fmt.Errorf("a %T does not implement driver.Auditor", q.DB().Driver())
	}
	return a, nil
}

// failed is wrap for an error of the database. It adds a hint if the queue's tables are missing.
func failed(ctx context.Context, q *queue.Queue, op string, err error) error {
	if told := (*queue.Error)(nil); err == nil || errors.As(err, &told) && told.Hint != "" {
		return wrap(op, "", err)
	}
	hint := ""
	if c, ok := driver.As[driver.TableChecker](q.DB().Driver()); ok &&
		errors.Is(c.CheckTables(ctx), driver.ErrNoTables) {
		hint = driver.ErrNoTables.Error()
	}
	return &queue.Error{Op: op, Err: err, Hint: hint}
}

func wrap(op, jobID string, err error) error {
	if err == nil {
		return nil
	}
	return &queue.Error{Op: op, JobID: jobID, Err: err}
}

// write is a transaction that is tried again if PostgreSQL gives it up in favour of another.
func write(ctx context.Context, d driver.Driver, fn func(ctx context.Context, tx *driver.WriteTx) error) error {
	for tries := 1; ; tries++ {
		err := driver.Write(ctx, d, fn)
		if !errors.Is(err, driver.ErrDeadlock) || tries == maxDeadlocks {
			return err
		}
	}
}
