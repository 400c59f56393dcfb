package postgres_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
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
