package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/postroom-go/postroom/queue/driver"
)

// A RetryPolicy is how long a failed job waits for its next attempt: Base × Factor^(failures−1), at most Cap, then
// multiplied by a random number within 1 ± Jitter.
type RetryPolicy struct {
	Base   time.Duration // at least 1 ms
	Factor float64       // at least 1
	Cap    time.Duration // at least Base
	Jitter float64       // from 0 to 1
}

var (
	// DefaultRetry waits 2 s, 4 s, 8 s, … up to 5 minutes, ± 25 %.
	DefaultRetry = RetryPolicy{Base: 2 * time.Second, Factor: 2, Cap: 5 * time.Minute, Jitter: 0.25}
	// SlowRetry waits 30 s, 1 min, 2 min, … up to 15 minutes, exactly.
	SlowRetry = RetryPolicy{Base: 30 * time.Second, Factor: 2, Cap: 15 * time.Minute}
)

// after is the wait after the given number of failures; the first is 1.
func (p RetryPolicy) after(failures int) time.Duration {
	wait := p.Cap
	if grown := float64(p.Base) * math.Pow(p.Factor, float64(failures-1)); grown < float64(wait) {
		wait = time.Duration(grown)
	}
	b := backoff.ExponentialBackOff{
		InitialInterval: wait, Multiplier: 1, MaxInterval: wait, RandomizationFactor: p.Jitter,
		Clock: backoff.SystemClock,
	}
	b.Reset()
	return b.NextBackOff()
}

// maxRetryCap keeps sums of delays well below the maximum of a duration.
const maxRetryCap = 10 * 365 * 24 * time.Hour

func (p RetryPolicy) validate() error {
	switch {
	case p.Base < time.Millisecond:
		return fmt.Errorf("Retry.Base is %v; it must be at least 1ms", p.Base)
	case !(p.Factor >= 1) || math.IsInf(p.Factor, 0): // also for NaN
		return fmt.Errorf("Retry.Factor is %v; it must be a number of at least 1", p.Factor)
	case p.Cap < p.Base || p.Cap > maxRetryCap:
		return fmt.Errorf("Retry.Cap is %v; it must be at least Retry.Base (%v), and at most %v", p.Cap, p.Base,
			maxRetryCap)
	case !(p.Jitter >= 0 && p.Jitter <= 1):
		return fmt.Errorf("Retry.Jitter is %v; it must be within 0 and 1", p.Jitter)
	}
	return nil
}

// A Budget bounds how often one job may end without success, separately for each cause. Failures are bounded by the
// job's own MaxAttempts.
type Budget struct {
	// Interruptions is how many deferrals and shutdowns a job survives; the next one ends it. Default 1000.
	Interruptions int
	// Crashes is how many deaths of its process a job survives that had begun. The next one ends it, since the job may
	// kill its workers. Default 5.
	Crashes int
}

func (b Budget) validate() error {
	switch {
	case b.Interruptions < 0:
		return fmt.Errorf("Budget.Interruptions is %d; it must be at least 0", b.Interruptions)
	case b.Crashes < 0:
		return fmt.Errorf("Budget.Crashes is %d; it must be at least 0", b.Crashes)
	}
	return nil
}

func (b Budget) withDefaults() Budget {
	if b.Interruptions == 0 {
		b.Interruptions = 1000
	}
	if b.Crashes == 0 {
		b.Crashes = 5
	}
	return b
}

// maxErrorText is how many bytes of an error or a stack are kept.
const maxErrorText = 32 << 10

// judge turns a handler's error into the outcome of the job. Budgets and backoff are applied only here.
func judge(job *Job, err error, now time.Time, policy RetryPolicy, budget Budget) driver.Outcome {
	var v *verdict
	if !errors.As(err, &v) {
		v = &verdict{err: err}
	}
	out := driver.Outcome{Lease: job.lease(), State: StateQueued, Kind: KindFailed, Error: storable(err.Error()),
		At: now}
	if p, ok := errors.AsType[*PanicError](err); ok {
		out.Stack = storable(p.Stack)
	}
	switch {
	case v.fatal:
		out.State = StateFailed
	case v.canceled:
		out.State, out.Kind = StateCanceled, KindCanceled
	case errors.Is(err, driver.ErrDeadlock) && v.delay == 0 && !v.spared:
		v.delay = policy.after(job.Interruptions + 1)
		fallthrough
	case v.spared:
		out.Kind = KindInterrupted
		if job.Interruptions >= budget.Interruptions {
			out.State = StateFailed
			out.Error = fmt.Sprintf("%s (gave up after %d interruptions)", out.Error, job.Interruptions+1)
		}
		out.NotBefore = now.Add(v.delay)
	case job.Failures >= job.MaxAttempts-1:
		out.State = StateFailed
	default:
		delay := v.delay
		if delay <= 0 {
			delay = policy.after(job.Failures + 1)
		}
		out.NotBefore = now.Add(delay)
	}
	return out
}

// storable turns any text into one that every database accepts, and shortens it to what a person reads.
func storable(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
	if len(text) > maxErrorText {
		text = strings.ToValidUTF8(text[:maxErrorText], "") + "…"
	}
	return text
}

// RedriveResult counts the outcomes of the jobs that [Queue.Redrive] found.
type RedriveResult struct {
	// Queued jobs are due again.
	Queued int
	// KeyTaken is how many were left as they are because other jobs have taken their keys since.
	KeyTaken int
}

// redriveBatch is how many jobs one transaction retries.
const redriveBatch = 100

// Redrive retries all jobs that match, as [Queue.Retry] does each: the failed ones, or those of the filter's States,
// which may be failed and canceled. A Limit of 0 means all; it has no upper bound. Jobs are retried newest first, in
// transactions of 100, and then those of sequences, in the order in which they were enqueued. On an error the result
// counts those whose transactions have committed. A job that is no longer finished when its transaction comes to it is
// skipped.
func (q *Queue) Redrive(ctx context.Context, filter Filter) (RedriveResult, error) {
	if len(filter.States) == 0 {
		filter.States = []State{StateFailed}
	}
	for _, state := range filter.States {
		if state != StateFailed && state != StateCanceled {
			return RedriveResult{}, fmt.Errorf(
				"queue: redrive: Filter.States has %s; only failed and canceled jobs can be retried", state)
		}
	}
	var done RedriveResult
	batches := driver.SequencesLast(ctx, q.sequences, q.jobIDs(ctx, filter, redriveBatch), redriveBatch)
	err := q.eachBatch(ctx, filter, batches, func(ids []string) error {
		batch, err := q.retryJobs(ctx, ids, filter.States)
		done.Queued += batch.Queued
		done.KeyTaken += batch.KeyTaken
		return err
	})
	return done, wrap("redrive", "", err)
}

// RetryJobs retries those of the jobs that are in one of the states, which are failed and canceled if there are none,
// as [Queue.Retry] does each; those of sequences come last, in the order in which they were enqueued. All is one
// transaction, so that at most some thousand jobs should be given.
func (q *Queue) RetryJobs(ctx context.Context, jobIDs []string, states ...State) (RedriveResult, error) {
	if len(states) == 0 {
		states = []State{StateFailed, StateCanceled}
	}
	done, err := q.retryJobs(ctx, mapped(jobIDs, lookup), states)
	return done, wrap("retry jobs", "", err)
}

// retryJobs retries jobs in one transaction.
func (q *Queue) retryJobs(ctx context.Context, ids []string, states []State) (done RedriveResult, err error) {
	err = q.writeAgain(ctx, func(ctx context.Context, tx *driver.WriteTx) error {
		done = RedriveResult{}
		ordered, err := q.inOrder(ctx, tx, states, ids)
		if err != nil {
			return err
		}
		for _, id := range ordered {
			switch err := q.retryOne(ctx, tx, id); {
			case errors.Is(err, ErrKeyConflict):
				done.KeyTaken++
			case err == nil:
				done.Queued++
			case !passedBy(err):
				return wrap("retry", id, err)
			}
		}
		return q.driver.Notify(ctx, tx)
	})
	if err != nil {
		return RedriveResult{}, err
	}
	return done, nil
}

// inOrder returns the ids of the jobs that are in one of the states, in the order in which enqueues lock the keys of
// jobs, so that transactions do not deadlock. Those of one key are newest first. Jobs of sequences, which join the ends
// of their lines, come last and oldest first.
func (q *Queue) inOrder(ctx context.Context, tx *driver.WriteTx, states []State, ids []string) ([]string, error) {
	jobs, err := q.driver.ReadJobs(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	jobs = slices.DeleteFunc(jobs, func(job driver.Job) bool { return !slices.Contains(states, job.State) })
	slices.SortFunc(jobs, func(a, b driver.Job) int {
		switch {
		case a.Sequence == "" && b.Sequence == "":
			return cmp.Or(cmp.Compare(a.Key.Name, b.Key.Name), cmp.Compare(b.ID, a.ID))
		case a.Sequence != "" && b.Sequence != "":
			return cmp.Compare(a.ID, b.ID)
		}
		return cmp.Compare(min(1, len(a.Sequence)), min(1, len(b.Sequence)))
	})
	ordered := make([]string, len(jobs))
	for i := range jobs {
		ordered[i] = jobs[i].ID
	}
	return ordered, nil
}

// Retry makes a failed or canceled job due again, with its whole budget; the results of its steps are kept. The error
// is [ErrNotFinished], [ErrFinished] (a completed job), [ErrJobNotFound], or [ErrKeyConflict] if another job has taken
// its key since.
func (q *Queue) Retry(ctx context.Context, jobID string) error {
	return q.writeAgain(ctx, func(ctx context.Context, tx *driver.WriteTx) error { return q.RetryTx(ctx, tx, jobID) })
}

// RetryTx is Retry as part of a transaction.
func (q *Queue) RetryTx(ctx context.Context, tx Tx, jobID string) error {
	w, leave, err := q.adopt(ctx, tx)
	if err != nil {
		return wrap("retry", jobID, err)
	}
	defer leave()
	if err := q.retryOne(ctx, w, jobID); err != nil {
		return wrap("retry", jobID, err)
	}
	return q.driver.Notify(ctx, w)
}

// Hasten makes a queued job due that is to run later, for example because what it waits for has come. Its budgets are
// what they are. A job that runs, is due, has finished or is no more is left as it is, and is no error.
func (q *Queue) Hasten(ctx context.Context, jobID string) error {
	return q.writeAgain(ctx, func(ctx context.Context, tx *driver.WriteTx) error {
		if err := q.driver.Hasten(ctx, tx, lookup(jobID)); err != nil {
			return wrap("hasten", jobID, err)
		}
		return q.driver.Notify(ctx, tx)
	})
}

func (q *Queue) retryOne(ctx context.Context, tx *driver.WriteTx, jobID string) error {
	if err := q.driver.Retry(ctx, tx, lookup(jobID)); err != nil || !q.observed(ctx) {
		return err
	}
	return q.record(ctx, tx, Event{Kind: EventRetried, JobID: jobID, NotBefore: tx.Now()})
}
