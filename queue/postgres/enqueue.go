package postgres

import (
	"context"
	"time"

	"github.com/postroom-go/postroom/internal/jobrow"
	"github.com/postroom-go/postroom/queue"
)

// Insert implements [queue.Enqueuer]: one statement, however many jobs, which waits for the commit; and one look at keys
// where there are any.
func (db *DB) Insert(ctx context.Context, tx *queue.Tx, jobs []queue.InsertJob) ([]queue.InsertResult, error) {
	results, err := takeKeys(ctx, tx, jobs)
	if err != nil {
		return nil, err
	}
	var rows insertRows
	var limited marks
	for i := range jobs {
		if !results[i].Duplicate {
			rows.add(&jobs[i], tx.Now())
			limited.add(jobs[i].LimitKey, tx.Now())
		}
	}
	if len(rows.id) == 0 {
		return results, nil
	}
	err = later(ctx, tx, insertJobs, rows.id, rows.jobType, rows.payload, rows.priority, rows.hold, rows.notBefore, rows.maxAttempts,
		rows.key, rows.scope, rows.limitKey, rows.user, rows.tags, rows.expires, rows.trace, tx.Now())
	if err != nil {
		return nil, err
	}
	return results, limited.write(ctx, tx)
}

// insertRows are jobs as the columns of one statement.
type insertRows struct {
	id, jobType, payload                    []string
	priority, hold, maxAttempts             []int
	notBefore                               []time.Time
	key, scope, limitKey, user, tags, trace []*string
	expires                                 []*time.Time
}

func (r *insertRows) add(j *queue.InsertJob, now time.Time) {
	hold, notBefore := jobrow.HoldFor(j.NotBefore, now, j.LimitKey), now
	if hold == jobrow.HoldScheduled {
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
	r.tags = append(r.tags, nullText(jobrow.NullTags(j.Tags).String))
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
