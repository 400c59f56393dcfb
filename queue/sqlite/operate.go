package sqlite

import (
	"context"

	"github.com/postroom-go/postroom/queue/driver"
)

// keyIsOpen is jobsql.Store.KeyIsOpen: claims take the jobs of a key from its fronts.
const keyIsOpen = `EXISTS (SELECT 1 FROM job_fronts WHERE job_fronts.limit_key = waiting.limit_key)`

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
