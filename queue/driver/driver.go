package driver

import (
	"context"
	"encoding/json"
	"time"
)

// A Driver is a database that keeps jobs. Package queue/driver/drivertest has the suite that every driver passes.
type Driver interface {
	Transactor
	Enqueuer
	Claimer
	Finisher
	Limiter
	Stepper
	Scheduler
	Pruner
	Inspector
	Notifier
}

// A Transactor begins transactions, and takes part in those that a program has begun.
type Transactor interface {
	DB
	// Join makes a WriteTx of a transaction that the program has begun and will end, at the instant now. It returns a WriteTx
	// of this database as it is. A transaction of another one is refused with [ErrOtherDatabase], what is none with
	// [ErrNoTransaction]; a driver may ask the transaction's connection, once for each transaction. Nobody reports the commit of
	// one that is the program's: jobs that are enqueued in it are found without.
	Join(ctx context.Context, tx Tx, now time.Time) (*WriteTx, error)
}

// An Enqueuer stores new jobs.
type Enqueuer interface {
	// Insert writes the jobs and answers each in order. A job whose key is taken is not written: its answer names the
	// holder and says whether type and payload are the same. A key of scope period is free from its time on; one of scope
	// coalesce is free unless its job is queued, and that job is not claimed before the transaction has ended.
	Insert(ctx context.Context, tx *WriteTx, jobs []InsertJob) ([]InsertResult, error)
}

// A GroupInserter is an optional interface of a [Driver] that writes the jobs of several callers by one statement.
type GroupInserter interface {
	// InsertGroup is Insert and Notify in a transaction of their own, for jobs without Key and LimitKey. It stores all the
	// jobs or, on any error, none; jobs of other callers that share the transaction are not affected. ctx bounds the wait
	// for the transaction to begin, as of [DB].Write, and it returns [ErrNestedWrite] as that does.
	InsertGroup(ctx context.Context, jobs []InsertJob) error
}

// A Claimer hands jobs to workers, and keeps the list of workers.
type Claimer interface {
	// Claim makes up to req.Limit due jobs of the types running, highest priority first, then earliest due, then lowest
	// id, each with its attempt counted up. The answer is in that order. A worker that is not registered becomes so. Expired
	// jobs are not claimed, nor are those that a limit keeps back (see [Limiter]). Where very many scheduled jobs fall due
	// at once, a driver may take them in by portions, the earliest due first; where jobs of very many types or limits are
	// due, it may answer with fewer than there are, and reports More.
	Claim(ctx context.Context, req ClaimRequest) (ClaimResult, error)

	// Heartbeat records that the worker lives, registering it when it is new. It returns false, and registers nothing, when
	// the worker is known to have been declared dead.
	Heartbeat(ctx context.Context, req HeartbeatRequest) (alive bool, err error)

	// Workers lists by id the registered workers and their beats, and with beat −1 those that hold running jobs without
	// being registered.
	Workers(ctx context.Context) ([]Worker, error)

	// RemoveDeadWorker declares a worker dead if its beat has not changed since it was seen, and returns the jobs it held,
	// still running; where rows are locked, without those that another transaction holds, which the next look at Workers
	// finds. A dead worker's heartbeats are refused until it claims again; the leases it held are lost all the same.
	RemoveDeadWorker(ctx context.Context, tx *WriteTx, seen Worker) ([]Job, error)

	// RemoveWorker removes a worker that stops in good order. What it still holds is found by the next look at Workers.
	RemoveWorker(ctx context.Context, workerID string) error

	// WorkerJobs returns the jobs that run under the worker's name.
	WorkerJobs(ctx context.Context, workerID string) ([]Job, error)

	// CheckLeases answers each lease in order as Finish would, and writes nothing.
	CheckLeases(ctx context.Context, leases []Lease) ([]error, error)
}

// A Finisher ends attempts and jobs.
type Finisher interface {
	// Finish writes the outcomes, each only if its lease is held, and answers each in order: nil, [ErrLeaseLost],
	// [ErrNotRunning] or [ErrJobNotFound]. A finished job frees a key of scope unfinished or coalesce. A job of scope
	// coalesce that would be queued while another has its key is canceled, superseded by that one. An outcome other than
	// completed and released leaves an attempt record. Of outcomes that [CheckOutcomes] refuses it writes none.
	Finish(ctx context.Context, tx *WriteTx, outcomes []Outcome) ([]error, error)

	// LockLease answers like Finish for one lease and writes nothing, but keeps others from writing about the job until the
	// transaction ends.
	LockLease(ctx context.Context, tx *WriteTx, lease Lease) error

	// Cancel makes a queued or running job canceled and frees its key; [ErrFinished] or [ErrJobNotFound] otherwise. The
	// attempt of a running one leaves a record of [KindCanceled].
	Cancel(ctx context.Context, tx *WriteTx, jobID string) error

	// Retry makes a failed or canceled job queued and due, its budgets unspent; [ErrNotFinished], [ErrFinished] for a
	// completed one, [ErrJobNotFound], or [ErrKeyConflict] when its key has been taken by another since.
	Retry(ctx context.Context, tx *WriteTx, jobID string) error

	// ReadJobs returns those of the jobs that are there, in any order, as the transaction sees them.
	ReadJobs(ctx context.Context, tx *WriteTx, jobIDs []string) ([]Job, error)

	// AddLogs stores what handlers have logged. It names no lease: the same transaction has ended their attempts.
	AddLogs(ctx context.Context, tx *WriteTx, lines []LogLine) error
}

// A Limiter keeps limits and pauses, which claims honour: they count what runs and what has started in the transaction that
// claims, so that no two of them give the same capacity away. A job's limit is that of its type and that of its key, which is
// the key's own or else that of the longest prefix of it. Jobs whose key has no capacity are not in the way of others, and
// become ready again when there is some, by whatever means.
type Limiter interface {
	// SetLimit stores the target's limit in place of an earlier one, and leaves a pause as it is; nil removes it.
	SetLimit(ctx context.Context, tx *WriteTx, target Target, limit *Limit) error
	// SetPaused pauses or resumes the target, and leaves its limit as it is.
	SetPaused(ctx context.Context, tx *WriteTx, target Target, paused bool) error
	// Limits lists what is limited or paused, by kind and name.
	Limits(ctx context.Context) ([]LimitStatus, error)
}

// A Stepper keeps the results of steps. All its writes need the lease, and fail as Finish answers.
type Stepper interface {
	StartStep(ctx context.Context, tx *WriteTx, lease Lease, name string) error
	// FinishStep stores the result of a step, started or not.
	FinishStep(ctx context.Context, tx *WriteTx, lease Lease, step StepRecord) error
	// SaveCursor stores how far a step has come, started or not; [ErrStepFinished] when it is finished.
	SaveCursor(ctx context.Context, tx *WriteTx, lease Lease, name string, value json.RawMessage) error
	Steps(ctx context.Context, jobID string) ([]StepRecord, error)
	// ReadSteps is Steps as the transaction sees them.
	ReadSteps(ctx context.Context, tx *WriteTx, jobID string) ([]StepRecord, error)
}

// A Pruner deletes what need not be kept any more.
type Pruner interface {
	// Finished lists the types that have jobs in the state, which must be one of a finished job: see [CheckFinished]. Its cost
	// is that of the types, not of the jobs.
	Finished(ctx context.Context, state State) ([]FinishedType, error)
	// Prune deletes jobs with their steps, attempts and logs, those first that finished first, and returns how many. Their
	// keys stay.
	Prune(ctx context.Context, tx *WriteTx, req PruneRequest) (int, error)
	// FirstKeyExpiry is when the first key of scope period is free again; zero when there is none.
	FirstKeyExpiry(ctx context.Context) (time.Time, error)
	// PruneKeys deletes at most limit keys whose time is over at tx.Now(), and returns how many.
	PruneKeys(ctx context.Context, tx *WriteTx, limit int) (int, error)
	// FirstRate is the earliest instant at which a rate has stood; zero when no rate is kept. It may look at all of them.
	FirstRate(ctx context.Context) (time.Time, error)
	// PruneRates deletes at most limit rates that stood before the given time, and returns how many. One that is past
	// allows what no row allows.
	PruneRates(ctx context.Context, tx *WriteTx, before time.Time, limit int) (int, error)
}

// A Scheduler keeps schedules. It computes no instants, and reads neither their Cron nor their Zone.
type Scheduler interface {
	// AddSchedule stores a schedule, unless there is one of its name: then it returns false and changes nothing.
	AddSchedule(ctx context.Context, tx *WriteTx, s Schedule) (added bool, err error)
	// LockSchedule returns a schedule and keeps others from writing about it until the transaction ends, or
	// [ErrScheduleNotFound].
	LockSchedule(ctx context.Context, tx *WriteTx, name string) (*Schedule, error)
	// UpdateSchedule stores all of a schedule in place of what there is under its name, or returns [ErrScheduleNotFound].
	UpdateSchedule(ctx context.Context, tx *WriteTx, s Schedule) error
	// DeleteSchedule removes a schedule, or returns [ErrScheduleNotFound].
	DeleteSchedule(ctx context.Context, tx *WriteTx, name string) error
	// Schedules lists all schedules by name.
	Schedules(ctx context.Context) ([]Schedule, error)
	// DueSchedules lists, by NextAt, those whose NextAt has come by now, and returns when the next one comes; zero when there
	// is none. A schedule without a NextAt is never due.
	DueSchedules(ctx context.Context, now time.Time) (due []Schedule, next time.Time, err error)
}

// An Inspector reads.
type Inspector interface {
	// Job returns one job, or [ErrJobNotFound].
	Job(ctx context.Context, jobID string) (*Job, error)
	// Jobs lists jobs, newest first.
	Jobs(ctx context.Context, filter Filter) ([]Job, error)
	// JobIDs lists the ids of jobs as Jobs does.
	JobIDs(ctx context.Context, filter Filter) ([]string, error)
	// Counts counts the jobs by state; states without jobs are absent.
	Counts(ctx context.Context, filter Filter) (map[State]int, error)
	// Attempts lists a job's attempts in order: those that left records, and from the job's own row the one that runs or
	// has completed it.
	Attempts(ctx context.Context, jobID string) ([]AttemptRecord, error)
	// Stats reads the figures of a queue, and a bounded part of the index for each of them.
	Stats(ctx context.Context, query StatsQuery) (*Stats, error)
	// Logs lists a job's lines by attempt and line.
	Logs(ctx context.Context, jobID string) ([]LogLine, error)
}

// A Notifier wakes dispatchers when there may be work: jobs, or schedules that were changed.
type Notifier interface {
	// Notify wakes listeners when the transaction commits.
	Notify(ctx context.Context, tx *WriteTx) error
	// Listen calls wake once it listens, and then after each notification until ctx is done. It may call it for nothing,
	// and may miss some: polling is the net.
	Listen(ctx context.Context, wake func()) error
}

// A LockTimeouter is a [Driver] on whose engine transactions wait for each other's rows. A handler that hangs within a
// transaction has its job's row, and a machine that loses its power may leave others behind.
type LockTimeouter interface {
	// SetLockTimeout is called first in a transaction of the queue's own, in which nobody waits for anything: it fails soon
	// where another one holds what it wants, and lets go of what it holds when its process does not go on with it.
	SetLockTimeout(ctx context.Context, tx *WriteTx) error
}

// A Fencer is a Driver that can check a lease without waiting for the answer: the check is sent with the transaction's next
// statement, or with its commit. Where the lease is not held, that fails with the error of [Finisher], and so does the
// transaction. Nothing that was to be written after the call is written.
type Fencer interface {
	// LockLeaseLater is LockLease.
	LockLeaseLater(ctx context.Context, tx *WriteTx, lease Lease) error
	// CompleteLater is Finish for one outcome, which is completed and Plain.
	CompleteLater(ctx context.Context, tx *WriteTx, out Outcome) error
}

// A FinishClaimer is a [Driver] that claims in the transaction in which jobs end, so that what their ends make capacity for
// starts without a transaction of its own. It is for engines on which claims do not wait for each other longer than writes do.
type FinishClaimer interface {
	// FinishAndClaim is Finish, and a claim of what waits for the limit keys that the ends free, in the order of claims. It may
	// claim others, as Claim does. Where it does not look for others, it claims fewer jobs than are asked for, so that a Claim
	// finds those that come before them. More reports whether a Claim is due at once, NextDue when the keys are to be looked at
	// again. It notifies listeners unless all that the ends have made capacity for is claimed. Nothing is claimed before the
	// transaction has committed, and claimed is called only then: what it returns may come with the answer to the commit.
	FinishAndClaim(ctx context.Context, tx *WriteTx, outcomes []Outcome, req ClaimRequest) (answers []error, claimed func() ClaimResult, err error)
}

// A WriteChecker is a [Driver] that recognises a caller which is inside the function of a write already, by its context or
// by its goroutine, so that what must not be begun there is refused before it has done anything.
type WriteChecker interface {
	// InWrite reports whether ctx, or the goroutine that calls, is that of a function given to Write of this database.
	InWrite(ctx context.Context) bool
}
