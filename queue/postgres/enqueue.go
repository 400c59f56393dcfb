package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// Insert implements [driver.Enqueuer]: one statement, however many jobs, which where they are few waits for the commit;
// and one look at keys where there are any.
func (db *engine) Insert(
	ctx context.Context, tx *driver.WriteTx, jobs []driver.InsertJob,
) ([]driver.InsertResult, error) {
	// Before any key is taken: who waits for another to write it, once, has nothing that this one may want.
	if slices.ContainsFunc(jobs, func(j driver.InsertJob) bool {
		return strings.HasPrefix(j.LimitKey,
			driver.CoalescePrefix)
	}) {
		if err := later(ctx, tx, jobsql.LimitCoalesced, tx.Now()); err != nil {
			return nil, err
		}
	}
	results, err := takeKeys(ctx, tx, jobs)
	if err != nil {
		return nil, err
	}
	fresh := make([]*driver.InsertJob, 0, len(jobs))
	var limited heads
	for i := range jobs {
		if !results[i].Duplicate {
			fresh = append(fresh, &jobs[i])
			if job := &jobs[i]; jobsql.NewHold(job, tx.Now()) == driver.HoldLimited {
				limited.add(laneName{job.LimitKey, job.Type}, position{job.Priority, tx.Now(), job.ID}, true)
			}
		}
	}
	if slices.ContainsFunc(fresh, func(j *driver.InsertJob) bool { return j.Sequence != "" }) {
		db.expectTurns(tx)
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
		return store(ctx, tx, insertJob, values(jobs[0], tx.Now())...)
	case len(jobs) >= bulk && ok:
		return own.copyJobs(ctx, jobs, tx.Now())
	}
	for len(jobs) > 0 {
		n := inStatement(jobs)
		if err := store(ctx, tx, insertJobs, lists(jobs[:n], tx.Now())...); err != nil {
			return err
		}
		jobs = jobs[n:]
	}
	return nil
}

// statementBytes is how many bytes of payload one statement has: the job that reaches it is the last. The server takes
// 1 GiB.
const statementBytes = 64 << 20

// inStatement returns how many of the first jobs one statement inserts.
func inStatement(jobs []*driver.InsertJob) int {
	bytes := 0
	for i, job := range jobs {
		if bytes >= statementBytes {
			return i
		}
		bytes += len(job.Payload)
	}
	return len(jobs)
}

// bound are the columns of which jobs do not have the same value, in the order of the parameters of insertJob and
// insertJobs. The instant of the transaction is the last one.
var bound = slices.DeleteFunc(slices.Clone(jobsql.Inserted), func(c jobsql.InsertColumn) bool { return c.Same != "" })

var (
	atNow = fmt.Sprint("$", len(bound)+1)

	insertJob = "INSERT INTO /*q.*/jobs (" + jobsql.Names(jobsql.Inserted) + ")\nVALUES (" +
		each(jobsql.Inserted, func(c *jobsql.InsertColumn, place int) string { return fmt.Sprint("$", place) }) + ")"

	insertJobs = "INSERT INTO /*q.*/jobs (" + jobsql.Names(jobsql.Inserted) + ")\nSELECT " +
		each(jobsql.Inserted, func(c *jobsql.InsertColumn, _ int) string {
			if c.JSON() {
				return c.Name + "::json"
			}
			return c.Name
		}) +
		"\nFROM unnest(" + each(bound, func(c *jobsql.InsertColumn, place int) string {
		return fmt.Sprintf("$%d::%s[]",
			place, typeOf(c))
	}) +
		")\n  AS j (" + jobsql.Names(bound) + ")"

	copyJobs = "COPY /*q.*/jobs (" + jobsql.Names(jobsql.Inserted) + ")\nFROM STDIN WITH (FORMAT binary)"
)

// each lists what makes of the columns, which it tells the number of the column's parameter, or the value that all jobs
// have.
func each(columns []jobsql.InsertColumn, what func(c *jobsql.InsertColumn, place int) string) string {
	texts := make([]string, len(columns))
	place := 1
	for i := range columns {
		c := &columns[i]
		if c.Same != "" {
			texts[i] = c.SQL(c.Same, atNow+"::timestamptz")
			continue
		}
		texts[i] = what(c, place)
		place++
	}
	return strings.Join(texts, ", ")
}

// typeOf returns the type of a parameter; JSON is given as text.
func typeOf(c *jobsql.InsertColumn) string {
	switch {
	case c.Text != nil:
		return "text"
	case c.Number != nil:
		return "int"
	}
	return "timestamptz"
}

// values are the arguments of insertJob.
func values(job *driver.InsertJob, now time.Time) []any {
	j := jobsql.NewJobOf(job, now)
	args := make([]any, 0, len(bound)+1)
	for i := range bound {
		switch c := &bound[i]; {
		case c.IsNull(&j):
			args = append(args, nil)
		case c.Text != nil:
			args = append(args, c.Text(&j))
		case c.Number != nil:
			args = append(args, c.Number(&j))
		default:
			args = append(args, c.Instant(&j))
		}
	}
	return append(args, now)
}

// lists are the arguments of insertJobs: the values of all jobs, by column.
func lists(jobs []*driver.InsertJob, now time.Time) []any {
	rows := make([]jobsql.NewJob, len(jobs))
	for i, job := range jobs {
		rows[i] = jobsql.NewJobOf(job, now)
	}
	args := make([]any, 0, len(bound)+1)
	for i := range bound {
		switch c := &bound[i]; {
		case c.Text != nil && c.Nullable:
			args = append(args, listOf(rows, func(j *jobsql.NewJob) *string { return nullText(c.Text(j)) }))
		case c.Text != nil:
			args = append(args, listOf(rows, c.Text))
		case c.Number != nil:
			args = append(args, listOf(rows, c.Number))
		case c.Nullable:
			args = append(args, listOf(rows, func(j *jobsql.NewJob) *time.Time { return nullTime(c.Instant(j)) }))
		default:
			args = append(args, listOf(rows, c.Instant))
		}
	}
	return append(args, now)
}

func listOf[T any](rows []jobsql.NewJob, value func(*jobsql.NewJob) T) []T {
	list := make([]T, len(rows))
	for i := range rows {
		list[i] = value(&rows[i])
	}
	return list
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
