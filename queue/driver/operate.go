package driver

import (
	"context"
	"time"
)

// The interfaces of this file are optional. Package queue/queueadmin and the helpers of tests require them.

// A Promoter is a [Driver] that can make jobs due before their time.
type Promoter interface {
	// PromoteScheduled makes due, at tx.Now(), the queued jobs that wait for their time or for their next attempt, and
	// returns their number.
	PromoteScheduled(ctx context.Context, tx *WriteTx) (int, error)
}

// A TableChecker is a [Driver] that can check whether the database has the queue's tables.
type TableChecker interface {
	// CheckTables returns nil if the queue's tables are there, [ErrNoTables] if some are missing or out of date, and
	// [ErrForeignTables] if tables with their names belong to something else.
	CheckTables(ctx context.Context) error
}

// A TableLister is a [Driver] that can list the tables of its database, for tests that compare all of it.
type TableLister interface {
	// Tables returns the names of the columns of all tables except the engine's own, in order, by table name.
	Tables(ctx context.Context) (map[string][]string, error)
}

// An Auditor is a [Driver] that can check its rows, and find the reasons why a job does not run. It only reads.
type Auditor interface {
	// Violations returns the rows that break an invariant of the driver's tables, at most 100 for each invariant.
	Violations(ctx context.Context) ([]Violation, error)
	// TypesAt returns the jobs of a standing by type.
	TypesAt(ctx context.Context, at Standing) ([]TypeSummary, error)
	// JobsAt returns the ids of at most limit jobs of a standing and a type, in any order.
	JobsAt(ctx context.Context, at Standing, jobType string, limit int) ([]string, error)
	// StandingOf returns the standing of a job, or [ErrJobNotFound].
	StandingOf(ctx context.Context, jobID string) (Standing, error)
	// LimitsOn returns the limits and pauses that apply to a job: those of its type and of all types, and then those of
	// its limit key and of the prefixes of it; the first of the latter is in force.
	LimitsOn(ctx context.Context, job *Job, now time.Time) ([]LimitUse, error)
	// KeyUses returns the limit keys of running jobs, and of jobs that wait for a limit, with their numbers. It counts at
	// most limit of the latter.
	KeyUses(ctx context.Context, limit int) ([]KeyUse, error)
	// LongestRunning returns at most limit running jobs without their payloads, first those that have started first.
	LongestRunning(ctx context.Context, limit int) ([]RunningJob, error)
	// CountAhead counts, up to limit, the jobs of the same type that a claim takes before the given one.
	CountAhead(ctx context.Context, job *Job, limit int) (int, error)
}

// A Violation is a row that breaks an invariant.
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

// A LimitUse is a limit and its use.
type LimitUse struct {
	LimitStatus
	Running int
	// Again is when the rate permits the next start; zero if it permits one now, or if there is no rate.
	Again time.Time
}

// A KeyUse is a limit key and the number of its jobs that run, and that wait for a limit or the end of a pause.
type KeyUse struct {
	Key     string
	Running int
	Waiting int
}

// A RunningJob is a running job without its payload.
type RunningJob struct {
	ID        string
	Type      string
	Attempt   int
	WorkerID  string
	StartedAt time.Time
}

// A Remover is a [Driver] that can delete single jobs, whatever their retention.
type Remover interface {
	// RemoveFinished deletes those of the jobs that have finished and are not held with [HoldMoving], with their steps,
	// attempts and logs. It returns the ids of the deleted jobs in any order.
	RemoveFinished(ctx context.Context, tx *WriteTx, req RemoveRequest) (removed []string, err error)
}

// A RemoveRequest names finished jobs to delete.
type RemoveRequest struct {
	JobIDs []string
	// States are the states of finished jobs in which a job is deleted; see [CheckFinished].
	States []State
	// Keys says that the keys of the jobs are deleted as well, of every scope, as if the jobs had never been. Without it
	// the jobs of flows that have not ended are left, whose handlers may read their results.
	Keys bool
}

// A MoveSource is a [Driver] whose jobs can be moved to another database.
//
// A move holds jobs, writes them into the target, where they are held too, removes them here and then releases them
// there. If a process dies in between, each job that can be claimed is in one database only, and the next move
// continues.
type MoveSource interface {
	// HoldJobs keeps up to limit jobs that do not run from being claimed, with [HoldMoving]. It returns the ids of at
	// most limit held jobs, by id.
	HoldJobs(ctx context.Context, tx *WriteTx, limit int) (jobIDs []string, err error)
	// JobRows returns the rows of a table that belong to the jobs.
	JobRows(ctx context.Context, table Table, jobIDs []string) (Rows, error)
	// TableRows returns up to limit rows of a table in the order of its primary key, from the beginning or after a row
	// of an earlier result. Of [TableKeys] it returns the keys that outlive their jobs.
	TableRows(ctx context.Context, table Table, after *Rows, limit int) (Rows, error)
	// RemoveHeld deletes the given jobs that are still held, with all their rows and the keys of the scopes unfinished
	// and coalesce, and records that they have moved. It returns the given jobs that are recorded as moved.
	RemoveHeld(ctx context.Context, tx *WriteTx, jobIDs []string) (moved []string, err error)
	// MovedJobs returns the ids of at most limit jobs that RemoveHeld has recorded, by id.
	MovedJobs(ctx context.Context, limit int) ([]string, error)
	// ForgetMoved deletes the records of RemoveHeld about the jobs, which the target has released.
	ForgetMoved(ctx context.Context, tx *WriteTx, jobIDs []string) error
}

// A MoveTarget is a [Driver] that can receive the jobs of another database; see [MoveSource].
type MoveTarget interface {
	// InsertRows inserts the rows that do not exist yet, and returns their number.
	InsertRows(ctx context.Context, tx *WriteTx, table Table, rows Rows) (int, error)
	// SettleKeys deletes the keys of jobs that have ended and no longer keep them. If the key of a job belongs to
	// another job, the job loses the key; SettleKeys returns those keys.
	SettleKeys(ctx context.Context, tx *WriteTx, jobIDs []string) (taken []string, err error)
	// HeldJobs returns the ids of at most limit jobs that are held with [HoldMoving], by id.
	HeldJobs(ctx context.Context, limit int) ([]string, error)
	// ReleaseHeld makes the held jobs claimable, subject to their own time and limits.
	ReleaseHeld(ctx context.Context, tx *WriteTx, jobIDs []string) error
	// DropHeld deletes the given jobs that are held, with all their rows and their keys.
	DropHeld(ctx context.Context, tx *WriteTx, jobIDs []string) error
}

// A FlowMover is a [FlowStore] whose flows can be moved to another database that is one. A flow that is being moved is
// frozen in both: the ends of its jobs are counted where they happen, and no node opens or ends.
type FlowMover interface {
	// FlowsToFreeze returns the ids of at most limit flows with nodes that are not frozen.
	FlowsToFreeze(ctx context.Context, limit int) ([]string, error)
	// FreezeFlows freezes the nodes of the flows. Jobs of other nodes are not held with [MoveSource].HoldJobs.
	FreezeFlows(ctx context.Context, tx *WriteTx, flowIDs []string) error
	// FrozenFlows returns the ids of at most limit flows all of whose nodes are frozen and have no jobs here.
	FrozenFlows(ctx context.Context, limit int) ([]string, error)
	// MergeFlow adds to the nodes of a flow what was counted of them in the old database, gives them the tasks that they
	// have there, and goes on with the flow. Nodes that are not frozen are left alone.
	MergeFlow(ctx context.Context, tx *WriteTx, flowID string, nodes []Node, tasks []NodeTask) error
	// Tasks returns the tasks of the nodes of a flow, in order.
	Tasks(ctx context.Context, flowID string) ([]NodeTask, error)
	// RemoveFlows deletes the flows with their nodes, edges and tasks.
	RemoveFlows(ctx context.Context, tx *WriteTx, flowIDs []string) error
}

// A NodeTask is something to do about the jobs of a node; see [FlowWriter].DoTasks.
type NodeTask struct{ Node, Task, Reason string }

// A Table is a table whose rows move.
type Table string

// The tables. Rows of jobs, steps, signals, attempts, logs, keys and turns belong to jobs.
const (
	TableJobs     Table = "jobs"
	TableSteps    Table = "job_steps"
	TableSignals  Table = "job_signals"
	TableAttempts Table = "job_attempts"
	TableLogs     Table = "job_logs"
	TableKeys     Table = "job_keys"
	TableLimits   Table = "job_limits"
	TableRates    Table = "job_rates"
	TableFlows    Table = "job_flows"
	TableNodes    Table = "job_nodes" // of flows
	TableEdges    Table = "job_edges" // from nodes
	TableTurns    Table = "job_turns" // of the jobs of sequences
)

// Rows are rows of a table in a form that is the same for every engine: texts and JSON are strings, numbers int64,
// instants [time.Time], and NULL is nil.
type Rows struct {
	Columns []string
	Values  [][]any // as many in each as there are columns
}
