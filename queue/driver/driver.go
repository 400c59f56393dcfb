package driver

import (
	"context"
	"encoding/json"
	"time"
)

// A Driver is a database that stores jobs. Every driver must pass the suite of package queue/driver/drivertest.
type Driver interface { //nolint:interfacebloat // one interface for each role
	Transactor
	Enqueuer
	Claimer
	Finisher
	Limiter
	Stepper
	Signaler
	Scheduler
	Pruner
	Inspector
	Notifier
}

// A Transactor begins transactions, and adopts transactions that a program has begun.
type Transactor interface {
	DB
	// Adopt makes a WriteTx of a transaction that the program has begun and will end, at the instant now. It returns a
	// WriteTx of this database unchanged. It returns [ErrOtherDatabase] for a transaction of another database, and
	// [ErrNoTransaction] for a value that is not a transaction. A driver may query the transaction's connection, once
	// for each transaction. Nobody reports the commit of the program's transaction: dispatchers find its jobs without a
	// report.
	Adopt(ctx context.Context, tx Tx, now time.Time) (*WriteTx, error)
}

// An Enqueuer stores new jobs.
type Enqueuer interface {
	// Insert writes the jobs and returns a result for each, in order. A job whose key is taken is not written: its
	// result names the holder and reports whether type and payload are equal. A key of scope period is free after its
	// time. A key of scope coalesce is free unless its job is queued, and that job must not be claimed before the
	// transaction has ended.
	Insert(ctx context.Context, tx *WriteTx, jobs []InsertJob) ([]InsertResult, error)
}

// A GroupInserter is an optional interface of a [Driver] that writes the jobs of several callers with one statement.
type GroupInserter interface {
	// InsertGroup is Insert and Notify in a transaction of their own, for jobs without Key and LimitKey. It stores all
	// the jobs, or none if it returns an error. Jobs of other callers that share the transaction are not affected. Like
	// for [DB].Write, ctx bounds the wait for the transaction to begin, and a nested call returns [ErrNestedWrite].
	InsertGroup(ctx context.Context, jobs []InsertJob) error
}

// A Claimer claims jobs for workers, and maintains the list of workers.
type Claimer interface {
	// Claim makes up to req.Limit due jobs of the types running, and counts their attempts up. It takes jobs with the
	// highest priority first, then the earliest due, then the lowest id, and returns them in that order. It registers a
	// worker that is not registered. It does not claim expired jobs, or jobs that a limit holds back (see [Limiter]).
	// If very many scheduled jobs become due at once, a driver may process them in batches, the earliest due first. If
	// jobs of very many types or limits are due, it may return fewer than there are, and reports More.
	Claim(ctx context.Context, req ClaimRequest) (ClaimResult, error)

	// Heartbeat records that the worker is alive, and registers a new worker. It returns false, and registers nothing,
	// if the worker was declared dead.
	Heartbeat(ctx context.Context, req HeartbeatRequest) (alive bool, err error)

	// Workers returns the registered workers and their beats, by id. It also returns, with beat −1, workers that hold
	// running jobs without being registered.
	Workers(ctx context.Context) ([]Worker, error)

	// RemoveDeadWorker declares a worker dead if its beat has not changed since it was seen, and returns the jobs that
	// it held, still running. If rows are locked, jobs that another transaction holds are left out; the next call of
	// Workers finds them. Heartbeats of a dead worker are refused until it claims again. The leases that it held are
	// lost in any case.
	RemoveDeadWorker(ctx context.Context, tx *WriteTx, seen Worker) ([]Job, error)

	// RemoveWorker removes a worker that stops in an orderly way. The next call of Workers finds jobs that it still
	// holds.
	RemoveWorker(ctx context.Context, workerID string) error

	// WorkerJobs returns the jobs that run under the worker's name.
	WorkerJobs(ctx context.Context, workerID string) ([]Job, error)

	// MarkBegun sets UpdatedAt of the running jobs of the leases to now, which is after their StartedAt: see
	// [Job.Begun]. It skips jobs that are marked, leases that are not held, and rows that another transaction holds.
	MarkBegun(ctx context.Context, leases []Lease, now time.Time) error

	// CheckLeases returns the error of Finish for each lease, in order, and writes nothing.
	CheckLeases(ctx context.Context, leases []Lease) ([]error, error)
}

// A Finisher ends attempts and jobs.
type Finisher interface {
	// Finish writes the outcomes whose leases are held. It returns an error for each, in order: nil, [ErrLeaseLost],
	// [ErrNotRunning] or [ErrJobNotFound]. A finished job frees a key of scope unfinished or coalesce. A job of scope
	// coalesce that would be queued while another has its key is canceled and superseded by that one. An outcome other
	// than completed and released leaves an attempt record. One of completed or waiting clears the job's LastError. If
	// [CheckOutcomes] refuses an outcome, Finish writes none.
	Finish(ctx context.Context, tx *WriteTx, outcomes []Outcome) ([]error, error)

	// LockLease returns the error of Finish for one lease and writes nothing, but prevents others from writing about
	// the job until the transaction ends.
	LockLease(ctx context.Context, tx *WriteTx, lease Lease) error

	// Cancel cancels a queued or running job and frees its key. Otherwise it returns [ErrFinished] or [ErrJobNotFound].
	// The attempt of a running job leaves a record of [KindCanceled].
	Cancel(ctx context.Context, tx *WriteTx, jobID string) error
	// CancelJobs cancels those of the jobs that are in one of the states, as Cancel does each, and returns their ids in
	// any order. It locks them in the order of their ids.
	CancelJobs(ctx context.Context, tx *WriteTx, req CancelRequest) (canceled []string, err error)

	// Retry makes a failed or canceled job queued and due, with its full budgets. It returns [ErrNotFinished],
	// [ErrFinished] for a completed job, [ErrJobNotFound], or [ErrKeyConflict] if another job has taken its key since.
	Retry(ctx context.Context, tx *WriteTx, jobID string) error

	// Hasten makes a queued job due that is to run later. It writes nothing about any other job.
	Hasten(ctx context.Context, tx *WriteTx, jobID string) error

	// ReadJobs returns the existing jobs among the ids, in any order, as the transaction sees them.
	ReadJobs(ctx context.Context, tx *WriteTx, jobIDs []string) ([]Job, error)

	// SetResult replaces the result of a job that the same transaction has completed.
	SetResult(ctx context.Context, tx *WriteTx, jobID string, result json.RawMessage) error

	// AddLogs stores log lines of handlers. It takes no lease: the same transaction has ended their attempts.
	AddLogs(ctx context.Context, tx *WriteTx, lines []LogLine) error
}

// A Limiter stores limits and pauses, which claims respect. Claims count running and started jobs in the claiming
// transaction, so that no two of them use the same capacity. A job is subject to the limit of its type and to the limit
// of its key, which is the key's own or that of its longest prefix with a limit. Jobs whose key has no capacity must
// not delay others, and must become ready again when there is capacity for any reason.
type Limiter interface {
	// SetLimit replaces the target's limit, and leaves a pause unchanged. nil removes the limit.
	SetLimit(ctx context.Context, tx *WriteTx, target Target, limit *Limit) error
	// SetPaused pauses or resumes the target, and leaves its limit unchanged.
	SetPaused(ctx context.Context, tx *WriteTx, target Target, paused bool) error
	// Limits returns the limited or paused targets, by kind and name.
	Limits(ctx context.Context) ([]LimitStatus, error)
}

// A Stepper stores the results of steps. All its writes require the lease, and return the errors of Finish.
type Stepper interface {
	StartStep(ctx context.Context, tx *WriteTx, lease Lease, name string) error
	// FinishStep stores the result of a step, started or not.
	FinishStep(ctx context.Context, tx *WriteTx, lease Lease, step StepRecord) error
	// SaveCursor stores the progress of a step, started or not. It returns [ErrStepFinished] if the step is finished.
	SaveCursor(ctx context.Context, tx *WriteTx, lease Lease, name string, value json.RawMessage) error
	Steps(ctx context.Context, jobID string) ([]StepRecord, error)
	// ReadSteps is Steps in the view of the transaction.
	ReadSteps(ctx context.Context, tx *WriteTx, jobID string) ([]StepRecord, error)
}

// A Pruner deletes old rows.
type Pruner interface {
	// Finished returns the types that have jobs in the state, which must be that of a finished job: see
	// [CheckFinished]. Its cost depends on the number of types, not of jobs.
	Finished(ctx context.Context, state State) ([]FinishedType, error)
	// Prune deletes jobs with their steps, attempts and logs, in the order in which they finished, and returns their
	// number. Their keys stay.
	Prune(ctx context.Context, tx *WriteTx, req PruneRequest) (int, error)
	// FirstKeyExpiry returns when the first key of scope period becomes free; zero if there is none.
	FirstKeyExpiry(ctx context.Context) (time.Time, error)
	// PruneKeys deletes at most limit keys whose time is over at tx.Now(), and returns their number.
	PruneKeys(ctx context.Context, tx *WriteTx, limit int) (int, error)
	// FirstRate returns the earliest instant of a stored rate; zero if there is none. It may read all of them.
	FirstRate(ctx context.Context) (time.Time, error)
	// PruneRates deletes at most limit rates with an instant before the given time, and returns their number. Such a
	// rate permits the same as no row.
	PruneRates(ctx context.Context, tx *WriteTx, before time.Time, limit int) (int, error)
}

// A Scheduler stores schedules. It computes no instants, and reads neither their Cron nor their Zone.
type Scheduler interface {
	// AddSchedule stores a schedule. If there is one with its name, it returns false and changes nothing.
	AddSchedule(ctx context.Context, tx *WriteTx, s Schedule) (added bool, err error)
	// LockSchedule returns a schedule and prevents others from writing about it until the transaction ends. It returns
	// [ErrScheduleNotFound] if there is none.
	LockSchedule(ctx context.Context, tx *WriteTx, name string) (*Schedule, error)
	// UpdateSchedule replaces all of the schedule with the same name, or returns [ErrScheduleNotFound].
	UpdateSchedule(ctx context.Context, tx *WriteTx, s Schedule) error
	// DeleteSchedule removes a schedule, or returns [ErrScheduleNotFound].
	DeleteSchedule(ctx context.Context, tx *WriteTx, name string) error
	// Schedules returns all schedules by name.
	Schedules(ctx context.Context) ([]Schedule, error)
	// DueSchedules returns the schedules with a NextAt up to now, ordered by NextAt, and the time of the next one; zero
	// if there is none. A schedule without a NextAt is never due.
	DueSchedules(ctx context.Context, now time.Time) (due []Schedule, next time.Time, err error)
}

// An Inspector reads jobs and statistics.
type Inspector interface {
	// Job returns one job, or [ErrJobNotFound].
	Job(ctx context.Context, jobID string) (*Job, error)
	// Jobs returns jobs, newest first.
	Jobs(ctx context.Context, filter Filter) ([]Job, error)
	// JobIDs returns the ids of the jobs that Jobs returns.
	JobIDs(ctx context.Context, filter Filter) ([]string, error)
	// Counts returns the number of jobs in each state. States without jobs are absent.
	Counts(ctx context.Context, filter Filter) (map[State]int, error)
	// Attempts returns a job's attempts in order: those with records, and from the job's own row the one that is
	// running or has completed it.
	Attempts(ctx context.Context, jobID string) ([]AttemptRecord, error)
	// Stats returns the statistics of a queue. It reads a bounded part of an index for each value.
	Stats(ctx context.Context, query StatsQuery) (*Stats, error)
	// Logs returns a job's log lines by attempt and line.
	Logs(ctx context.Context, jobID string) ([]LogLine, error)
}

// A Notifier wakes dispatchers when there may be work: jobs, or changed schedules.
type Notifier interface {
	// Notify wakes listeners when the transaction commits.
	Notify(ctx context.Context, tx *WriteTx) error
	// Listen calls wake once it listens, and then after each notification until ctx is done. It may call wake without
	// need, and may miss notifications: dispatchers poll as well.
	Listen(ctx context.Context, wake func()) error
}

// A LockTimeouter is a [Driver] on whose engine transactions wait for each other's rows. A handler that hangs within a
// transaction has its job's row, and a machine that loses power may leave locked rows.
type LockTimeouter interface {
	// SetLockTimeout is called first in a short transaction of the queue's own. The transaction must then fail soon if
	// another one holds a lock that it needs. It must release its own locks if its process stops.
	SetLockTimeout(ctx context.Context, tx *WriteTx) error
}

// A Fencer is a Driver that can check a lease without a round trip: the check is sent with the transaction's next
// statement, or with its commit. If the lease is not held, that statement fails with the error of [Finisher], and so
// does the transaction. No later write of the transaction takes effect.
type Fencer interface {
	// LockLeaseLater is LockLease with a delayed check.
	LockLeaseLater(ctx context.Context, tx *WriteTx, lease Lease) error
	// CompleteLater is Finish with a delayed check, for one outcome that is completed and Plain.
	CompleteLater(ctx context.Context, tx *WriteTx, out Outcome) error
}

// A FinishClaimer is a [Driver] that can claim jobs in the transaction that ends jobs, so that jobs for which the ends
// make capacity need no transaction of their own. It is for engines on which claims do not wait for each other longer
// than writes do.
type FinishClaimer interface {
	// FinishAndClaim is Finish, and a claim of jobs that wait for the limit keys that the ends free, in the order of
	// claims. It may claim other jobs, like Claim. If it does not look for others, it must claim fewer jobs than
	// requested, so that a Claim finds jobs that come before them. More reports whether a Claim is due at once; NextDue
	// is when to check the keys again. It notifies listeners unless it claims all jobs that the ends have made capacity
	// for. claimed is called only after the transaction has committed; its jobs may arrive with the response to the
	// commit.
	FinishAndClaim(ctx context.Context, tx *WriteTx, outcomes []Outcome, req ClaimRequest) (answers []error,
		claimed func() ClaimResult, err error)
}

// A WriteChecker is a [Driver] that recognizes a caller inside the function of a write, by its context or by its
// goroutine. So a forbidden nested call is refused before it has any effect.
type WriteChecker interface {
	// InWrite reports whether ctx, or the calling goroutine, belongs to a function given to Write of this database.
	InWrite(ctx context.Context) bool
}
