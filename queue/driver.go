package queue

import (
	"context"
	"encoding/json"
	"time"
)

// A Driver is one engine: a database that also speaks the queue's SQL. It stores and moves rows and knows nothing of
// policy: retries, budgets and defaults are decided above it. Users open one and pass it to [New]; only this package
// calls its methods. Package queue/queuetest has the suite that every driver passes.
//
// An implementation must not read a clock (now comes with the request or the Tx), must not retry what may have been
// written, and must not call back into the queue.
type Driver interface {
	DB
	Enqueuer
	Claimer
	Finisher
	Limiter
	Stepper
	Scheduler
	Pruner
	Inspector
	Waker
}

// An Enqueuer takes jobs in.
type Enqueuer interface {
	// Insert writes the jobs and answers each in order. A job whose key is taken is not written: its answer names the
	// holder and tells whether type and payload are the same. A key of scope period is free from its time on; one of scope
	// coalesce is free unless its job is queued, and that job is not claimed before the transaction has ended.
	Insert(ctx context.Context, tx *Tx, jobs []InsertJob) ([]InsertResult, error)
}

// An InsertJob is a validated job, ready to be stored.
type InsertJob struct {
	ID          string
	Type        string
	Payload     json.RawMessage
	Priority    int
	NotBefore   time.Time // zero: due at tx.Now()
	MaxAttempts int
	Key         Key
	Fingerprint string // of type and payload; empty without a key
	LimitKey    string // empty: none
	UserID      string // empty: none
	Tags        []string
	ExpiresAt   time.Time // zero: never
	TraceParent string
}

// An InsertResult answers an InsertJob.
type InsertResult struct {
	ID        string
	Duplicate bool
	Conflict  bool // a duplicate with another fingerprint
	// Holder is who has the key, of a conflict alone.
	Holder *KeyHolder
}

// A KeyHolder is the job that has a key. Type is empty when its row is not there, or not yet.
type KeyHolder struct {
	Fingerprint string
	Type        string
	Payload     json.RawMessage
}

// A Claimer hands jobs to workers and takes them back from dead ones.
type Claimer interface {
	// Claim makes up to req.Limit due jobs of the types running, highest priority first, then earliest due, then lowest
	// id, each with its attempt counted up. The answer is in that order. A worker that is not registered becomes so. Expired
	// jobs are not claimed, nor are those that a limit keeps back (see [Limiter]). Where very many scheduled jobs fall due
	// at once, a driver may take them in by portions, the earliest due first; where jobs of very many types or limits are
	// due, it may answer with fewer than there are, and says so.
	Claim(ctx context.Context, req ClaimRequest) (ClaimResult, error)

	// Beat records that the worker lives, registering it when it is new. It returns false, and registers nothing, when
	// the worker is known to have been declared dead.
	Beat(ctx context.Context, req BeatRequest) (alive bool, err error)

	// Workers lists by id the registered workers and their beats, and with beat −1 those that hold running jobs without
	// being registered.
	Workers(ctx context.Context) ([]Worker, error)

	// Bury declares a worker dead if its beat has not changed since it was seen, and returns the jobs it held, still
	// running; where rows are locked, without those that another transaction holds, which the next look at Workers finds. A
	// buried worker's beats are refused until it claims again; the leases it held are lost all the same.
	Bury(ctx context.Context, tx *Tx, seen Worker) ([]Job, error)

	// Retire removes a worker that stops in good order. What it still holds is then found by the next look at Workers.
	Retire(ctx context.Context, workerID string) error

	// Held returns the jobs that run under the worker's name.
	Held(ctx context.Context, workerID string) ([]Job, error)

	// Verify answers each lease in order as Finish would, and writes nothing.
	Verify(ctx context.Context, leases []Lease) ([]error, error)
}

// A ClaimRequest asks for jobs.
type ClaimRequest struct {
	WorkerID string
	Types    []TypeRoom // at least one
	Limit    int        // at least 1; over all types
	Now      time.Time
}

// TypeRoom is how many jobs of one type a claim may take, at most.
type TypeRoom struct {
	Type string
	Room int // at least 1
}

// A ClaimResult is what a claim got.
type ClaimResult struct {
	Jobs []Job
	// More: there may be more jobs to claim at once.
	More bool
	// NextDue is when the next scheduled job of the types becomes due, or a rate lets the next start; zero when there is
	// none, or when there are More.
	NextDue time.Time
}

// A BeatRequest is a worker's sign of life.
type BeatRequest struct {
	WorkerID string
	First    bool // registers the worker
	// Types are those that the worker has handlers for; nil leaves what is known of them.
	Types []string
	Now   time.Time
}

// A Worker is a process that runs jobs. Beat counts its signs of life; others judge by its changing, on their own clocks.
type Worker struct {
	ID     string
	Beat   int64
	BeatAt time.Time // by the worker's clock: for people
	Types  []string  // that it has handlers for; nil when that is not known
}

// A Finisher ends attempts and jobs.
type Finisher interface {
	// Finish writes the outcomes, each only if its lease is held, and answers each in order: nil, [ErrLeaseLost],
	// [ErrNotRunning] or [ErrJobNotFound]. A finished job frees a key of scope unfinished or coalesce. A job of scope
	// coalesce that would be queued while another has its key is canceled, superseded by that one. An outcome other than
	// completed and released leaves an attempt record.
	Finish(ctx context.Context, tx *Tx, outcomes []Outcome) ([]error, error)

	// Check answers like Finish for one lease and writes nothing, but keeps others from writing about the job until the
	// transaction ends.
	Check(ctx context.Context, tx *Tx, lease Lease) error

	// Cancel makes a queued or running job canceled and frees its key; [ErrFinished] or [ErrJobNotFound] otherwise. The
	// attempt of a running one leaves a record of [KindCanceled].
	Cancel(ctx context.Context, tx *Tx, jobID string) error

	// Retry makes a failed or canceled job queued and due, its budgets unspent; [ErrNotFinished], [ErrFinished] for a
	// completed one, [ErrJobNotFound], or [ErrKeyConflict] when its key has been taken by another since.
	Retry(ctx context.Context, tx *Tx, jobID string) error

	// AddLogs stores what handlers have logged. It names no lease: the same transaction has ended their attempts.
	AddLogs(ctx context.Context, tx *Tx, lines []LogLine) error
}

// An Outcome is how an attempt ended and what becomes of its job.
type Outcome struct {
	Lease     Lease
	State     State  // queued, completed or failed
	Kind      string // KindCompleted, KindFailed, KindInterrupted, KindCrashed or KindReleased
	NotBefore time.Time
	Result    json.RawMessage
	Error     string
	Stack     string
	At        time.Time
	// Plain: the job is known to hold no idempotency key that its end frees, and no place under a limit key.
	Plain bool
}

// A Limiter keeps limits and pauses, which claims honour: they count what runs and what has started in the transaction that
// claims, so that no two of them give the same room away. A job's limit is that of its type and that of its key, which is
// the key's own or else that of the longest prefix of it. Jobs whose key has no room are not in the way of others, and
// become ready again when somebody makes room, by whatever means.
type Limiter interface {
	// SetLimit stores the target's limit in place of an earlier one, and leaves a pause as it is; nil removes it.
	SetLimit(ctx context.Context, tx *Tx, target Target, limit *Limit) error
	// SetPaused pauses or resumes the target, and leaves its limit as it is.
	SetPaused(ctx context.Context, tx *Tx, target Target, paused bool) error
	// Limits lists what is limited or paused, by kind and name.
	Limits(ctx context.Context) ([]LimitStatus, error)
}

// A Stepper keeps the results of steps. All its writes need the lease, and fail as Finish answers.
type Stepper interface {
	StartStep(ctx context.Context, tx *Tx, lease Lease, name string) error
	// FinishStep stores the result of a step, started or not.
	FinishStep(ctx context.Context, tx *Tx, lease Lease, step StepRecord) error
	// SaveCursor stores how far a step has come, started or not; [ErrStepFinished] when it is finished.
	SaveCursor(ctx context.Context, tx *Tx, lease Lease, name string, value json.RawMessage) error
	Steps(ctx context.Context, jobID string) ([]StepRecord, error)
}

// A Pruner deletes what need not be kept any more.
type Pruner interface {
	// Finished lists the types that have jobs in the state, which is one of a finished job. Its cost is that of the types,
	// not of the jobs.
	Finished(ctx context.Context, state State) ([]FinishedType, error)
	// Prune deletes jobs with their steps, attempts and logs, those first that finished first, and returns how many. Their
	// keys stay.
	Prune(ctx context.Context, tx *Tx, req PruneRequest) (int, error)
	// FirstKeyExpiry is when the first key of scope period is free again; zero when there is none.
	FirstKeyExpiry(ctx context.Context) (time.Time, error)
	// PruneKeys deletes at most limit keys whose time is over at tx.Now(), and returns how many.
	PruneKeys(ctx context.Context, tx *Tx, limit int) (int, error)
	// FirstRate is the earliest instant at which a rate has stood; zero when no rate is kept. It may look at all of them.
	FirstRate(ctx context.Context) (time.Time, error)
	// PruneRates deletes at most limit rates that stood before the given time, and returns how many. One that is past
	// allows what no row allows.
	PruneRates(ctx context.Context, tx *Tx, before time.Time, limit int) (int, error)
}

// A FinishedType is a type that has finished jobs, and when the first of them finished.
type FinishedType struct {
	Type  string
	First time.Time
}

// A PruneRequest says what to delete.
type PruneRequest struct {
	State          State // of a finished job
	Type           string
	FinishedBefore time.Time
	Limit          int // at least 1
}

// A Scheduler keeps schedules. It computes no instants, and reads neither their Cron nor their Zone.
type Scheduler interface {
	// AddSchedule stores a schedule, unless there is one of its name: then it returns false and changes nothing.
	AddSchedule(ctx context.Context, tx *Tx, s StoredSchedule) (added bool, err error)
	// LockSchedule returns a schedule and keeps others from writing about it until the transaction ends, or
	// [ErrScheduleNotFound].
	LockSchedule(ctx context.Context, tx *Tx, name string) (*StoredSchedule, error)
	// UpdateSchedule stores all of a schedule in place of what there is under its name, or returns [ErrScheduleNotFound].
	UpdateSchedule(ctx context.Context, tx *Tx, s StoredSchedule) error
	// DeleteSchedule removes a schedule, or returns [ErrScheduleNotFound].
	DeleteSchedule(ctx context.Context, tx *Tx, name string) error
	// Schedules lists all schedules by name.
	Schedules(ctx context.Context) ([]StoredSchedule, error)
	// DueSchedules lists, by NextAt, those whose NextAt has come by now, and tells the next that will; zero when there is
	// none. A schedule without a NextAt is never due.
	DueSchedules(ctx context.Context, now time.Time) (due []StoredSchedule, next time.Time, err error)
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
	// Stats reads the figures of [Queue.Stats], and a bounded part of the index for each of them.
	Stats(ctx context.Context, query StatsQuery) (*Stats, error)
	// Logs lists a job's lines by attempt and line.
	Logs(ctx context.Context, jobID string) ([]LogLine, error)
}

// A Filter selects jobs; empty fields do not restrict. States, Types, UserID, Key and LimitKey are looked up in an index, and
// Tags alone among the jobs that have any. All others are compared with each job that those leave, from the newest on, until
// there are Limit: in search of the few of a rare tag, or of a time long ago, that takes some tenths of a second for each
// million jobs, and so does counting them.
type Filter struct {
	States []State
	Types  []string
	// UserID, Key and LimitKey are those of [Options]; the name of a Key, whether or not the job still holds it.
	UserID   string
	Key      string
	LimitKey string
	// Tags are such that a job must have all of them.
	Tags []string
	// CreatedFrom and CreatedBefore bound when the job was enqueued.
	CreatedFrom   time.Time
	CreatedBefore time.Time
	// Before is a job id: only jobs with lower ids, which are older, are listed.
	Before string
	// Limit bounds a listing: default 20, bounds 1 to 1000. [Queue.Redrive] and [Queue.CancelAll] take 0 as no bound and do as
	// many otherwise; counts do not look at it.
	Limit int
}

// A Waker tells dispatchers that there may be work: jobs, or schedules that were changed.
type Waker interface {
	// Notify wakes listeners when the transaction commits.
	Notify(ctx context.Context, tx *Tx) error
	// Listen calls wake once it listens, and then after each notification until ctx is done. It may call it for nothing,
	// and may miss some: polling is the net.
	Listen(ctx context.Context, wake func()) error
}

// A Hastener is a Driver on whose engine transactions wait for each other's rows. A handler that hangs within a transaction
// has its job's row, and a machine that loses its power may leave others behind.
type Hastener interface {
	// Hasten is called first in a transaction of the queue's own, in which nobody waits for anything: it fails soon where
	// another one holds what it wants, and lets go of what it holds when its process does not go on with it.
	Hasten(ctx context.Context, tx *Tx) error
}

// A Fencer is a Driver that can check a lease without waiting for the answer: it is sent with what the transaction does next.
// Where the lease is not held, that fails, and so does the transaction, with the error that [Finisher] would have answered.
// Nothing that comes after the call is done then, but what the program itself has done meanwhile.
type Fencer interface {
	// CheckLater is Check.
	CheckLater(ctx context.Context, tx *Tx, lease Lease) error
	// CompleteLater is Finish for one outcome, which is completed and Plain.
	CompleteLater(ctx context.Context, tx *Tx, out Outcome) error
}
