package driver

import "errors"

// The errors of a driver that callers can act on. Package queue has the same values under the same names.
var (
	// ErrJobNotFound reports that no job has the id.
	ErrJobNotFound = errors.New("job not found")
	// ErrNotRunning reports that the job is not running, so nothing about its run can be written.
	ErrNotRunning = errors.New("job is not running")
	// ErrLeaseLost reports that the attempt no longer holds the job, and must not write about it.
	ErrLeaseLost = errors.New("lease lost: the attempt no longer holds the job")
	// ErrFinished reports that the job has completed, failed or was canceled.
	ErrFinished = errors.New("job is finished")
	// ErrNotFinished reports that the job is queued or running.
	ErrNotFinished = errors.New("job is not finished")
	// ErrKeyConflict reports that a job with another type or payload has the idempotency key.
	ErrKeyConflict = errors.New("idempotency key is taken by a different job")
	// ErrStepFinished reports that the step has its result, so no progress can be saved.
	ErrStepFinished = errors.New("step is finished")
	// ErrScheduleNotFound reports that no schedule has the name.
	ErrScheduleNotFound = errors.New("schedule not found")
	// ErrFlowNotFound reports that no flow has the id.
	ErrFlowNotFound = errors.New("flow not found")
	// ErrDeadlock reports that the transaction was ended because of a deadlock, or waited too long for others. Nothing
	// is written; it may be retried.
	ErrDeadlock = errors.New("transaction given up in favour of another")
	// ErrNestedWrite reports that a write was begun inside another.
	ErrNestedWrite = errors.New("write inside a write transaction: use the call that takes the transaction")
	// ErrClosed reports that the program has closed the database. Nothing is written any more.
	ErrClosed = errors.New("database is closed")
	// ErrNoTables reports that the database lacks some of the queue's tables, or that they are out of date.
	ErrNoTables = errors.New("the queue's tables are not here: call queue.Migrate first")
	// ErrForeignTables reports that a table with the name of one of the queue's belongs to something else.
	ErrForeignTables = errors.New("the table jobs is not the queue's: " +
		"give the queue a database, or a schema, of its own (postgres.Config.Schema), " +
		"or its tables a prefix (sqlite.Config.TablePrefix)")
	// ErrNilContext reports a nil context, on which package database/sql would panic with its locks held.
	ErrNilContext = errors.New("the context is nil: pass the caller's, or context.Background()")
	// ErrNilFunc reports a nil function for a transaction or a step.
	ErrNilFunc = errors.New("the function is nil")
	// ErrOtherDatabase reports that the transaction is not one of the queue's database.
	ErrOtherDatabase = errors.New("the transaction is one of another database: begin it on a connection to the queue's")
	// ErrNoTransaction reports that a given transaction is nil, a pool or a connection, or is over.
	ErrNoTransaction = errors.New("there is no transaction: begin one, or use the call without Tx")
	// ErrUnknownStanding reports that no job can have the state and the hold, or that no attempt can end in such a way.
	// The database is not queried.
	ErrUnknownStanding = errors.New("no job can stand so")
)

// Forbidden reports whether err is that of a PostgreSQL server whose role lacks a privilege.
func Forbidden(err error) bool {
	const insufficientPrivilege = "42501"
	var stated interface{ SQLState() string }
	return errors.As(err, &stated) && stated.SQLState() == insufficientPrivilege
}
