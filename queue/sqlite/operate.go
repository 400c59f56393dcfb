package sqlite

import (
	"context"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// keyIsOpen is jobsql.Store.KeyIsOpen: claims take the jobs of a key from its heads.
const keyIsOpen = `EXISTS (SELECT 1 FROM job_heads WHERE job_heads.limit_key = waiting.limit_key)`

// selectUnfound is jobsql.Store.SelectUnfound. Of a key that is marked, or of which no head is stored, claims search for all jobs.
const selectUnfound = `
SELECT id
FROM jobs AS waiting
WHERE state = 'queued'
  AND hold = ` + jobsql.Limited + `
  AND NOT EXISTS (SELECT 1 FROM job_limit_marks WHERE job_limit_marks.limit_key = waiting.limit_key)
  AND ` + keyIsOpen + `
  AND ` + jobsql.BehindNoHead

// markKeys is jobsql.Store.MarkKeys.
func markKeys(ctx context.Context, tx *driver.WriteTx, keys []string) error {
	waiting := newMarks()
	for _, key := range keys {
		waiting.add(key)
	}
	if _, err := waiting.limited(ctx, tx); err != nil { // which stores the limit of keys that coalesce
		return err
	}
	return waiting.write(ctx, tx)
}
