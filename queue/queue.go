package queue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/postroom-go/postroom/queue/driver"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

// Config configures a queue. The zero Config uses the defaults.
type Config struct {
	// Logger takes warnings and errors, such as a handler that fails. Default: slog.Default(); for silence give a logger on
	// slog.DiscardHandler.
	Logger *slog.Logger
	// TracerProvider and MeterProvider are where spans and metrics go; nil: OpenTelemetry's global ones.
	TracerProvider trace.TracerProvider
	MeterProvider  metric.MeterProvider
	// ChildSpans makes the span of an attempt a child of the span its job was enqueued in. Otherwise it begins a new trace that
	// links to that span, so that jobs that enqueue jobs do not form an endless trace.
	ChildSpans bool
	// Types are the job types that may be enqueued and scheduled. Others are refused with [ErrUnknownType], so that a job with a
	// misspelled type does not wait for a handler for ever. Default: any, since another program may handle it.
	Types []string
	// Retry is the wait between attempts. Default [DefaultRetry].
	Retry RetryPolicy
	// Budget bounds interruptions and crashes.
	Budget Budget
	// MaxPayload is the maximum number of bytes of the JSON of a payload, of a result, and of a step's result or cursor. Default
	// 1 MiB; at least 1. Store larger values elsewhere, and put their name into the payload.
	MaxPayload int
	// Retention is how long finished jobs are kept. Default: 7 days.
	Retention Retention
	// Codec encodes the payloads, results, steps, errors and log lines that are stored from now on. Default: none, they are
	// stored plainly. A value that cannot be decoded is shown as stored, a JSON object with the member "$codec"; an error or a
	// message is replaced by the reason. A handler does not receive such a value: its job is deferred for a minute while the
	// codec or key is unknown, and fails if the value is damaged.
	Codec Codec
	// Decoders decode the values of other codecs.
	Decoders []Codec
}

// A Queue enqueues jobs, hands them to workers and stores their outcomes. It is safe for concurrent use; every method that
// changes something returns when the change is durable.
type Queue struct {
	events    bus
	telemetry *telemetry

	db     DB
	driver driver.Driver
	options
	log    *slog.Logger
	retry  RetryPolicy
	budget Budget
	local  dispatchers

	types      []string
	maxPayload int
	retention  Retention
	codecs     codecs
}

// New makes a queue on a database whose tables [Migrate] has created; cfg may be nil.
func New(db DB, cfg *Config) (*Queue, error) {
	if db == nil || db.Driver() == nil {
		return nil, errors.New("queue: New needs a DB: open a database with queue/sqlite or queue/postgres")
	}
	var c Config
	if cfg != nil {
		c = *cfg
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.Retry == (RetryPolicy{}) {
		c.Retry = DefaultRetry
	}
	if c.MaxPayload == 0 {
		c.MaxPayload = defaultMaxPayload
	}
	if err := errors.Join(c.Retry.validate(), c.Budget.validate(), validMaxPayload(c.MaxPayload), validTypes(c.Types)); err != nil {
		return nil, fmt.Errorf("queue: Config: %w", err)
	}
	t, err := newTelemetry(&c)
	if err != nil {
		return nil, fmt.Errorf("queue: Config.MeterProvider: %w", err)
	}
	codecs, err := newCodecs(c.Codec, c.Decoders)
	if err != nil {
		return nil, fmt.Errorf("queue: Config: %w", err)
	}
	return &Queue{
		db: db, driver: db.Driver(), options: optionsOf(db.Driver()), log: c.Logger, retry: c.Retry, budget: c.Budget.withDefaults(), types: slices.Clone(c.Types), maxPayload: c.MaxPayload,
		retention: c.Retention, codecs: codecs, telemetry: t,
	}, nil
}

var errNoQueue = errors.New("the Queue was not made: open a database with queue/sqlite or queue/postgres, and make one with queue.New")

// made refuses a queue that a program has made by itself, or none.
func (q *Queue) made() error {
	if q == nil || q.driver == nil {
		return errNoQueue
	}
	return nil
}

// DB is the database the queue is kept in.
func (q *Queue) DB() DB { return q.db }

// Cancel ends a queued or running job. The context of a running handler is canceled with the cause [ErrCanceled], and its result
// is ignored. In another process that takes until its next heartbeat. The error is [ErrFinished] or [ErrJobNotFound] if there is
// nothing to cancel.
func (q *Queue) Cancel(ctx context.Context, jobID string) error {
	return q.write(ctx, func(ctx context.Context, tx *driver.WriteTx) error { return q.CancelTx(ctx, tx, jobID) })
}

// CancelTx is Cancel as part of a transaction.
func (q *Queue) CancelTx(ctx context.Context, tx Tx, jobID string) error {
	w, leave, err := q.join(ctx, tx)
	if err != nil {
		return wrap("cancel", jobID, err)
	}
	defer leave()
	if err := q.driver.Cancel(ctx, w, lookup(jobID)); err != nil {
		return wrap("cancel", jobID, err)
	}
	if q.observed(ctx) {
		if err := q.record(ctx, w, Event{Kind: EventCanceled, JobID: jobID}); err != nil {
			return wrap("cancel", jobID, err)
		}
	}
	w.OnCommit(func() { q.local.cancel(jobID) })
	return nil
}

// Retry makes a failed or canceled job due again, with its whole budget; the results of its steps are kept. The error is
// [ErrNotFinished], [ErrFinished] (a completed job), [ErrJobNotFound], or [ErrKeyConflict] if another job has taken its key
// since.
func (q *Queue) Retry(ctx context.Context, jobID string) error {
	return q.write(ctx, func(ctx context.Context, tx *driver.WriteTx) error { return q.RetryTx(ctx, tx, jobID) })
}

// RetryTx is Retry as part of a transaction.
func (q *Queue) RetryTx(ctx context.Context, tx Tx, jobID string) error {
	w, leave, err := q.join(ctx, tx)
	if err != nil {
		return wrap("retry", jobID, err)
	}
	defer leave()
	if err := q.retryOne(ctx, w, jobID); err != nil {
		return wrap("retry", jobID, err)
	}
	return q.driver.Notify(ctx, w)
}

func (q *Queue) retryOne(ctx context.Context, tx *driver.WriteTx, jobID string) error {
	if err := q.driver.Retry(ctx, tx, lookup(jobID)); err != nil || !q.observed(ctx) {
		return err
	}
	return q.record(ctx, tx, Event{Kind: EventRetried, JobID: jobID, NotBefore: tx.Now()})
}
