package queue

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/postroom-go/postroom/internal/migrate"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/naming"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

// Config configures a queue. The zero Config uses the defaults.
type Config struct {
	// Logger takes warnings and errors, such as a handler that fails. Default: slog.Default(); for silence give a
	// logger on slog.DiscardHandler.
	Logger *slog.Logger
	// TracerProvider and MeterProvider are where spans and metrics go; nil: OpenTelemetry's global ones.
	TracerProvider trace.TracerProvider
	MeterProvider  metric.MeterProvider
	// ChildSpans makes the span of an attempt a child of the span its job was enqueued in. Otherwise it begins a new
	// trace that links to that span, so that jobs that enqueue jobs do not form an endless trace.
	ChildSpans bool
	// Types are the job types that may be enqueued and scheduled. Others are refused with [ErrUnknownType], so that a
	// job with a misspelled type does not wait for a handler for ever. Default: any, since another program may handle
	// it.
	Types []string
	// OnEnqueue are called, in order, with each job that is enqueued, before it is validated and stored; see
	// [EnqueueHook].
	OnEnqueue []EnqueueHook
	// Retry is the wait between attempts. Default [DefaultRetry].
	Retry RetryPolicy
	// Budget bounds interruptions and crashes.
	Budget Budget
	// StrictKeys makes enqueueing with a taken [Key] and another payload fail with [ErrKeyConflict]. Otherwise the key
	// alone decides, so that a program that adds a field to a payload still finds the jobs of its earlier version.
	StrictKeys bool
	// MaxPayload is the maximum number of bytes of the JSON of a payload, of a result, and of a step's result or
	// cursor. Default 1 MiB; bounds 1 and 64 MiB, which every engine takes. Store larger values elsewhere, and put
	// their name into the payload.
	MaxPayload int
	// Retention is how long finished jobs are kept. Default: 7 days.
	Retention Retention
	// Codec encodes the payloads, results, steps, errors and log lines that are stored from now on. Default: none, they
	// are stored plainly. A value that cannot be decoded is shown as stored, a JSON object with the member "$codec"; an
	// error or a message is replaced by the reason. A handler does not receive such a value: its job is deferred for a
	// minute while the codec or key is unknown, and fails if the value is damaged.
	Codec Codec
	// Decoders decode the values of other codecs.
	Decoders []Codec
}

// An EnqueueHook sees each job that this Queue is to enqueue, also those of schedules that fire and of flows, and may
// change it: set the user, a limit key, tags, or another payload. An error refuses the job, and with it all that are
// enqueued by the same call; a firing is tried again later. A job whose key is taken is seen as well, since that is not
// known yet; a job that is retried, moved, or enqueued by plain SQL is not. ctx is that of the call, for a schedule
// that of the dispatcher. The payload may be the caller's, and that of a schedule is a json.RawMessage: replace it, and
// do not write into it; the version of a [Versioned] payload holds for what replaces it, unless that has a version of
// its own or the hook sets PayloadVersion. A hook may run within a transaction, and again when that is tried again: it
// must be quick, and must not write to the database. It must be safe for concurrent use.
type EnqueueHook func(ctx context.Context, job *NewJob) error

// A Queue enqueues jobs, hands them to workers and stores their outcomes. It is safe for concurrent use; every method
// that changes something returns when the change is durable.
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
	hooks      []EnqueueHook
	maxPayload int
	strictKeys bool
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
	if err := errors.Join(c.Retry.validate(), c.Budget.validate(), validMaxPayload(c.MaxPayload),
		validTypes(c.Types)); err != nil {
		return nil, fmt.Errorf("queue: Config: %w", err)
	}
	t, err := newTelemetry(&c)
	if err != nil {
		return nil, fmt.Errorf("queue: Config.MeterProvider: %w", err)
	}
	if slices.ContainsFunc(c.OnEnqueue, func(hook EnqueueHook) bool { return hook == nil }) {
		return nil, errors.New("queue: Config.OnEnqueue: one is nil")
	}
	codecs, err := newCodecs(c.Codec, c.Decoders)
	if err != nil {
		return nil, fmt.Errorf("queue: Config: %w", err)
	}
	return &Queue{
		db: db, driver: db.Driver(), options: optionsOf(db.Driver()), log: c.Logger, retry: c.Retry,
		budget: c.Budget.withDefaults(), types: slices.Clone(c.Types), hooks: slices.Clone(c.OnEnqueue),
		maxPayload: c.MaxPayload, strictKeys: c.StrictKeys, retention: c.Retention, codecs: codecs, telemetry: t,
	}, nil
}

var errNoQueue = errors.New(
	"the Queue was not made: open a database with queue/sqlite or queue/postgres, and make one with queue.New")

// made refuses a queue that a program has made by itself, or none.
func (q *Queue) made() error {
	if q == nil || q.driver == nil {
		return errNoQueue
	}
	return nil
}

// DB is the database the queue is kept in.
func (q *Queue) DB() DB { return q.db }

// A DB is a database in which the queue and the stores beside it keep their tables. The packages queue/sqlite and
// queue/postgres open one.
type DB interface {
	// Dialect is "sqlite" or "postgres".
	Dialect() driver.Dialect
	// Reader is the pool for queries. It refuses to write where the engine can.
	Reader() *sqlx.DB
	// Write runs fn in a write transaction and returns when what fn wrote is durable. All of fn's writes happen, or
	// none: when fn returns an error or panics, they are undone. Several callers may share one commit, so fn does
	// database work only and never waits for anything else. tx is valid until fn returns, and refuses a statement that
	// would end it, such as COMMIT: return nil to commit, an error to roll back.
	//
	// ctx bounds the wait for the transaction to begin; once begun, it is not interrupted half way. To call Write, or a
	// call of the queue without Tx, from within fn is an error. In a goroutine that fn has started it is not
	// recognised: it waits for this transaction to end, so fn must not wait for that goroutine; give the goroutine tx
	// and the calls with Tx.
	Write(ctx context.Context, fn func(ctx context.Context, tx Tx) error) error
	// Driver is the engine that the queue uses. Programs do not need it.
	Driver() driver.Driver
}

// NewDB returns the DB of a driver that none of this module's packages has opened, such as one that wraps another; see
// [driver.Unwrapper].
func NewDB(d driver.Driver) DB { return driven{d, d} }

type driven struct {
	driver.DB
	driver driver.Driver
}

func (d driven) Driver() driver.Driver { return d.driver }

//go:embed migrations
var migrations embed.FS

// Migrate creates the queue's tables (jobs, job_keys, job_steps, job_signals, job_attempts, job_logs, job_workers,
// job_schedules, those of limits and of flows) or brings them up to date. It may be called at every start, by several
// processes at once. If they are up to date it only reads, so that a role that may not create tables can call it as
// well.
func Migrate(ctx context.Context, db DB) error {
	if db == nil || db.Driver() == nil {
		return errors.New("queue: Migrate needs a DB: open a database with queue/sqlite or queue/postgres")
	}
	if err := validContext(ctx); err != nil {
		return wrap("migrate", "", err)
	}
	names := driver.NamesOf(db.Driver())
	return migrate.UpIn(ctx, db, migrate.Place(names), string(db.Dialect()), "queue",
		naming.Migrations(migrations, db.Dialect(), names))
}

// A Migration is a step of [Migrate].
type Migration struct {
	Version int
	Name    string // of its file
	Applied bool
	// SQL is the script of one that has not been applied, for those who apply it by hand, in order and each in a
	// transaction; empty for one that has.
	SQL string
}

// Migrations lists the migrations of the queue's tables in order. It only reads.
func Migrations(ctx context.Context, db DB) ([]Migration, error) {
	if db == nil || db.Driver() == nil {
		return nil, errors.New("queue: Migrations needs a DB: open a database with queue/sqlite or queue/postgres")
	}
	if err := validContext(ctx); err != nil {
		return nil, wrap("migrations", "", err)
	}
	names := driver.NamesOf(db.Driver())
	steps, err := migrate.PlanIn(ctx, db, migrate.Place(names), string(db.Dialect()), "queue",
		naming.Migrations(migrations, db.Dialect(), names))
	return mapped(steps, func(s migrate.Step) Migration { return Migration(s) }), err
}

// MigrationFiles are migrations/sqlite and migrations/postgres. Unlike [Migration].SQL they record nothing, and have
// the tables' plain names.
func MigrationFiles() fs.FS { return migrations }

// Table returns the name of one of the queue's tables in SQL: with the schema, or the prefix, that db was opened with.
func Table(db DB, name string) string { return driver.NamesOf(db.Driver()).Table(name) }

// options are the optional methods of a driver; nil if it lacks them.
type options struct {
	// now is the time of the database's clock, by which all machines that share it go.
	now           func() time.Time
	locks         driver.LockTimeouter
	writes        driver.WriteChecker
	fence         driver.Fencer
	groups        driver.GroupInserter
	finishClaimer driver.FinishClaimer
	sequences     driver.SequenceStore
}

func optionsOf(d driver.Driver) options {
	o := options{now: driver.ClockOf(d)}
	o.locks, _ = driver.As[driver.LockTimeouter](d)
	o.writes, _ = driver.As[driver.WriteChecker](d)
	o.fence, _ = driver.As[driver.Fencer](d)
	o.groups, _ = driver.As[driver.GroupInserter](d)
	o.finishClaimer, _ = driver.As[driver.FinishClaimer](d)
	o.sequences, _ = driver.As[driver.SequenceStore](d)
	return o
}
