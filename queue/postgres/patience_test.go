package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/postgres"
)

// impatient is a queue whose server may take 200 ms to answer, and takes 600 ms for each row that is inserted into the
// table, or with it committed.
func impatient(t *testing.T, kind, table string) *queue.Queue {
	t.Helper()
	db := dbtest.Postgres(t)
	require.NoError(t, queue.Migrate(t.Context(), db))
	q, err := queue.New(db, nil)
	require.NoError(t, err)
	require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx driver.Tx) error {
		_, err := tx.ExecContext(ctx, `
CREATE TABLE letters (n INTEGER);
CREATE FUNCTION ponder() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.6); RETURN NEW; END $$;
CREATE `+kind+` slow AFTER INSERT ON `+table+`
FOR EACH ROW EXECUTE FUNCTION ponder()`)
		return err
	}))
	postgres.SetAnswerTimeout(db, 200*time.Millisecond)
	return q
}

// The end of a step that has taken effect is written as long as the caller waits.
func TestAStepEndsWithinTheCallersDeadline(t *testing.T) {
	q := impatient(t, "TRIGGER", "job_steps")
	_, err := q.Enqueue(t.Context(), benchJob.New(1, nil))
	require.NoError(t, err)
	claimed, err := q.Claim(t.Context(), "w", []string{string(benchJob)}, 1)
	require.NoError(t, err)
	step := func(ctx context.Context) error {
		_, err := queue.Step(ctx, claimed[0], "send", func(context.Context) (int, error) { return 1, nil })
		return err
	}
	require.ErrorContains(t, step(t.Context()), "has not answered for 200ms")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, step(ctx))
}

// What a program has written may take long to commit, and neither a deadline nor the lack of one cuts that.
func TestTheCommitOfAProgramsWritesIsNotCut(t *testing.T) {
	q := impatient(t, "CONSTRAINT TRIGGER", "letters DEFERRABLE INITIALLY DEFERRED")
	write := func(ctx context.Context) error {
		return q.DB().Write(ctx, func(ctx context.Context, tx driver.Tx) error {
			_, err := tx.ExecContext(ctx, "INSERT INTO letters VALUES ($1)", 1)
			return err
		})
	}
	require.NoError(t, write(t.Context()))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, write(ctx))
}
