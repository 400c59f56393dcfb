package queue_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/queueadmin"
	"github.com/postroom-go/postroom/queue/queuetest"
)

func TestMain(m *testing.M) { dbtest.Main(m, queue.Migrate) }

const ping queue.Type[int] = "ping"

type pingHandler = func(ctx context.Context, w *queue.Work[int]) error

// exactRetry waits 2 s, 4 s, 8 s and so on.
var exactRetry = queue.RetryPolicy{Base: 2 * time.Second, Factor: 2, Cap: time.Hour}

// bubble runs the test where time stands still unless everything waits.
func bubble(t *testing.T, fn func(t *testing.T, q *queue.Queue)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { fn(t, queuetest.New(t)) })
}

func enqueue(t *testing.T, q *queue.Queue, opts *queue.Options) string {
	t.Helper()
	enqueued, err := q.Enqueue(t.Context(), ping.New(1, opts))
	require.NoError(t, err)
	return enqueued.ID
}

func job(t *testing.T, q *queue.Queue, id string) *queue.Job {
	t.Helper()
	j, err := q.Job(t.Context(), id)
	require.NoError(t, err)
	return j
}

func attempts(t *testing.T, q *queue.Queue, id string) []queue.AttemptRecord {
	t.Helper()
	records, err := q.Attempts(t.Context(), id)
	require.NoError(t, err)
	return records
}

// work runs all pings with the handler.
func work(t *testing.T, q *queue.Queue, fn pingHandler) {
	t.Helper()
	queuetest.Work(t, q, func(d *queue.Dispatcher) { queue.Handle(d, ping, fn) })
}

// start runs a dispatcher beside the test; stop ends it and returns what Run returned.
func start(t *testing.T, q *queue.Queue, cfg *queue.DispatcherConfig, fn pingHandler) (stop func() error) {
	t.Helper()
	d, err := queue.NewDispatcher(q, cfg)
	require.NoError(t, err)
	queue.Handle(d, ping, fn)
	ctx, cancel := context.WithCancel(context.Background())
	result := make(chan error, 1)
	go func() { result <- d.Run(ctx) }()
	return func() error {
		cancel()
		return <-result
	}
}

// on is a queue on the same database behind another driver: another process.
func on(t *testing.T, driver driver.Driver, cfg *queue.Config) *queue.Queue {
	t.Helper()
	q, err := queue.New(queue.NewDB(driver), cfg)
	require.NoError(t, err)
	return q
}

var errDatabase = errors.New("database is away")

// A faulty driver fails on demand.
type faulty struct {
	driver.Driver
	beats  atomic.Bool // fail
	writes atomic.Bool // fail: writes and claims
	deaf   bool        // nobody is woken
	slow   time.Duration
	unseen atomic.Bool // the next claim commits, and its answer is lost
	hangs  atomic.Bool // beats wait for their context
	// poison is a result that the database does not take.
	poison string
}

func (f *faulty) Finish(ctx context.Context, tx *driver.WriteTx, outcomes []driver.Outcome) ([]error, error) {
	for _, out := range outcomes {
		if f.poison != "" && string(out.Result) == f.poison {
			return nil, errDatabase
		}
	}
	return f.Driver.Finish(ctx, tx, outcomes)
}

func (f *faulty) Heartbeat(ctx context.Context, req driver.HeartbeatRequest) (bool, error) {
	if f.hangs.Load() {
		<-ctx.Done()
		return false, ctx.Err()
	}
	if f.beats.Load() || f.writes.Load() {
		return false, errDatabase
	}
	return f.Driver.Heartbeat(ctx, req)
}

func (f *faulty) Write(ctx context.Context, fn func(context.Context, driver.Tx) error) error {
	if f.writes.Load() {
		return errDatabase
	}
	return f.Driver.Write(ctx, fn)
}

func (f *faulty) Claim(ctx context.Context, req driver.ClaimRequest) (driver.ClaimResult, error) {
	if f.writes.Load() {
		return driver.ClaimResult{}, errDatabase
	}
	result, err := f.Driver.Claim(ctx, req)
	time.Sleep(f.slow)
	if err == nil && len(result.Jobs) > 0 && f.unseen.Swap(false) {
		return driver.ClaimResult{}, errDatabase
	}
	return result, err
}

func (f *faulty) Listen(ctx context.Context, wake func()) error {
	if f.deaf {
		return errDatabase
	}
	return f.Driver.Listen(ctx, wake)
}

// doctor is what Doctor finds, a line each.
func doctor(t *testing.T, q *queue.Queue) string {
	t.Helper()
	findings, err := queueadmin.Doctor(t.Context(), q)
	require.NoError(t, err)
	var lines []string
	for _, f := range findings {
		lines = append(lines, f.String())
	}
	return strings.Join(lines, "\n")
}

func execute(t *testing.T, q *queue.Queue, statement string) {
	t.Helper()
	require.NoError(t, q.DB().Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, statement)
		return err
	}))
}

// completeWith completes an attempt with a result.
func completeWith(ctx context.Context, a *queue.Attempt, result any) error {
	a.SetResult(result)
	return a.Complete(ctx, nil)
}

// finishStep stores the result of a step.
func finishStep(ctx context.Context, r queue.Running, name string, result any) error {
	_, err := queue.Step(ctx, r, name, func(context.Context) (any, error) { return result, nil })
	return err
}
