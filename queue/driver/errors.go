package driver

import "errors"

// The answers of a driver that callers can act on. Package queue has the same values under the same names.
var (
	// ErrJobNotFound: no job has the id.
	ErrJobNotFound = errors.New("job not found")
	// ErrNotRunning: the job is not running, so nothing about its run can be reported.
	ErrNotRunning = errors.New("job is not running")
	// ErrLeaseLost: the attempt no longer holds the job; it may write nothing about it.
	ErrLeaseLost = errors.New("lease lost: the attempt no longer holds the job")
	// ErrFinished: the job has completed, failed or been canceled.
	ErrFinished = errors.New("job is finished")
	// ErrNotFinished: the job is queued or running.
	ErrNotFinished = errors.New("job is not finished")
	// ErrKeyConflict: the idempotency key is taken by a job with another type or payload.
	ErrKeyConflict = errors.New("idempotency key is taken by a different job")
	// ErrStepFinished: the step has its result, and no more progress to be saved.
	ErrStepFinished = errors.New("step is finished")
	// ErrScheduleNotFound: no schedule has the name.
	ErrScheduleNotFound = errors.New("schedule not found")
	// ErrDeadlock: the transaction was ended so that others which it stood in the way of could go on, or has waited too long
	// for them. Nothing is written; it may be tried again.
	ErrDeadlock = errors.New("transaction given up in favour of another")
	// ErrNestedWrite: a write was begun inside another.
	ErrNestedWrite = errors.New("write inside a write transaction: use the call that takes the transaction")
	// ErrClosed: the program has closed the database. Nothing is written any more.
	ErrClosed = errors.New("database is closed")
	// ErrNoTables: the database does not have the queue's tables, or not all that this version of the package needs.
	ErrNoTables = errors.New("the queue's tables are not here: call queue.Migrate first")
	// ErrForeignTables: a table has the name of one of the queue's and belongs to something else.
	ErrForeignTables = errors.New("the table jobs is not the queue's: give the queue a database, or a schema, of its own")
	// ErrNilContext: the context is nil, on which package database/sql would panic with its locks held.
	ErrNilContext = errors.New("the context is nil: pass the caller's, or context.Background()")
	// ErrNilFunc: the function that is to run in a transaction, or as a step, is nil.
	ErrNilFunc = errors.New("the function is nil")
	// ErrOtherDatabase: the transaction is not one of the database that the queue is in.
	ErrOtherDatabase = errors.New("the transaction is one of another database: begin it on a connection to the queue's")
	// ErrNoTransaction: what was given as a transaction is nil, a pool or a connection, or a transaction that is over.
	ErrNoTransaction = errors.New("there is no transaction: begin one, or use the call without Tx")
	// ErrUnknownStanding: no job can have the state and the hold, or no attempt can end so. Nothing is asked of the database.
	ErrUnknownStanding = errors.New("no job can stand so")
)
