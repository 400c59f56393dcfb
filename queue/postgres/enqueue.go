package postgres

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom/internal/joblimit"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// Insert implements [driver.Enqueuer]: one statement, however many jobs, which where they are few waits for the commit; and
// one look at keys where there are any.
func (db *DB) Insert(ctx context.Context, tx *driver.WriteTx, jobs []driver.InsertJob) ([]driver.InsertResult, error) {
	// Before any key is taken: who waits for another to write it, once, has nothing that this one may want.
	if slices.ContainsFunc(jobs, func(j driver.InsertJob) bool { return strings.HasPrefix(j.LimitKey, joblimit.Coalesced) }) {
		if err := later(ctx, tx, limitCoalesced, tx.Now()); err != nil {
			return nil, err
		}
	}
	results, err := takeKeys(ctx, tx, jobs)
	if err != nil {
		return nil, err
	}
	fresh := make([]*driver.InsertJob, 0, len(jobs))
	var limited marks
	for i := range jobs {
		if !results[i].Duplicate {
			fresh = append(fresh, &jobs[i])
			limited.add(jobs[i].LimitKey, atOnce)
		}
	}
	if err := insert(ctx, tx, fresh); err != nil {
		return nil, err
	}
	return results, limited.write(ctx, tx)
}

func insert(ctx context.Context, tx *driver.WriteTx, jobs []*driver.InsertJob) error {
	own, ok := tx.Tx.(*transaction)
	switch {
	case len(jobs) == 0:
		return nil
	case len(jobs) == 1:
		return store(ctx, tx, insertJob, insertRow(jobs[0], tx.Now())...)
	case len(jobs) >= bulk && ok:
		return own.copyJobs(ctx, jobs, tx.Now())
	}
	var rows insertRows
	for _, job := range jobs {
		rows.add(job, tx.Now())
	}
	return store(ctx, tx, insertJobs, rows.id, rows.jobType, rows.payload, rows.priority, rows.hold, rows.notBefore, rows.maxAttempts,
		rows.key, rows.scope, rows.limitKey, rows.user, rows.tags, rows.expires, rows.trace, tx.Now())
}

// insertRow is a job as the arguments of a statement of its own.
func insertRow(j *driver.InsertJob, now time.Time) []any {
	hold, notBefore := jobsql.HoldFor(j.NotBefore, now, j.LimitKey), now
	if hold == driver.HoldScheduled {
		notBefore = j.NotBefore
	}
	return []any{
		j.ID, j.Type, string(j.Payload), j.Priority, int(hold), notBefore, j.MaxAttempts, nullText(j.Key.Name), nullText(string(j.Key.Scope)),
		nullText(j.LimitKey), nullText(j.UserID), nullText(jobsql.NullTags(j.Tags).String), nullTime(j.ExpiresAt), nullText(j.TraceParent), now,
	}
}

// insertRows are jobs as the columns of one statement.
type insertRows struct {
	id, jobType, payload                    []string
	priority, hold, maxAttempts             []int
	notBefore                               []time.Time
	key, scope, limitKey, user, tags, trace []*string
	expires                                 []*time.Time
}

func (r *insertRows) add(j *driver.InsertJob, now time.Time) {
	hold, notBefore := jobsql.HoldFor(j.NotBefore, now, j.LimitKey), now
	if hold == driver.HoldScheduled {
		notBefore = j.NotBefore
	}
	r.id = append(r.id, j.ID)
	r.jobType = append(r.jobType, j.Type)
	r.payload = append(r.payload, string(j.Payload))
	r.priority = append(r.priority, j.Priority)
	r.hold = append(r.hold, int(hold))
	r.notBefore = append(r.notBefore, notBefore)
	r.maxAttempts = append(r.maxAttempts, j.MaxAttempts)
	r.key = append(r.key, nullText(j.Key.Name))
	r.scope = append(r.scope, nullText(string(j.Key.Scope)))
	r.limitKey = append(r.limitKey, nullText(j.LimitKey))
	r.user = append(r.user, nullText(j.UserID))
	r.tags = append(r.tags, nullText(jobsql.NullTags(j.Tags).String))
	r.expires = append(r.expires, nullTime(j.ExpiresAt))
	r.trace = append(r.trace, nullText(j.TraceParent))
}

// nullText is NULL for the empty string.
func nullText(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// nullTime is NULL for the zero time.
func nullTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
