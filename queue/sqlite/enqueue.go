package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// Insert implements [driver.Enqueuer].
func (db *engine) Insert(
	ctx context.Context, tx *driver.WriteTx, jobs []driver.InsertJob,
) ([]driver.InsertResult, error) {
	results := make([]driver.InsertResult, len(jobs))
	fresh := make([]*driver.InsertJob, 0, len(jobs))
	keys := newMarks()
	for i := range jobs {
		job := &jobs[i]
		results[i] = driver.InsertResult{ID: job.ID}
		if job.Key.Name != "" {
			holder, err := takeKey(ctx, tx, job.Key, job.ID, job.Type, job.Fingerprint)
			if err != nil {
				return nil, err
			}
			if results[i] = holder; holder.Duplicate {
				continue
			}
		}
		keys.add(job.LimitKey)
		fresh = append(fresh, job)
	}
	limited, err := keys.limited(ctx, tx)
	if err != nil {
		return nil, err
	}
	var free marks // before the jobs are there
	if limited {
		if free, err = keys.free(ctx, tx); err != nil {
			return nil, err
		}
	}
	for chunk := range slices.Chunk(fresh, maxRows) {
		if err := insert(ctx, tx, chunk, limited); err != nil {
			return nil, err
		}
	}
	if err := db.addTurns(ctx, tx, fresh); err != nil || !limited {
		return results, err
	}
	for key := range free {
		delete(keys, key)
	}
	return results, errors.Join(keys.write(ctx, tx), addHeads(ctx, tx, fresh, free))
}

// An inserter inserts so many jobs by one statement. The instant of the transaction is one parameter, however many they
// are.
type inserter struct {
	texts [maxRows + 1]string
	bound []jobsql.InsertColumn // of a row
}

var (
	insertAny = newInserter(slices.Clone(jobsql.Inserted), func(c jobsql.InsertColumn) jobsql.Fixed { return c.Same })
	// Most jobs are due and have nothing but a type and a payload; each value less that is bound makes them cheaper.
	insertPlain = newInserter(
		slices.DeleteFunc(slices.Clone(jobsql.Inserted), func(c jobsql.InsertColumn) bool { return c.Nullable }), plainValue)
	// The same for those of nodes, of which there may be very many at once.
	insertInNodes = newInserter(
		slices.DeleteFunc(slices.Clone(jobsql.Inserted), func(c jobsql.InsertColumn) bool {
			return c.Nullable && c.Name != jobsql.NodeColumn
		}), plainValue)
)

func plainValue(c jobsql.InsertColumn) jobsql.Fixed { return cmp.Or(c.Same, c.Plain) }

// newInserter binds the columns of which the jobs have no fixed value in common. Those that have the instant come
// first: SQLite numbers parameters as they appear.
func newInserter(columns []jobsql.InsertColumn, fixed func(jobsql.InsertColumn) jobsql.Fixed) inserter {
	var in inserter
	slices.SortStableFunc(columns, func(a, b jobsql.InsertColumn) int {
		return cmp.Compare(afterNow(fixed(a)), afterNow(fixed(b)))
	})
	for _, c := range columns {
		if fixed(c) == "" {
			in.bound = append(in.bound, c)
		}
	}
	head := "INSERT INTO /*q.*/jobs (" + jobsql.Names(columns) + ")\nVALUES "
	in.texts = valueStatements(head, "", 2, func(next int) string {
		values := make([]string, len(columns))
		for i, c := range columns {
			if value := fixed(c); value != "" {
				values[i] = c.SQL(value, "$1")
				continue
			}
			values[i] = fmt.Sprint("$", next)
			next++
		}
		return "(" + strings.Join(values, ", ") + ")"
	}, len(in.bound))
	return in
}

func afterNow(value jobsql.Fixed) int {
	if value == jobsql.AtNow {
		return 0
	}
	return 1
}

// addTurns has the jobs of sequences join the ends of their lines. A trigger would make the insert of any job slower.
func (db *engine) addTurns(ctx context.Context, tx *driver.WriteTx, jobs []*driver.InsertJob) error {
	var rows jsonRows
	for _, job := range jobs {
		if job.Sequence != "" {
			rows.pair(job.Sequence, job.ID)
		}
	}
	if rows.empty() {
		return nil
	}
	if err := db.countEnds(ctx, tx); err != nil {
		return err
	}
	list := rows.end()
	if _, err := tx.ExecContext(ctx, insertTurns, list); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, insertTurnMarks, list)
	return err
}

func (in *inserter) insert(ctx context.Context, tx *driver.WriteTx, jobs []*driver.InsertJob, row *newRow) error {
	now := dbtime.Format(tx.Now())
	args := make([]any, 1, len(jobs)*len(in.bound)+1)
	args[0] = now
	for _, job := range jobs {
		row.read(job, tx.Now())
		for k := range in.bound {
			args = append(args, argument(&in.bound[k], &row.NewJob, now))
		}
	}
	_, err := tx.ExecContext(ctx, in.texts[len(jobs)], args...)
	return err
}

// A newRow is one job after the other as it is inserted.
type newRow struct {
	jobsql.NewJob
	limited bool // jobs with a limit key wait
}

func (r *newRow) read(job *driver.InsertJob, now time.Time) {
	r.NewJob = jobsql.NewJobOf(job, now)
	if r.Hold == driver.HoldLimited && !r.limited {
		r.Hold = driver.HoldNone
	}
}

// argument returns the bound value of a job's column. now is the formatted instant of the transaction.
func argument(c *jobsql.InsertColumn, j *jobsql.NewJob, now string) any {
	switch {
	case c.Text != nil:
		if c.Nullable {
			return null(c.Text(j))
		}
		return c.Text(j)
	case c.Number != nil:
		return c.Number(j)
	}
	switch at := c.Instant(j); {
	case c.Nullable && at.IsZero():
		return nil
	case at.Equal(j.Now):
		return now
	default:
		return dbtime.Format(at)
	}
}

// insert makes jobs with a limit key wait if keys are limited.
func insert(ctx context.Context, tx *driver.WriteTx, jobs []*driver.InsertJob, limited bool) error {
	row, in := &newRow{limited: limited}, &insertPlain
	for _, job := range jobs {
		if row.read(job, tx.Now()); !row.PlainInNode() {
			return insertAny.insert(ctx, tx, jobs, row)
		}
		if job.Node != "" {
			in = &insertInNodes
		}
	}
	return in.insert(ctx, tx, jobs, row)
}

// null is NULL for the empty string.
func null(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// takeKey answers with the holder when the key is taken by another job.
func takeKey(
	ctx context.Context, tx *driver.WriteTx, key driver.Key, jobID, jobType, fingerprint string,
) (driver.InsertResult, error) {
	var expires time.Time
	if key.Scope == driver.KeyPeriod {
		expires = tx.Now().Add(key.Period)
	}
	res, err := tx.ExecContext(ctx, insertKey, key.Name, jobID, string(key.Scope), fingerprint, dbtime.Of(expires),
		jobType, dbtime.Of(tx.Now()))
	if err != nil {
		return driver.InsertResult{}, err
	}
	if n, err := res.RowsAffected(); err != nil || n == 1 {
		return driver.InsertResult{ID: jobID}, err
	}
	var id, holds, owner string
	if err := tx.QueryRowContext(ctx, selectKey, key.Name).Scan(&id, &holds, &owner); err != nil {
		return driver.InsertResult{}, err
	}
	result := driver.InsertResult{ID: id, Duplicate: id != jobID}
	if result.Conflict = holds != fingerprint; result.Conflict {
		if result.Holder, err = holder(ctx, tx, id, holds); err == nil {
			result.Holder.Type = cmp.Or(result.Holder.Type, owner)
		}
	}
	return result, err
}

func holder(ctx context.Context, tx *driver.WriteTx, jobID, fingerprint string) (*driver.KeyHolder, error) {
	h, err := jobsql.ScanHolder(tx.QueryRowContext(ctx, jobsql.SelectHolder, jobID))
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	h.Fingerprint = fingerprint
	return &h, err
}

// Most jobs are enqueued singly and need only a row. Those of all callers that wait for their turn at the same time
// become rows of one statement, without a turn and a savepoint for each.

var _ driver.GroupInserter = (*engine)(nil)

// InsertGroup implements [driver.GroupInserter].
func (db *engine) InsertGroup(ctx context.Context, jobs []driver.InsertJob) error {
	if len(jobs) == 0 {
		return nil
	}
	return db.writer.insert(ctx, jobs)
}

// insert returns when the jobs are committed, or none of them.
func (w *writer) insert(ctx context.Context, jobs []driver.InsertJob) error {
	if err := mayBegin(ctx); err != nil {
		return err
	}
	r := &request{arrived: time.Now(), turn: make(chan struct{}), jobs: jobs}
	if w.insertAtOnce(ctx, r) {
		return advise(r.err, w.name)
	}
	if err := w.await(ctx, r); err != nil {
		return err
	}
	return advise(r.err, w.name)
}

// insertAtOnce inserts jobs on the caller's goroutine, with those of who comes meanwhile, unless somebody writes or
// waits, another process does, or the writer is to find out why it cannot. It reports whether it has.
func (w *writer) insertAtOnce(ctx context.Context, r *request) bool {
	if ctx.Err() != nil || len(w.requests) > 0 || !w.lock.tryTake() {
		return false
	}
	defer w.lock.release()
	if len(w.handed) > 0 || w.closing() || w.file.check(w.statements) != nil || w.beginOnce() != nil {
		return false
	}
	w.end(nil, w.insertsFrom(r), nil)
	return true
}

// insertsFrom returns the request and the waiting ones up to the first that has a function, which it hands to the
// writer: the function may wait for something that the caller holds.
func (w *writer) insertsFrom(first *request) []*request {
	inserts := []*request{first}
	for r := w.next(1); r != nil; r = w.next(len(inserts)) {
		if r.jobs == nil {
			w.handed <- r // it is empty while the lock is held and nobody has handed it anything
			break
		}
		inserts = append(inserts, r)
	}
	return inserts
}

// insertAll inserts the jobs of the requests with one statement if the database accepts them all, otherwise request by
// request, so that only the faulty one fails. Like run it returns an error only if the transaction is unusable.
func (w *writer) insertAll(requests []*request, behind bool) error {
	if len(requests) == 0 {
		return nil
	}
	err := w.insertSome(requests, behind || len(requests) > 1)
	if err == nil || errors.Is(err, errGone) {
		return err
	}
	if len(requests) == 1 {
		requests[0].err = err
		if !behind {
			return err
		}
		return nil
	}
	for _, r := range requests {
		if r.err = w.insertSome([]*request{r}, true); errors.Is(r.err, errGone) {
			return r.err
		}
	}
	return nil
}

// insertSome undoes its writes if it fails and others share the transaction.
func (w *writer) insertSome(requests []*request, shared bool) error {
	if shared {
		if err := w.exec("SAVEPOINT postroom_inserts"); err != nil {
			return err
		}
	}
	err := w.insertRows(requests)
	switch {
	case err != nil && w.statements.gone():
		return errors.Join(errGone, err)
	case !shared:
		return err
	case err != nil:
		if e := w.exec("ROLLBACK TO postroom_inserts"); e != nil {
			return errors.Join(errGone, fmt.Errorf("%w (rolling back after: %w)", e, err))
		}
	}
	if e := w.exec("RELEASE postroom_inserts"); e != nil {
		return errors.Join(errGone, e, err)
	}
	return err
}

func (w *writer) insertRows(requests []*request) error {
	var rows []*driver.InsertJob
	for _, r := range requests {
		for i := range r.jobs {
			rows = append(rows, &r.jobs[i])
		}
	}
	tx := driver.NewWriteTx(w.statements, driver.SQLite, w.now())
	for chunk := range slices.Chunk(rows, maxRows) {
		if err := insert(context.Background(), tx, chunk, false); err != nil {
			return err
		}
	}
	return nil
}
