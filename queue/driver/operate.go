package driver

import (
	"context"
	"time"
)

// The interfaces of this file are optional. They are what package queue/queueadmin and the helpers of tests ask of a
// database, and what they cannot do without.

// A Promoter is a [Driver] that can make jobs due before their time.
type Promoter interface {
	// PromoteScheduled makes due, at tx.Now(), the queued jobs that wait for their time or for their next attempt, and returns
	// how many those are.
	PromoteScheduled(ctx context.Context, tx *WriteTx) (int, error)
}

// A TableChecker is a [Driver] that can look whether the database has the queue's tables.
type TableChecker interface {
	// CheckTables returns nil when the queue's tables are there, [ErrNoTables] when they are not, or not up to date, and
	// [ErrForeignTables] when tables of their names belong to something else.
	CheckTables(ctx context.Context) error
}

// A TableLister is a [Driver] that can list what its database has, for tests that compare all of it.
type TableLister interface {
	// Tables returns the names of the columns, in their order, of all tables but the engine's own, by the names of the tables.
	Tables(ctx context.Context) (map[string][]string, error)
}

// An Auditor is a [Driver] that can check its rows, and say what stands in the way of a job. It only reads.
type Auditor interface {
	// Violations returns the rows that break what the driver promises of its tables, at most 100 for each rule.
	Violations(ctx context.Context) ([]Violation, error)
	// TypesAt lists, by type, the jobs of a standing.
	TypesAt(ctx context.Context, at Standing) ([]TypeSummary, error)
	// JobsAt returns the ids of at most limit jobs of a standing and a type, in any order.
	JobsAt(ctx context.Context, at Standing, jobType string, limit int) ([]string, error)
	// StandingOf returns where a job stands, or [ErrJobNotFound].
	StandingOf(ctx context.Context, jobID string) (Standing, error)
	// LimitsOn lists the limits and pauses that bear on a job: those of its type and of all types, and then those of its
	// limit key and of the prefixes of it, of which the first is the one in force.
	LimitsOn(ctx context.Context, job *Job, now time.Time) ([]LimitUse, error)
	// CountAhead counts, up to limit, the jobs of the same type that a claim takes before the given one.
	CountAhead(ctx context.Context, job *Job, limit int) (int, error)
}

// A Violation is a row that breaks a rule which always holds.
type Violation struct {
	Rule    string
	Subject string // the job, key or step
}

// A TypeSummary sums up the jobs of a type.
type TypeSummary struct {
	Type  string
	Jobs  int
	First string    // the lowest id
	Due   time.Time // the earliest NotBefore
}

// A LimitUse is a limit and how much of it is used.
type LimitUse struct {
	LimitStatus
	Running int
	// Again is when the rate allows the next start; zero when it does now, or when there is no rate.
	Again time.Time
}

// A MoveSource is a [Driver] whose jobs can be moved to another database.
//
// A move holds jobs, writes them into the target, where they are held too, removes them here and then releases them there.
// Whatever dies in between, a job that a claim can take is in one database alone, and the next move finds what is left.
type MoveSource interface {
	// HoldJobs keeps up to limit jobs that do not run from being claimed, with [HoldMoving], and returns the ids of jobs that
	// are held so, at most limit of them, by id.
	HoldJobs(ctx context.Context, tx *WriteTx, limit int) (jobIDs []string, err error)
	// JobRows returns the rows of a table that belong to the jobs.
	JobRows(ctx context.Context, table Table, jobIDs []string) (Rows, error)
	// TableRows returns up to limit rows of a table in the order of its primary key: from the beginning, or those that come
	// after a row of an earlier answer. Of [TableKeys] it returns the keys that outlive their jobs.
	TableRows(ctx context.Context, table Table, after *Rows, limit int) (Rows, error)
	// RemoveHeld deletes those of the jobs that are still held, with all that belongs to them and the keys of the scopes
	// unfinished and coalesce, and notes that they have moved. It returns those of the given jobs of which that is noted.
	RemoveHeld(ctx context.Context, tx *WriteTx, jobIDs []string) (moved []string, err error)
	// MovedJobs returns the ids of at most limit jobs that RemoveHeld has noted, by id.
	MovedJobs(ctx context.Context, limit int) ([]string, error)
	// ForgetMoved deletes the notes of RemoveHeld about the jobs, which the target has released.
	ForgetMoved(ctx context.Context, tx *WriteTx, jobIDs []string) error
}

// A MoveTarget is a [Driver] into which the jobs of another database can be moved; see [MoveSource].
type MoveTarget interface {
	// InsertRows inserts those of the rows that are not there yet, and returns how many.
	InsertRows(ctx context.Context, tx *WriteTx, table Table, rows Rows) (int, error)
	// SettleKeys deletes the keys of the jobs that they no longer keep, because the jobs have ended. Jobs whose keys belong to
	// other jobs go on without: it returns those keys.
	SettleKeys(ctx context.Context, tx *WriteTx, jobIDs []string) (taken []string, err error)
	// HeldJobs returns the ids of at most limit jobs that are held with [HoldMoving], by id.
	HeldJobs(ctx context.Context, limit int) ([]string, error)
	// ReleaseHeld lets claims take the jobs that are held, as their own time and limits allow.
	ReleaseHeld(ctx context.Context, tx *WriteTx, jobIDs []string) error
	// DropHeld deletes those of the jobs that are held, with all that belongs to them and their keys.
	DropHeld(ctx context.Context, tx *WriteTx, jobIDs []string) error
}

// A Table is one of those whose rows move.
type Table string

// The tables. Rows of jobs, steps, attempts, logs and keys belong to jobs.
const (
	TableJobs     Table = "jobs"
	TableSteps    Table = "job_steps"
	TableAttempts Table = "job_attempts"
	TableLogs     Table = "job_logs"
	TableKeys     Table = "job_keys"
	TableLimits   Table = "job_limits"
	TableRates    Table = "job_rates"
)

// Rows are rows of a table, the same for every engine: texts and JSON are strings, numbers int64, instants [time.Time], and
// NULL is nil.
type Rows struct {
	Columns []string
	Values  [][]any // as many in each as there are columns
}
