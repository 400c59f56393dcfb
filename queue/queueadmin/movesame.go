package queueadmin

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue/driver"
)

// ErrSameDatabase: [Move] was given one database twice, by one handle or by two.
var ErrSameDatabase = errors.New("the old and the new database are the same")

// A mark looks like a worker without jobs: should the process die before it is taken away, a dispatcher clears it up.
const (
	insertMark = `
INSERT INTO job_workers (id, beat, beat_at)
VALUES ($1, 0, $2)`

	countMarks = `
SELECT COUNT(*)
FROM job_workers
WHERE id = $1`

	deleteMark = `
DELETE FROM job_workers
WHERE id = $1`
)

// apart fails for one database that was opened twice: what is written in the one is seen in the other. To move its jobs
// there would delete them all.
func apart(ctx context.Context, from, to driver.DB) error {
	if from.Dialect() != to.Dialect() {
		return nil
	}
	id := "copy-" + uuid.NewString()
	if err := execMark(ctx, from, insertMark, id, dbtime.Of(time.Now())); err != nil {
		return err
	}
	var marks int
	err := to.Reader().GetContext(ctx, &marks, countMarks, id)
	if err = errors.Join(err, execMark(context.WithoutCancel(ctx), from, deleteMark, id)); err == nil && marks > 0 {
		err = ErrSameDatabase
	}
	return err
}

func execMark(ctx context.Context, db driver.DB, statement string, args ...any) error {
	return driver.Write(ctx, db, func(ctx context.Context, tx *driver.WriteTx) error {
		_, err := tx.ExecContext(ctx, statement, args...)
		return err
	})
}

// sleep returns false when ctx is done first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
