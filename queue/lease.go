package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/postroom-go/postroom/queue/driver"
)

// maxClaim bounds one transaction.
const maxClaim = 10_000

// Claim hands up to limit due jobs of the types, and never more than 10,000, to the worker, which is registered if it is new, and
// makes them running: highest priority first, then earliest due, then oldest. A [Dispatcher] does this, and all that follows, for
// you.
//
// The worker keeps its jobs as long as [Queue.Heartbeat] says that it lives, and ends each with [Attempt.Complete] or
// [Attempt.Fail].
func (q *Queue) Claim(ctx context.Context, workerID string, types []string, limit int) ([]*Attempt, error) {
	if workerID == "" || len(types) == 0 || limit < 1 {
		return nil, fmt.Errorf("queue: claim: worker %q, %d types, limit %d: all three must be given", cutID(workerID), len(types), limit)
	}
	if err := errors.Join(validContext(ctx), validWorker(workerID)); err != nil {
		return nil, wrap("claim", "", err)
	}
	limit = min(limit, maxClaim)
	capacities := make([]driver.TypeCapacity, len(types))
	for i, t := range types {
		if err := validText("Type", t, maxNameLength); err != nil {
			return nil, wrap("claim", "", err)
		}
		capacities[i] = driver.TypeCapacity{Type: t, Capacity: limit}
	}
	jobs, err := q.claimSome(ctx, driver.ClaimRequest{WorkerID: workerID, Types: capacities, Limit: limit})
	q.claimed(ctx, jobs)
	if err != nil {
		return nil, wrap("claim", "", err)
	}
	return q.readClaimed(ctx, jobs)
}

// claimSome repeats the claim if a driver returned none of the available jobs: to the caller, none means that there are none.
func (q *Queue) claimSome(ctx context.Context, req driver.ClaimRequest) ([]Job, error) {
	for {
		req.Now = q.now()
		result, err := q.driver.Claim(ctx, req)
		if err != nil || len(result.Jobs) > 0 || !result.More {
			return jobsOf(result.Jobs), err
		}
	}
}

// readClaimed decodes claimed jobs. Jobs that cannot be decoded here are given back as a dispatcher does it.
func (q *Queue) readClaimed(ctx context.Context, jobs []Job) ([]*Attempt, error) {
	attempts := make([]*Attempt, 0, len(jobs))
	var errs []error
	for i := range jobs {
		job := &jobs[i]
		if err := q.codecs.readClaimed(job); err != nil {
			errs = append(errs, q.fail(ctx, job, undecided(err)))
			continue
		}
		attempts = append(attempts, q.claimedByHand(job))
	}
	return attempts, errors.Join(errs...)
}

func (q *Queue) claimedByHand(job *Job) *Attempt {
	a := newAttempt(q, q.log, job, nil)
	a.byHand, a.began = true, job.StartedAt
	return a
}

// encodeAt returns the stored form of a value at a place.
func (q *Queue) encodeAt(at place, v any) (json.RawMessage, error) {
	plain, err := q.encode(v)
	if err != nil {
		return nil, err
	}
	return q.codecs.encode(plain, at, "")
}

// encode is the function encode with the bound on values that a handler stores.
func (q *Queue) encode(v any) (json.RawMessage, error) {
	plain, err := encode(v)
	if err == nil && len(plain) > q.maxPayload {
		return nil, fmt.Errorf("%w: it has %d bytes; at most %d are allowed (Config.MaxPayload)", ErrTooLarge, len(plain), q.maxPayload)
	}
	return plain, err
}

// Heartbeat says that the worker lives and checks which of the attempts still hold their jobs. The error joins an [Error]
// for each that does not: [ErrLeaseLost], [ErrNotRunning] or [ErrJobNotFound]. A worker that has been declared dead has
// lost them all.
func (q *Queue) Heartbeat(ctx context.Context, workerID string, attempts ...*Attempt) error {
	if err := errors.Join(validContext(ctx), validWorker(workerID)); err != nil {
		return wrap("heartbeat", "", err)
	}
	for _, a := range attempts {
		if err := a.made("heartbeat"); err != nil {
			return err
		}
	}
	alive, err := q.driver.Heartbeat(ctx, driver.HeartbeatRequest{WorkerID: workerID, First: len(attempts) == 0, Now: q.now()})
	if err != nil {
		return wrap("heartbeat", "", err)
	}
	answers, err := q.driver.CheckLeases(ctx, mapped(attempts, func(a *Attempt) driver.Lease { return a.job.lease() }))
	if err != nil {
		return wrap("heartbeat", "", err)
	}
	var errs []error
	for i, answer := range answers {
		if answer == nil && !alive {
			answer = ErrLeaseLost
		}
		errs = append(errs, wrap("heartbeat", attempts[i].job.ID, answer))
	}
	return errors.Join(errs...)
}

// complete completes the attempt's job in the transaction.
func (a *Attempt) complete(ctx context.Context, tx *driver.WriteTx, finish finisher) error {
	out := driver.Outcome{Lease: a.job.lease(), State: StateCompleted, Kind: KindCompleted, At: tx.Now(), Plain: a.job.plain()}
	if result := a.resultValue(); result != nil {
		stored, err := a.q.encodeAt(resultPlace(a.job.ID), result)
		if err != nil {
			return wrap("complete", a.job.ID, Fatal(fmt.Errorf("result: %w", err)))
		}
		out.Result = stored
	}
	err := finish(ctx, tx, out)
	if err == nil {
		err = a.q.recordEnd(ctx, tx, &out, a)
	}
	return wrap("complete", a.job.ID, err)
}

// A finisher writes one outcome.
type finisher func(ctx context.Context, tx *driver.WriteTx, out driver.Outcome) error

// finishLater is finish for a transaction that has no effect if the outcome is refused: the refusal may come with the next
// statement of the transaction.
func (q *Queue) finishLater(ctx context.Context, tx *driver.WriteTx, out driver.Outcome) error {
	if q.fence != nil && out.Plain {
		return q.fence.CompleteLater(ctx, tx, out)
	}
	return q.finish(ctx, tx, out)
}

// lockLease keeps a transaction from committing where the lease is not held.
func (q *Queue) lockLease(ctx context.Context, tx *driver.WriteTx, lease driver.Lease) error {
	if q.fence != nil {
		return q.fence.LockLeaseLater(ctx, tx, lease)
	}
	return q.driver.LockLease(ctx, tx, lease)
}

// refused wraps a refusal that came with a later statement of a transaction, or with its commit.
func refused(op, jobID string, err error) error {
	if e := (*Error)(nil); errors.As(err, &e) {
		return err
	}
	if errors.Is(err, ErrLeaseLost) || errors.Is(err, ErrNotRunning) || errors.Is(err, ErrJobNotFound) {
		return wrap(op, jobID, err)
	}
	return err
}

// fail ends the running attempt of a job with an error.
func (q *Queue) fail(ctx context.Context, job *Job, cause error) error {
	return q.write(ctx, func(ctx context.Context, tx *driver.WriteTx) error { return q.failTx(ctx, tx, job, cause) })
}

func (q *Queue) failTx(ctx context.Context, tx *driver.WriteTx, job *Job, cause error) error {
	out := judge(job, cause, tx.Now(), q.retry, q.budget)
	err := q.finish(ctx, tx, *q.stored(&out))
	if err == nil {
		err = q.recordFailure(ctx, tx, job, &out)
	}
	if err != nil {
		return wrap("fail", job.ID, err)
	}
	return q.driver.Notify(ctx, tx)
}

func (q *Queue) finish(ctx context.Context, tx *driver.WriteTx, out driver.Outcome) error {
	answers, err := q.driver.Finish(ctx, tx, []driver.Outcome{out})
	if err != nil {
		return err
	}
	return answers[0]
}

func (q *Queue) finishStepTx(ctx context.Context, tx *driver.WriteTx, lease driver.Lease, step StepRecord, result any) (StepRecord, error) {
	plain, err := q.encode(result)
	if err != nil {
		// Not to be retried: the step would take effect each time, and its result never be kept.
		return step, wrap("finish step "+step.Name, lease.JobID, Fatal(fmt.Errorf("result: %w", err)))
	}
	step.JobID, step.Attempt, step.FinishedAt = lease.JobID, lease.Attempt, tx.Now()
	if step.Result, err = q.codecs.encode(plain, stepPlace(lease.JobID, step.Name), ""); err != nil {
		return step, wrap("finish step "+step.Name, lease.JobID, err)
	}
	err = q.driver.FinishStep(ctx, tx, lease, driver.StepRecord(step))
	step.Result = plain
	return step, wrap("finish step "+step.Name, lease.JobID, err)
}
