package postgres_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/flow"
	"github.com/postroom-go/postroom/queue/postgres"
)

// A lateLook does something once between the two round trips of a claim within limits: when it has found what it may
// take, and has not yet looked at what is left.
type lateLook struct{ meanwhile func() }

func (*lateLook) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}
func (*lateLook) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}
func (*lateLook) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {
}
func (*lateLook) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

func (l *lateLook) TraceBatchStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	begins, looks := false, false
	for _, query := range data.Batch.QueuedQueries {
		begins = begins || strings.Contains(query.SQL, "pg_advisory_xact_lock_shared")
		looks = looks || query.SQL == postgres.Planned["lookAhead"]
	}
	if meanwhile := l.meanwhile; looks && !begins && meanwhile != nil {
		l.meanwhile = nil
		meanwhile()
	}
	return ctx
}

// openLate opens the database once more, with claims that look late.
func openLate(t *testing.T, dsn string) (*postgres.DB, *lateLook) {
	t.Helper()
	options, err := pgxpool.ParseConfig(dsn)
	require.NoError(t, err)
	look := &lateLook{}
	options.ConnConfig.Tracer = look
	pool, err := pgxpool.NewWithConfig(t.Context(), options)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	db, err := postgres.OpenPool(t.Context(), pool, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db, look
}

// While a claim looks, jobs fall due, another claim lets them go and takes the first of them. The others are ready, no
// due time lies ahead, and nobody is woken: the claim must say that there is more, or look again soon.
func TestAClaimMissesNothingThatAnotherLetsGoMeanwhile(t *testing.T) {
	for name, first := range map[string][]driver.InsertJob{
		"it has found none":         nil,
		"it has taken one":          {jobOf("a", 9)},
		"it has one of other types": {jobOf("b", 9)},
	} {
		t.Run(name, func(t *testing.T) {
			dsn := dbtest.PostgresDSN(t)
			db, look := openLate(t, dsn)
			other := machine(t, dsn, "other")
			require.NoError(t, queue.Migrate(t.Context(), db))
			require.NoError(t, driver.Write(t.Context(), db, func(ctx context.Context, tx *driver.WriteTx) error {
				return db.Driver().SetLimit(ctx, tx, driver.Target{Kind: driver.TargetKey, Name: "k"},
					&driver.Limit{MaxRunning: 1})
			}))
			due := time.Now().Add(time.Hour)
			later, behind := jobOf("a", 1), jobOf("a", 0)
			later.NotBefore, behind.NotBefore = due, due
			insertJobs(t, db, append(first, later, behind)...)
			types := []string{"a"}
			if len(first) > 0 && first[0].Type == "b" {
				types = append(types, "b")
			}
			look.meanwhile = func() {
				result, err := other.Driver().Claim(t.Context(), driver.ClaimRequest{WorkerID: "other",
					Types: capacitiesOf(9, "a"), Limit: 1, Now: due.Add(time.Second)})
				require.NoError(t, err)
				require.Equal(t, []string{later.ID}, idsIn(result.Jobs))
			}
			result, err := db.Driver().Claim(t.Context(), driver.ClaimRequest{WorkerID: "w",
				Types: capacitiesOf(9, types...), Limit: 9, Now: due.Add(-time.Second)})
			require.NoError(t, err)
			require.Nil(t, look.meanwhile)
			if len(result.Jobs) == len(first) && !result.More {
				require.False(t, result.NextDue.IsZero())
				require.WithinDuration(t, due, result.NextDue, time.Second)
			}
		})
	}
}

// Another machine takes in what has fallen due while a claim looks: that one looks again soon, and less often where it
// is not a claim that holds the jobs.
func TestAClaimLooksSoonForWhatAnotherTakesIn(t *testing.T) {
	db := openQueue(t)
	job := jobOf("a", 0)
	job.NotBefore = time.Now().Add(time.Hour)
	insertJobs(t, db, job)
	now := job.NotBefore.Add(time.Second)
	claim := func() driver.ClaimResult {
		result, err := db.Driver().Claim(t.Context(), driver.ClaimRequest{WorkerID: "w", Types: capacitiesOf(9, "a"),
			Limit: 9, Now: now})
		require.NoError(t, err)
		return result
	}
	for range 2 {
		release := holding(t, db, func(ctx context.Context, tx *driver.WriteTx) error {
			_, err := tx.ExecContext(ctx, "SELECT 1 FROM jobs FOR UPDATE")
			return err
		})
		var pauses []time.Duration
		for range 7 {
			result := claim()
			require.Empty(t, result.Jobs)
			pauses = append(pauses, result.NextDue.Sub(now)/time.Millisecond)
		}
		require.Equal(t, []time.Duration{50, 100, 200, 400, 800, 1000, 1000}, pauses)
		release()
		result := claim()
		require.Equal(t, []string{job.ID}, idsIn(result.Jobs))
		require.NoError(t, driver.Write(t.Context(), db, func(ctx context.Context, tx *driver.WriteTx) error {
			_, err := tx.ExecContext(ctx, "DELETE FROM jobs")
			return err
		}))
		insertJobs(t, db, job)
	}
}

// A listener notes that it has been woken, from when it listens.
func listening(t *testing.T, db *postgres.DB) (woken chan struct{}) {
	t.Helper()
	woken = make(chan struct{}, 1)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- db.Driver().Listen(ctx, func() {
			select {
			case woken <- struct{}{}:
			default:
			}
		})
	}()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-ended)
	})
	<-woken // as it begins
	return woken
}

// The first job of a sequence expires in a claim of another machine: who may run the next one is woken, also where the
// tables are in a schema.
func TestAnExpiryWakesWhoMayRunTheNextOfASequence(t *testing.T) {
	for _, named := range []bool{false, true} {
		t.Run(fmt.Sprint("schema=", named), func(t *testing.T) {
			dsn, schema := dbtest.PostgresDSN(t), ""
			if named {
				h := newHouse(t)
				dsn, schema = h.dsn, h.schema
			}
			h := house{dsn: dsn}
			db, other := h.open(t, schema), h.open(t, schema)
			require.NoError(t, queue.Migrate(t.Context(), db))
			expires, next := jobOf("a", 0), jobOf("b", 0)
			expires.Sequence, next.Sequence = "s", "s"
			expires.ExpiresAt = time.Now().Add(time.Hour)
			insertJobs(t, db, expires, next)
			woken := listening(t, other)
			_, err := db.Driver().Claim(t.Context(), driver.ClaimRequest{WorkerID: "w", Types: capacitiesOf(9, "c"),
				Limit: 9, Now: time.Now().Add(2 * time.Hour)})
			require.NoError(t, err)
			within(t, func() error {
				<-woken
				return nil
			})
		})
	}
}

// Behind a pooler nobody listens: a process that opens the next node of a flow runs it at once all the same.
func TestAPooledProcessRunsTheNextNodeAtOnce(t *testing.T) {
	db, err := postgres.Open(t.Context(), dbtest.PostgresDSN(t), &postgres.Config{Pooled: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	require.NoError(t, queue.Migrate(t.Context(), db))
	q, err := queue.New(db, nil)
	require.NoError(t, err)
	f := flow.New("chain", nil)
	f.Add("first", count.New(1, nil))
	f.Add("second", count.New(2, nil), flow.After("first"))
	f.Add("third", count.New(3, nil), flow.After("second"))
	ran := make(chan int, 3)
	d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{PollInterval: time.Hour})
	require.NoError(t, err)
	queue.Handle(d, count, func(ctx context.Context, w *queue.Work[int]) error {
		ran <- w.Payload
		if w.Payload == 1 {
			return nil
		}
		return w.Complete(ctx, func(context.Context, queue.Tx) error { return nil })
	})
	_, err = flow.Enqueue(t.Context(), q, f)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	for i := 1; i <= 3; i++ {
		within(t, func() error {
			require.Equal(t, i, <-ran)
			return nil
		})
	}
	stop()
	require.NoError(t, <-ended)
}
