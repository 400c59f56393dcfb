package sqlite

import (
	"context"
	"database/sql"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// chores are the tasks of a claim before it claims; nearly always there are none.
type chores struct {
	expired, due, marks bool
	typeLimits          bool
	heads               bool // some limit keys have capacity for jobs that wait
	more                bool // some are left for the next claim
}

func doChores(ctx context.Context, tx *driver.WriteTx, req *driver.ClaimRequest) (todo chores, err error) {
	at := dbtime.Of(req.Now)
	var registered bool
	err = scanRow(ctx, tx, selectChores, []any{at, req.WorkerID},
		&todo.expired, &todo.due, &todo.marks, &todo.typeLimits, &todo.heads, &registered)
	if err != nil {
		return todo, err
	}
	if !registered {
		if _, err := tx.ExecContext(ctx, jobsql.EnsureWorker, req.WorkerID, at); err != nil {
			return todo, err
		}
	}
	if todo.expired {
		if err := todo.expire(ctx, tx, at); err != nil {
			return todo, err
		}
	}
	if todo.due {
		return todo, todo.promote(ctx, tx, at)
	}
	return todo, nil
}

// portionOfChores bounds the rows that one claim expires, and that it promotes.
const portionOfChores = 1000

func (c *chores) expire(ctx context.Context, tx *driver.WriteTx, at dbtime.Time) error {
	rows, err := tx.QueryContext(ctx, expireJobs, at)
	ended, err := jobsql.Collect(rows, err, func(row jobsql.Scanner) (e endedJob, err error) {
		var key, scope, limitKey sql.NullString
		err = row.Scan(&e.id, &key, &scope, &limitKey)
		e.finished, e.waited, e.key, e.scope, e.limitKey = true, true, key.String, driver.KeyScope(scope.String), limitKey.String
		return e, err
	})
	if err != nil {
		return err
	}
	c.more = c.more || len(ended) == portionOfChores
	for i := range ended {
		c.marks = c.marks || ended[i].limitKey != ""
	}
	return release(ctx, tx, ended)
}

func (c *chores) promote(ctx context.Context, tx *driver.WriteTx, at dbtime.Time) error {
	rows, err := tx.QueryContext(ctx, promoteJobs, at)
	keys, err := jobsql.Collect(rows, err, limitKey)
	if err != nil {
		return err
	}
	c.more = c.more || len(keys) == portionOfChores
	marks := newMarks()
	for _, key := range keys {
		marks.add(key)
	}
	c.marks = c.marks || len(marks) > 0
	return marks.write(ctx, tx)
}

func limitKey(row jobsql.Scanner) (string, error) {
	var key sql.NullString
	err := row.Scan(&key)
	return key.String, err
}
