package postgres

import (
	"context"
	"slices"
	"strings"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// keyIsOpen is jobsql.Store.KeyIsOpen.
const keyIsOpen = `(
  EXISTS (SELECT 1 FROM job_heads WHERE job_heads.limit_key = waiting.limit_key AND open)
  OR EXISTS (SELECT 1 FROM job_limit_marks WHERE waiting.limit_key = ANY(job_limit_marks.others)))`

// markWaitingKeys is jobsql.Store.MarkKeys.
func markWaitingKeys(ctx context.Context, tx *driver.WriteTx, keys []string) error {
	if slices.ContainsFunc(keys, func(key string) bool { return strings.HasPrefix(key, driver.CoalescePrefix) }) {
		if err := later(ctx, tx, jobsql.LimitCoalesced, tx.Now()); err != nil {
			return err
		}
	}
	return later(ctx, tx, insertHeadsOfKeys, keys)
}
