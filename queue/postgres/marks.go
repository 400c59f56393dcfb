package postgres

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/joblimit"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// marks are limit keys to examine, with the time.
type marks struct {
	due  []time.Time
	keys []string
	seen map[string]struct{}
}

// add ignores the empty key and repeated keys.
func (m *marks) add(key string, due time.Time) {
	if _, ok := m.seen[key]; ok || key == "" {
		return
	}
	if m.seen == nil {
		m.seen = make(map[string]struct{})
	}
	m.seen[key] = struct{}{}
	m.due = append(m.due, due)
	m.keys = append(m.keys, key)
}

// write marks the keys as due at once, in few rows.
func (m *marks) write(ctx context.Context, tx *driver.WriteTx) error {
	if len(m.keys) == 0 {
		return nil
	}
	return store(ctx, tx, markKeys, joblimit.AtOnce, m.keys)
}

// writeOnce is for claims, which come back to the same instants again and again.
func (m *marks) writeOnce(ctx context.Context, tx *driver.WriteTx) error {
	if len(m.keys) == 0 {
		return nil
	}
	return later(ctx, tx, markKeysOnce, m.due, m.keys)
}

// keyIsOpen is jobsql.Store.KeyIsOpen.
const keyIsOpen = `(
  EXISTS (SELECT 1 FROM /*q.*/job_heads WHERE job_heads.limit_key = waiting.limit_key AND open)
  OR EXISTS (SELECT 1 FROM /*q.*/job_limit_marks WHERE waiting.limit_key = ANY(job_limit_marks.others)))`

// markWaitingKeys is jobsql.Store.MarkKeys.
func markWaitingKeys(ctx context.Context, tx *driver.WriteTx, keys []string) error {
	if slices.ContainsFunc(keys, func(key string) bool { return strings.HasPrefix(key, driver.CoalescePrefix) }) {
		if err := later(ctx, tx, jobsql.LimitCoalesced, tx.Now()); err != nil {
			return err
		}
	}
	return later(ctx, tx, insertHeadsOfKeys, keys)
}
