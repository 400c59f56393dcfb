package postgres_test

import (
	"bytes"
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/postgres"
)

// Completions that wait for the row of a job, and the claims that they wait for.
const completionsThatWait = `
SELECT COUNT(*)
FROM pg_stat_activity AS waits
CROSS JOIN LATERAL unnest(pg_blocking_pids(waits.pid)) AS blocking (pid)
JOIN pg_stat_activity AS holds ON holds.pid = blocking.pid
WHERE waits.wait_event IN ('transactionid', 'tuple')
  AND waits.query LIKE '%SET state = ''completed''%'
  AND holds.query LIKE '%SET state = ''running''%'`

// A crowd is dispatchers of one database, each with connections of its own, as on so many machines.
type crowd struct {
	wg   sync.WaitGroup
	stop context.CancelFunc
	left atomic.Int64 // handlers that have not returned
	log  logLines
}

// logLines collects the log of many goroutines.
type logLines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logLines) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func startCrowd(t *testing.T, dsn string, machines, jobs int) *crowd {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	c := &crowd{stop: stop}
	c.left.Store(int64(jobs))
	log := slog.New(slog.NewTextHandler(&c.log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	var dispatchers []*queue.Dispatcher
	for range machines {
		// Without LISTEN, so that both connections claim and complete.
		db, err := postgres.Open(t.Context(), dbtest.With(t, dsn, "pool_max_conns", "2"),
			&postgres.Config{Pooled: true})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, db.Close()) })
		q, err := queue.New(db, &queue.Config{Logger: log})
		require.NoError(t, err)
		d, err := queue.NewDispatcher(q, nil)
		require.NoError(t, err)
		queue.Handle(d, count, func(context.Context, *queue.Work[int]) error {
			c.left.Add(-1)
			return nil
		})
		dispatchers = append(dispatchers, d)
	}
	for _, d := range dispatchers {
		c.wg.Go(func() {
			if err := d.Run(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	return c
}

// However many machines claim at once, none locks a job that another has claimed: its completion would wait for the
// claim.
func TestCompletionsDoNotWaitForClaims(t *testing.T) {
	const machines, jobs = 24, 40_000
	dsn := dbtest.NewCluster(t).DSN() // which has connections enough for all
	admin, err := postgres.Open(t.Context(), dsn, nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, admin.Close()) }()
	require.NoError(t, queue.Migrate(t.Context(), admin))
	q, err := queue.New(admin, nil)
	require.NoError(t, err)
	for batch := make([]queue.NewJob, 1000); batch != nil; {
		for i := range batch {
			batch[i] = count.New(i, nil)
		}
		_, err := q.EnqueueMany(t.Context(), batch)
		require.NoError(t, err)
		if stored, err := q.Counts(t.Context(), queue.Filter{}); err != nil || stored[queue.StateQueued] >= jobs {
			require.NoError(t, err)
			batch = nil
		}
	}
	c := startCrowd(t, dsn, machines, jobs)
	waits, deadline := 0, time.Now().Add(2*time.Minute)
	for c.left.Load() > 0 && time.Now().Before(deadline) {
		var now int
		require.NoError(t, admin.Reader().GetContext(t.Context(), &now, completionsThatWait))
		waits += now
	}
	require.Zero(t, c.left.Load())
	began := time.Now()
	c.stop()
	c.wg.Wait()
	require.Less(t, time.Since(began), 5*time.Second)
	// Hundreds are seen where claims ask for the locks of what others have claimed. On a busy machine a claim may last so
	// long that another asks for one.
	require.LessOrEqual(t, waits, 10)
	require.NotContains(t, c.log.text(), "lock timeout")
}
