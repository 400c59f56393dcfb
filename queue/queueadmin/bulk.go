package queueadmin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

// A Selection selects jobs for the calls that change or count many.
type Selection struct {
	// Filter selects as for [queue.Queue.Jobs], with a Limit of 0 as no bound. Without States it selects all those that
	// the call can change. A Filter in which nothing but States and Limit is set is refused unless All is.
	queue.Filter
	// JobIDs are the jobs themselves; of the other fields only States may then be set.
	JobIDs []string
	// ErrorContains selects the jobs whose last error has the text in it, whatever its case.
	ErrorContains string
	// ErrorGroup selects the jobs whose last error is of the group: see [ErrorGroup].ID.
	ErrorGroup string
}

// BulkConfig configures a call that changes many jobs. The zero BulkConfig uses the defaults.
type BulkConfig struct {
	// Batch is the number of jobs of one transaction. Default 1,000; bounds 1 to 5,000. [Retry], which reads the jobs
	// with their payloads, has a default of 100 and an upper bound of 500.
	Batch int
	// Progress is called after each transaction with what has been done so far. Default nil: it is not called.
	Progress func(done BulkResult)
}

// A BulkResult counts what a call has done to the jobs that it has selected.
type BulkResult struct {
	// Selected are the jobs that were selected so far.
	Selected int
	// Changed are those that were changed. The others had changed since they were selected, or were as asked already,
	// or are held by a [Move].
	Changed int
	// KeyTaken are those that [Retry] has left because other jobs have taken their keys since.
	KeyTaken int
}

const (
	defaultBulk  = 1000
	maxBulk      = 5000
	defaultRetry = 100
	maxRetry     = 500
)

// RunNow makes due the queued jobs that wait for their time or for their next attempt. Their budgets stay. A job that
// waits for a signal, or sleeps, runs again and goes on waiting. Jobs that wait for a limit, a pause, a node of their
// flow or their turn in a sequence are left.
func RunNow(ctx context.Context, q *queue.Queue, sel Selection, cfg *BulkConfig) (BulkResult, error) {
	return reschedule(ctx, q, "run now", sel, cfg, time.Time{})
}

// Reschedule sets when queued jobs are due, also those that are due already. A time that has passed means at once. Jobs
// that expire before it are canceled when they do.
func Reschedule(
	ctx context.Context, q *queue.Queue, sel Selection, at time.Time, cfg *BulkConfig,
) (BulkResult, error) {
	if at.IsZero() || at.Year() > 9999 {
		err := fmt.Errorf("the time is %v; it must be set, and before the year 10000", at)
		return BulkResult{}, wrap("reschedule", "", err)
	}
	return reschedule(ctx, q, "reschedule", sel, cfg, at)
}

func reschedule(
	ctx context.Context, q *queue.Queue, op string, sel Selection, cfg *BulkConfig, at time.Time,
) (BulkResult, error) {
	b := bulk{op: op, from: []queue.State{queue.StateQueued}}
	return changeBy(ctx, q, &b, sel, cfg, func(d driver.Rescheduler) inTx {
		return func(ctx context.Context, tx *driver.WriteTx, ids []string) ([]string, error) {
			return d.RescheduleJobs(ctx, tx, ids, at)
		}
	})
}

// SetPriority sets the priority of queued jobs, which orders their claims, high first. It must fit 32 bits.
func SetPriority(
	ctx context.Context, q *queue.Queue, sel Selection, priority int, cfg *BulkConfig,
) (BulkResult, error) {
	b := bulk{op: "set priority", from: []queue.State{queue.StateQueued}}
	if int(int32(priority)) != priority {
		return BulkResult{}, wrap(b.op, "", fmt.Errorf("the priority is %d; it must fit 32 bits", priority))
	}
	return changeBy(ctx, q, &b, sel, cfg, func(d driver.Rescheduler) inTx {
		return func(ctx context.Context, tx *driver.WriteTx, ids []string) ([]string, error) {
			return d.SetPriority(ctx, tx, ids, priority)
		}
	})
}

// Delete deletes finished jobs with their payloads, results, steps, attempts and logs, as if their retention were over:
// keys of scope forever and period stay taken, and the jobs of a flow stay until it has ended. Cancel jobs first that
// are queued or running.
func Delete(ctx context.Context, q *queue.Queue, sel Selection, cfg *BulkConfig) (BulkResult, error) {
	b := bulk{op: "delete", from: finished}
	return changeBy(ctx, q, &b, sel, cfg, func(d driver.Remover) inTx {
		return func(ctx context.Context, tx *driver.WriteTx, ids []string) ([]string, error) {
			return d.RemoveFinished(ctx, tx, driver.RemoveRequest{JobIDs: ids, States: b.states})
		}
	})
}

// Cancel cancels queued and running jobs as [queue.Queue.Cancel] does each. A reason, which may be empty, becomes the
// LastError of the jobs and the error of the attempts that run.
func Cancel(
	ctx context.Context, q *queue.Queue, sel Selection, reason string, cfg *BulkConfig,
) (BulkResult, error) {
	b := bulk{op: "cancel", from: []queue.State{queue.StateQueued, queue.StateRunning}}
	return b.run(ctx, q, sel, cfg, func(ids []string) error {
		canceled, err := q.CancelJobs(ctx, ids, reason, b.states...)
		b.done.Changed += len(canceled)
		return err
	})
}

// Retry makes failed and canceled jobs due again as [queue.Queue.Retry] does each, newest first or as in JobIDs. Those
// of sequences come last, in the order in which they were enqueued.
func Retry(ctx context.Context, q *queue.Queue, sel Selection, cfg *BulkConfig) (BulkResult, error) {
	b := bulk{op: "retry", from: []queue.State{queue.StateFailed, queue.StateCanceled}, batch: defaultRetry,
		most: maxRetry, sequencesLast: true}
	return b.run(ctx, q, sel, cfg, func(ids []string) error {
		retried, err := q.RetryJobs(ctx, ids, b.states...)
		b.done.Changed += retried.Queued
		b.done.KeyTaken += retried.KeyTaken
		return err
	})
}

// Count counts the jobs that a selection selects, by state; States without jobs are absent, and Limit is ignored. It
// takes no JobIDs.
func Count(ctx context.Context, q *queue.Queue, sel Selection) (map[queue.State]int, error) {
	const op = "count"
	sel.All, sel.Limit = true, 0 // reading does no harm
	switch err := sel.validate(); {
	case q == nil:
		return nil, wrap(op, "", errNoQueue)
	case err != nil:
		return nil, wrap(op, "", err)
	case len(sel.JobIDs) > 0:
		return nil, wrap(op, "", errors.New("Selection has JobIDs"))
	case !sel.byError():
		counts, err := q.Counts(ctx, sel.Filter)
		return counts, failed(ctx, q, op, err)
	}
	counts := make(map[queue.State]int)
	for e, err := range errorsOf(ctx, q, sel.Filter) {
		if err != nil {
			return nil, failed(ctx, q, op, err)
		}
		if sel.matches(&e) {
			counts[e.State]++
		}
	}
	return counts, nil
}

var finished = []queue.State{queue.StateCompleted, queue.StateFailed, queue.StateCanceled}

// A bulk is a change of many jobs.
type bulk struct {
	op     string
	from   []queue.State // those in which it can change a job
	batch  int           // default of BulkConfig.Batch; 0: defaultBulk
	most   int           // bound of BulkConfig.Batch; 0: maxBulk
	states []queue.State // those of the selection

	sequencesLast bool // see [driver.SequencesLast]

	done BulkResult
}

type inTx = func(ctx context.Context, tx *driver.WriteTx, ids []string) (changed []string, err error)

// changeBy changes the jobs by an optional interface of the driver.
func changeBy[T any](
	ctx context.Context, q *queue.Queue, b *bulk, sel Selection, cfg *BulkConfig, by func(T) inTx,
) (BulkResult, error) {
	if q == nil {
		return BulkResult{}, wrap(b.op, "", errNoQueue)
	}
	d, ok := driver.As[T](q.DB().Driver())
	if !ok {
		return BulkResult{}, wrap(b.op, "", fmt.Errorf("a %T does not implement %s", q.DB().Driver(),
			reflect.TypeFor[T]()))
	}
	change := by(d)
	return b.run(ctx, q, sel, cfg, func(ids []string) error {
		n := 0
		err := write(ctx, q.DB().Driver(), func(ctx context.Context, tx *driver.WriteTx) error {
			changed, err := change(ctx, tx, ids)
			n = len(changed)
			return err
		})
		if err == nil {
			b.done.Changed += n
		}
		return err
	})
}

// run calls fn with the ids of the selected jobs, batch by batch.
func (b *bulk) run(
	ctx context.Context, q *queue.Queue, sel Selection, cfg *BulkConfig, fn func(ids []string) error,
) (BulkResult, error) {
	size, progress, err := b.prepare(q, &sel, cfg)
	if err != nil {
		return BulkResult{}, wrap(b.op, "", err)
	}
	batches := Selected(ctx, q, sel, size)
	if store, ok := driver.As[driver.SequenceStore](q.DB().Driver()); ok && b.sequencesLast {
		batches = driver.SequencesLast(ctx, store, batches, size)
	}
	for ids, err := range batches {
		if err == nil {
			err = fn(ids)
		}
		if err != nil {
			return b.done, failed(ctx, q, b.op, err)
		}
		b.done.Selected += len(ids)
		progress(b.done)
	}
	return b.done, nil
}

func (b *bulk) prepare(q *queue.Queue, sel *Selection, cfg *BulkConfig) (int, func(BulkResult), error) {
	size, most, progress := cmp.Or(b.batch, defaultBulk), cmp.Or(b.most, maxBulk), func(BulkResult) {}
	if cfg != nil && cfg.Progress != nil {
		progress = cfg.Progress
	}
	if cfg != nil && cfg.Batch != 0 {
		size = cfg.Batch
	}
	switch {
	case q == nil:
		return 0, nil, errNoQueue
	case size < 1 || size > most:
		return 0, nil, fmt.Errorf("BulkConfig.Batch is %d; it must be within 1 and %d", size, most)
	}
	if len(sel.States) == 0 {
		sel.States = b.from
	}
	for _, state := range sel.States {
		if !slices.Contains(b.from, state) {
			return 0, nil, fmt.Errorf("Selection.States has %q; the states of jobs that can be changed so are %q", state, b.from)
		}
	}
	b.states = sel.States
	return size, progress, sel.validate()
}

func (s *Selection) validate() error {
	rest := s.Filter
	rest.States, rest.Limit, rest.All = nil, 0, false
	empty := reflect.DeepEqual(rest, queue.Filter{}) && s.ErrorContains+s.ErrorGroup == ""
	switch {
	case len(s.JobIDs) > 0 && (!empty || s.Limit != 0 || s.All):
		return errors.New("Selection has JobIDs and other fields; beside JobIDs only States may be set")
	case len(s.JobIDs) == 0 && empty && !s.All:
		return errors.New("nothing in the Selection chooses among the jobs; set All if all are meant")
	case slices.ContainsFunc(s.JobIDs, func(id string) bool { return !isText(id) }):
		return errors.New("one of Selection.JobIDs is not valid text")
	case s.ErrorGroup != "" && !isGroup(s.ErrorGroup):
		return fmt.Errorf("Selection.ErrorGroup is %q; it must be an ErrorGroup.ID, %d hexadecimal digits", s.ErrorGroup,
			groupDigits)
	}
	return nil
}
