package postgres

import (
	"context"
	"slices"
	"strings"

	"github.com/postroom-go/postroom/queue/driver"
)

// keyIsOpen is jobsql.Store.KeyIsOpen: a key with capacity has jobs that are ready, or a mark.
const keyIsOpen = `FALSE`

// markWaitingKeys is jobsql.Store.MarkKeys.
func markWaitingKeys(ctx context.Context, tx *driver.WriteTx, keys []string) error {
	if slices.ContainsFunc(keys, func(key string) bool { return strings.HasPrefix(key, driver.CoalescePrefix) }) {
		if err := later(ctx, tx, limitCoalesced, tx.Now()); err != nil {
			return err
		}
	}
	var waiting marks
	for _, key := range keys {
		waiting.add(key, atOnce)
	}
	return waiting.write(ctx, tx)
}
