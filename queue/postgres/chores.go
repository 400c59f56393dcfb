package postgres

import (
	"context"
	"time"

	"github.com/postroom-go/postroom/internal/jobrow"
	"github.com/postroom-go/postroom/queue"
)

// chores are what a claim has to see to before it claims, and finds nothing of nearly always.
type chores struct {
	expired, due, marks bool
	limits              bool // are set: the claim has to count
	more                bool // some are left for the next claim
}

func (c *chores) dest() []any { return []any{&c.expired, &c.due, &c.marks, &c.limits} }

func (c *chores) any() bool { return c.expired || c.due || c.marks || c.limits }

func doChores(ctx context.Context, tx *queue.Tx, now time.Time) (todo chores, err error) {
	todo, err = queryOne(ctx, tx, func(row jobrow.Scanner) (c chores, err error) {
		err = row.Scan(c.dest()...)
		return c, err
	}, selectChores, now)
	if err != nil {
		return todo, err
	}
	if todo.expired {
		if err := todo.count(ctx, tx, expireJobs, now); err != nil {
			return todo, err
		}
	}
	if todo.due {
		if err := todo.count(ctx, tx, promoteJobs, now); err != nil {
			return todo, err
		}
	}
	// Both may have marked keys.
	if todo.marks || todo.due || todo.expired {
		return todo, todo.admit(ctx, tx, now)
	}
	return todo, nil
}

// portionOfChores is how many rows one claim expires, and how many it promotes, at most; it is that of the statements.
const portionOfChores = 1000

func (c *chores) count(ctx context.Context, tx *queue.Tx, statement string, now time.Time) error {
	n, err := queryOne(ctx, tx, func(row jobrow.Scanner) (n int, err error) {
		err = row.Scan(&n)
		return n, err
	}, statement, now)
	c.more = c.more || n == portionOfChores
	return err
}
