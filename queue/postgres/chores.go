package postgres

import (
	"context"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// chores are the tasks of a claim before it claims; nearly always there are none.
type chores struct {
	expired, due  bool
	marks, heads  bool // jobs may wait for limit keys that have capacity
	types, limits bool // limits are set, of types, and any at all: the claim has to count
}

func (c *chores) dest() []any {
	return []any{&c.expired, &c.due, &c.marks, &c.heads, &c.types, &c.limits}
}

func scanChores(row jobsql.Scanner) (c chores, err error) {
	err = row.Scan(c.dest()...)
	return c, err
}

// portionOfChores bounds the rows that one claim expires, and that it promotes; it is that of the statements.
const portionOfChores = 1000

// do expires and promotes, and reports whether some are left for the next claim.
func (c *chores) do(ctx context.Context, tx *driver.WriteTx, now time.Time) (more bool, err error) {
	var counts [2][]int
	if c.expired {
		if err := laterInto(ctx, tx, &counts[0], scanCount, expireJobs, now); err != nil {
			return false, err
		}
	}
	if c.due {
		if err := laterInto(ctx, tx, &counts[1], scanCount, promoteJobs, now); err != nil {
			return false, err
		}
	}
	err = flush(ctx, tx)
	for _, count := range counts {
		more = more || (len(count) > 0 && count[0] == portionOfChores)
	}
	return more, err
}
