package queue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/postroom-go/postroom/internal/dbtime"
)

// Config is how a queue behaves; the zero value is the usual.
type Config struct {
	// Logger takes what is worth a line; nil means silence.
	Logger *slog.Logger
	// Retry is the wait between attempts. Default [DefaultRetry].
	Retry RetryPolicy
	// Budget bounds interruptions and crashes.
	Budget Budget
}

// A Queue enqueues jobs, hands them to workers and keeps what becomes of them. It is safe for use by many goroutines;
// every method that changes something returns when the change is durable.
type Queue struct {
	driver Driver
	log    *slog.Logger
	retry  RetryPolicy
	budget Budget
	local  dispatchers
}

// New makes a queue on a database whose tables [Migrate] has made; cfg may be nil.
func New(driver Driver, cfg *Config) (*Queue, error) {
	var c Config
	if cfg != nil {
		c = *cfg
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Retry == (RetryPolicy{}) {
		c.Retry = DefaultRetry
	}
	if err := errors.Join(c.Retry.validate(), c.Budget.validate()); err != nil {
		return nil, fmt.Errorf("queue: Config: %w", err)
	}
	return &Queue{driver: driver, log: c.Logger, retry: c.Retry, budget: c.Budget.withDefaults()}, nil
}

// DB is the database the queue is kept in.
func (q *Queue) DB() DB { return q.driver }

// Enqueue stores a job. When its key is taken by a job of the same type and payload, the receipt names that one; by a
// different job, the error is [ErrKeyConflict].
func (q *Queue) Enqueue(ctx context.Context, job NewJob) (Receipt, error) {
	return one(q.EnqueueMany(ctx, []NewJob{job}))
}

// EnqueueTx is Enqueue as part of a transaction: the job exists if and when that commits.
func (q *Queue) EnqueueTx(ctx context.Context, tx *Tx, job NewJob) (Receipt, error) {
	return one(q.EnqueueManyTx(ctx, tx, []NewJob{job}))
}

// EnqueueScheduled is Enqueue for a job that becomes due at the given time.
func (q *Queue) EnqueueScheduled(ctx context.Context, job NewJob, notBefore time.Time) (Receipt, error) {
	job.NotBefore = notBefore
	return q.Enqueue(ctx, job)
}

// EnqueueMany stores all jobs or, on any error, none. The receipts are in the order of the jobs.
func (q *Queue) EnqueueMany(ctx context.Context, jobs []NewJob) ([]Receipt, error) {
	rows, err := prepare(jobs)
	if err != nil {
		return nil, wrap("enqueue", "", err)
	}
	var receipts []Receipt
	err = q.driver.Write(ctx, func(ctx context.Context, tx *Tx) error {
		receipts, err = q.insert(ctx, tx, rows)
		return err
	})
	if err != nil {
		return nil, wrap("enqueue", "", err)
	}
	return receipts, nil
}

// EnqueueManyTx is EnqueueMany as part of a transaction. After an error that transaction must be rolled back.
func (q *Queue) EnqueueManyTx(ctx context.Context, tx *Tx, jobs []NewJob) ([]Receipt, error) {
	rows, err := prepare(jobs)
	if err != nil {
		return nil, wrap("enqueue", "", err)
	}
	receipts, err := q.insert(ctx, tx, rows)
	return receipts, wrap("enqueue", "", err)
}

func one(receipts []Receipt, err error) (Receipt, error) {
	if err != nil {
		return Receipt{}, err
	}
	return receipts[0], nil
}

// prepare does outside the transaction what needs no database.
func prepare(jobs []NewJob) ([]InsertJob, error) {
	rows := make([]InsertJob, len(jobs))
	for i := range jobs {
		row, err := jobs[i].row()
		if err != nil {
			return nil, err
		}
		rows[i] = row
	}
	return rows, nil
}

func (j *NewJob) row() (InsertJob, error) {
	if err := j.validate(); err != nil {
		return InsertJob{}, err
	}
	payload, err := encode(j.Payload)
	if err != nil {
		return InsertJob{}, fmt.Errorf("%w: payload of %s: %w", ErrInvalidJob, j.Type, err)
	}
	id, err := uuid.NewV7()
	if err != nil {
		return InsertJob{}, err
	}
	row := InsertJob{
		ID: id.String(), Type: j.Type, Payload: payload, Priority: j.Priority, Key: j.Key, MaxAttempts: j.MaxAttempts,
		NotBefore: dbtime.Truncate(j.NotBefore), ExpiresAt: dbtime.Truncate(j.ExpiresAt),
		LimitKey: j.LimitKey, UserID: j.UserID, Tags: j.Tags,
	}
	if row.MaxAttempts == 0 {
		row.MaxAttempts = defaultMaxAttempts
	}
	if row.Key.Name != "" {
		row.Fingerprint = Fingerprint(row.Type, row.Payload)
	}
	return row, nil
}

func (q *Queue) insert(ctx context.Context, tx *Tx, rows []InsertJob) ([]Receipt, error) {
	results, err := q.driver.Insert(ctx, tx, rows)
	if err != nil {
		return nil, err
	}
	receipts := make([]Receipt, len(results))
	for i, r := range results {
		if r.Conflict {
			return nil, &Error{Op: "enqueue", JobID: r.ID, Err: fmt.Errorf("%w: %q", ErrKeyConflict, rows[i].Key.Name),
				Hint: "that job has another type or payload; use another key"}
		}
		receipts[i] = Receipt{ID: r.ID, Duplicate: r.Duplicate}
	}
	return receipts, q.driver.Notify(ctx, tx)
}

// Cancel ends a queued job, or a running one: its handler's context is canceled with the cause [ErrCanceled], and what
// the handler then reports is ignored. In another process that takes until its next heartbeat. The error is
// [ErrFinished] or [ErrJobNotFound] when there is nothing to cancel.
func (q *Queue) Cancel(ctx context.Context, jobID string) error {
	return q.driver.Write(ctx, func(ctx context.Context, tx *Tx) error { return q.CancelTx(ctx, tx, jobID) })
}

// CancelTx is Cancel as part of a transaction.
func (q *Queue) CancelTx(ctx context.Context, tx *Tx, jobID string) error {
	if err := q.driver.Cancel(ctx, tx, jobID); err != nil {
		return wrap("cancel", jobID, err)
	}
	tx.OnCommit(func() { q.local.cancel(jobID) })
	return nil
}

// Retry makes a failed or canceled job due again, with all its attempts ahead of it; the results of its steps are kept.
// The error is [ErrNotFinished], [ErrFinished] (a completed job), [ErrJobNotFound], or [ErrKeyConflict] when another job
// has taken its key since.
func (q *Queue) Retry(ctx context.Context, jobID string) error {
	return q.driver.Write(ctx, func(ctx context.Context, tx *Tx) error { return q.RetryTx(ctx, tx, jobID) })
}

// RetryTx is Retry as part of a transaction.
func (q *Queue) RetryTx(ctx context.Context, tx *Tx, jobID string) error {
	if err := q.driver.Retry(ctx, tx, jobID); err != nil {
		return wrap("retry", jobID, err)
	}
	return q.driver.Notify(ctx, tx)
}
