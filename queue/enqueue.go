package queue

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue/driver"
)

// Enqueue stores a job. When its key is taken by a job of the same type, the result names that job; by one of another
// type, the error is [ErrKeyConflict]. [Config].StrictKeys makes another payload that error as well.
func (q *Queue) Enqueue(ctx context.Context, job NewJob) (EnqueueResult, error) {
	return one(q.EnqueueMany(ctx, []NewJob{job}))
}

// EnqueueTx is Enqueue as part of a transaction: the job exists if and when that commits.
func (q *Queue) EnqueueTx(ctx context.Context, tx Tx, job NewJob) (EnqueueResult, error) {
	return one(q.EnqueueManyTx(ctx, tx, []NewJob{job}))
}

// EnqueueScheduled is Enqueue for a job that becomes due at the given time. A job whose NotBefore is set already is
// refused with [ErrInvalidJob].
func (q *Queue) EnqueueScheduled(ctx context.Context, job NewJob, notBefore time.Time) (EnqueueResult, error) {
	if !job.NotBefore.IsZero() {
		return EnqueueResult{}, wrap("enqueue", "",
			fmt.Errorf("%w: NotBefore is set already, to %v: give the time once", ErrInvalidJob, job.NotBefore))
	}
	job.NotBefore = notBefore
	return q.Enqueue(ctx, job)
}

// EnqueueIn is Enqueue for a job that becomes due after the delay. A negative delay is refused with [ErrInvalidJob],
// and so is a job whose NotBefore is set already.
func (q *Queue) EnqueueIn(ctx context.Context, job NewJob, delay time.Duration) (EnqueueResult, error) {
	if delay < 0 {
		return EnqueueResult{}, wrap("enqueue", "", fmt.Errorf("%w: the delay is %v; it must not be negative",
			ErrInvalidJob, delay))
	}
	return q.EnqueueScheduled(ctx, job, q.now().Add(delay))
}

// EnqueueMany stores all jobs or, on any error, none. The results are in the order of the jobs. The error of a job that
// is invalid says which it is, counted from 0.
func (q *Queue) EnqueueMany(ctx context.Context, jobs []NewJob) ([]EnqueueResult, error) {
	if err := cmp.Or(q.made(), validContext(ctx)); err != nil {
		return nil, wrap("enqueue", "", err)
	}
	rows, err := q.prepare(ctx, jobs)
	if err != nil {
		return nil, wrap("enqueue", "", err)
	}
	if q.groups != nil && !q.observed(ctx) && !slices.ContainsFunc(rows, needsTransaction) {
		if err := q.groups.InsertGroup(ctx, rows); err != nil {
			return nil, wrap("enqueue", "", q.foreign(ctx, err))
		}
		return inserted(rows), nil
	}
	var results []EnqueueResult
	err = q.writeAgain(ctx, func(ctx context.Context, tx *driver.WriteTx) error {
		results, err = q.insert(ctx, tx, rows)
		return err
	})
	if err != nil {
		return nil, wrap("enqueue", "", q.foreign(ctx, err))
	}
	return results, nil
}

// foreign adds [driver.ErrForeignTables] to the error of a missing column or table if the table jobs is not the
// queue's.
func (q *Queue) foreign(ctx context.Context, err error) error {
	text := err.Error()
	if !strings.Contains(text, "column") && !strings.Contains(text, "no such table: job") &&
		!strings.Contains(text, `relation "job`) {
		return err
	}
	checker, ok := driver.As[driver.TableChecker](q.driver)
	if ok && errors.Is(checker.CheckTables(ctx), driver.ErrForeignTables) {
		return fmt.Errorf("%w: %w", driver.ErrForeignTables, err)
	}
	return err
}

// needsTransaction reports whether more than a row is read or written for the job.
func needsTransaction(row driver.InsertJob) bool {
	return row.Key.Name+row.LimitKey+row.Node+row.Sequence != ""
}

// inserted are the results of jobs that are duplicates of none.
func inserted(rows []driver.InsertJob) []EnqueueResult {
	results := make([]EnqueueResult, len(rows))
	for i := range rows {
		results[i].ID = rows[i].ID
	}
	return results
}

// EnqueueManyTx is EnqueueMany as part of a transaction. After an error that transaction must be rolled back.
func (q *Queue) EnqueueManyTx(ctx context.Context, tx Tx, jobs []NewJob) ([]EnqueueResult, error) {
	w, leave, err := q.adopt(ctx, tx)
	if err != nil {
		return nil, wrap("enqueue", "", err)
	}
	defer leave()
	rows, err := q.prepare(ctx, jobs)
	if err != nil {
		return nil, wrap("enqueue", "", err)
	}
	results, err := q.insert(ctx, w, rows)
	return results, wrap("enqueue", "", err)
}

func one(results []EnqueueResult, err error) (EnqueueResult, error) {
	if err != nil {
		return EnqueueResult{}, err
	}
	return results[0], nil
}

// prepare does the work that needs no database, outside the transaction.
func (q *Queue) prepare(ctx context.Context, jobs []NewJob) ([]driver.InsertJob, error) {
	parent, nodes := traceParent(ctx), driver.NodesOf(ctx)
	if nodes != nil {
		ctx = driver.WithNodes(ctx, nil) // a job that a hook enqueues belongs to none
	}
	rows := make([]driver.InsertJob, len(jobs))
	for i := range jobs {
		row, err := q.hooked(ctx, &jobs[i])
		if row.TraceParent = parent; err == nil && nodes != nil {
			err = ofNode(&row, nodes[i])
		}
		if err != nil {
			return nil, atJob(err, i, len(jobs), nodes)
		}
		rows[i] = row
	}
	return rows, nil
}

// ofNode makes a job one of a node, after the hooks.
func ofNode(row *driver.InsertJob, node driver.NodeRef) error {
	if row.Sequence != "" {
		return fmt.Errorf("%w: a job of a flow has no Sequence (%q): its order is that of the nodes", ErrInvalidJob,
			cutID(row.Sequence))
	}
	row.Node, row.Waits = node.ID, node.Waits
	if by := dbtime.Truncate(node.Deadline); !by.IsZero() && (row.ExpiresAt.IsZero() || by.Before(row.ExpiresAt)) {
		row.ExpiresAt = by
	}
	return nil
}

// atJob adds to an error which of the n jobs it is about, in its node if it has one.
func atJob(err error, i, n int, nodes []driver.NodeRef) error {
	switch {
	case nodes != nil:
		return fmt.Errorf("%s: %w", nodes[i], err)
	case n > 1:
		return fmt.Errorf("jobs[%d]: %w", i, err)
	}
	return err
}

// hooked is row for the job that the hooks make of a job.
func (q *Queue) hooked(ctx context.Context, given *NewJob) (driver.InsertJob, error) {
	if len(q.hooks) == 0 {
		return q.row(given)
	}
	job := *given // the caller's
	for _, hook := range q.hooks {
		if err := hook(ctx, &job); err != nil {
			return driver.InsertJob{}, err
		}
	}
	if job.PayloadVersion == 0 { // the payload that a hook has written may have no type
		job.PayloadVersion = cmp.Or(versionOf(job.Payload), versionOf(given.Payload))
	}
	return q.row(&job)
}

func (q *Queue) row(j *NewJob) (driver.InsertJob, error) {
	if err := j.validate(); err != nil {
		return driver.InsertJob{}, err
	}
	if j.Sequence != "" && q.sequences == nil {
		return driver.InsertJob{}, fmt.Errorf("%w: it has a Sequence (%q), and the database stores none: its driver implements "+
			"no driver.SequenceStore", ErrInvalidJob, cutID(j.Sequence))
	}
	payload, err := q.payload(j)
	if err != nil {
		return driver.InsertJob{}, fmt.Errorf("%w: %w", ErrInvalidJob, err)
	}
	id, err := uuid.NewV7()
	if err != nil {
		return driver.InsertJob{}, err
	}
	row := driver.InsertJob{Job: driver.Job{ID: id.String(), Type: j.Type, Options: driver.Options(j.Options)}}
	row.NotBefore, row.ExpiresAt = dbtime.Truncate(j.NotBefore), dbtime.Truncate(j.ExpiresAt)
	if row.MaxAttempts == 0 {
		row.MaxAttempts = defaultMaxAttempts
	}
	if row.PayloadVersion == 0 {
		row.PayloadVersion = versionOf(j.Payload)
	}
	if err := q.nameKey(&row, payload); err != nil {
		return driver.InsertJob{}, err
	}
	if row.Key.Scope == driver.KeyCoalesce {
		row.LimitKey = driver.CoalescePrefix + row.Key.Name
	}
	if row.Key.Name != "" {
		row.Fingerprint = q.codecs.fingerprints(row.Type, payload)[0]
	}
	if row.Payload, err = q.codecs.encode(payload, payloadPlace(row.Type, row.ID), row.Fingerprint); err != nil {
		return driver.InsertJob{}, fmt.Errorf("payload of %s: %w", j.Type, err)
	}
	return row, nil
}

// StoredForm checks a job that another queue has kept, and returns it as a driver stores it: with its payload, result
// and error encoded by [Config].Codec, and the fingerprint of its Key. Its ID, State, times and counts are as given.
// The error is [ErrInvalidJob].
func (q *Queue) StoredForm(job Job) (driver.InsertJob, error) {
	row := driver.InsertJob{Job: driver.Job(job)}
	checked := NewJob{Type: job.Type, Payload: job.Payload, Options: Options(job.Options)}
	if err := checked.validate(); err != nil {
		return row, err
	}
	payload, err := q.payload(&checked)
	if err == nil && job.Result != nil {
		row.Result, err = q.encodeAt(resultPlace(job.ID), job.Result)
	}
	if err != nil {
		return row, fmt.Errorf("%w: %w", ErrInvalidJob, err)
	}
	if job.Key.Name != "" {
		row.Fingerprint = q.codecs.fingerprints(job.Type, payload)[0]
	}
	row.LastError = q.codecs.encodeText(storable(job.LastError), errorPlace(job.ID))
	row.Payload, err = q.codecs.encode(payload, payloadPlace(job.Type, job.ID), row.Fingerprint)
	return row, err
}

func (q *Queue) insert(ctx context.Context, tx *driver.WriteTx, rows []driver.InsertJob) ([]EnqueueResult, error) {
	answers, err := q.driver.Insert(ctx, tx, rows)
	if err != nil {
		return nil, err
	}
	results := make([]EnqueueResult, len(answers))
	for i := range answers {
		results[i] = EnqueueResult{ID: answers[i].ID, Duplicate: answers[i].Duplicate}
		if answers[i].Conflict {
			if results[i].Difference, err = q.conflict(rows, i, &answers[i]); err != nil {
				return nil, err
			}
		}
	}
	if q.observed(ctx) {
		if err := q.record(ctx, tx, enqueuedEvents(tx, rows, results)...); err != nil {
			return nil, err
		}
	}
	return results, q.driver.Notify(ctx, tx)
}

// payload is the JSON of a job that may be enqueued.
func (q *Queue) payload(j *NewJob) (json.RawMessage, error) {
	if q.types != nil && !slices.Contains(q.types, j.Type) {
		return nil, fmt.Errorf("%w: Type is %q; this program knows %q (Config.Types)", ErrUnknownType, j.Type, q.types)
	}
	b, err := encode(j.Payload)
	if _, raw := j.Payload.(json.RawMessage); err == nil && !raw && replaced(b) {
		err = errors.New("not valid UTF-8: a text in it has bytes that would be replaced by U+FFFD")
	}
	if err != nil {
		return nil, fmt.Errorf("payload of %s: %w", j.Type, err)
	}
	if len(b) > q.maxPayload {
		return nil, fmt.Errorf("payload of %s has %d bytes; at most %d are allowed (Config.MaxPayload)", j.Type, len(b),
			q.maxPayload)
	}
	return b, nil
}

// replaced reports whether encoding/json has replaced bytes that are not valid UTF-8 by U+FFFD: it then writes an
// escape, and writes the character itself if that was in the text.
func replaced(text []byte) bool {
	escape := []byte(`\ufffd`)
	for {
		i := bytes.Index(text, escape)
		if i < 0 {
			return false
		}
		if before := text[:i]; (len(before)-len(bytes.TrimRight(before, `\`)))%2 == 0 {
			return true
		}
		text = text[i+len(escape):]
	}
}
