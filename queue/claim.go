package queue

import (
	"context"
	"errors"
	"fmt"

	"github.com/postroom-go/postroom/queue/driver"
)

// maxClaim bounds one transaction.
const maxClaim = 10_000

// Claim hands up to limit due jobs of the types, and never more than 10,000, to the worker, which is registered if it
// is new, and makes them running: highest priority first, then earliest due, then oldest. A [Dispatcher] does this, and
// all that follows, for you.
//
// The worker keeps its jobs as long as [Queue.Heartbeat] says that it lives, and ends each with [Attempt.Complete] or
// [Attempt.Fail].
func (q *Queue) Claim(ctx context.Context, workerID string, types []string, limit int) ([]*Attempt, error) {
	if workerID == "" || len(types) == 0 || limit < 1 {
		return nil, fmt.Errorf("queue: claim: worker %q, %d types, limit %d: all three must be given", cutID(workerID),
			len(types), limit)
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

// claimSome repeats the claim if a driver returned none of the available jobs: to the caller, none means that there are
// none.
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

// Heartbeat says that the worker lives and checks which of the attempts still hold their jobs. The error joins an
// [Error] for each that does not: [ErrLeaseLost], [ErrNotRunning] or [ErrJobNotFound]. A worker that has been declared
// dead has lost them all.
func (q *Queue) Heartbeat(ctx context.Context, workerID string, attempts ...*Attempt) error {
	if err := errors.Join(validContext(ctx), validWorker(workerID)); err != nil {
		return wrap("heartbeat", "", err)
	}
	for _, a := range attempts {
		if err := a.made("heartbeat"); err != nil {
			return err
		}
	}
	alive, err := q.driver.Heartbeat(ctx, driver.HeartbeatRequest{WorkerID: workerID, First: len(attempts) == 0,
		Now: q.now()})
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

// Fail ends an attempt of [Queue.Claim] with an error: the job is retried or, when its attempts are spent or the error
// is [Fatal], failed. [RetryAfter] and [Defer] say when it is tried again. In a handler Fail is refused: a handler
// returns its error.
func (a *Attempt) Fail(ctx context.Context, cause error) error {
	if err := a.made("fail"); err != nil {
		return err
	}
	return a.q.write(ctx, func(ctx context.Context, tx *driver.WriteTx) error { return a.FailTx(ctx, tx, cause) })
}

// FailTx is Fail as part of a transaction.
func (a *Attempt) FailTx(ctx context.Context, tx Tx, cause error) error {
	if err := a.made("fail"); err != nil {
		return err
	}
	switch {
	case !a.byHand:
		return wrap("fail", a.job.ID, errors.New("a dispatcher runs this attempt: return the error from the handler"))
	case cause == nil:
		return wrap("fail", a.job.ID, errors.New("no error was given"))
	}
	w, leave, err := a.q.adopt(ctx, tx)
	if err != nil {
		return wrap("fail", a.job.ID, err)
	}
	defer leave()
	if err := a.q.failTx(ctx, w, a.job, cause); err != nil {
		return err
	}
	return wrap("fail", a.job.ID, a.q.addLogs(ctx, w, a.logLines()))
}

var errInvalidWorker = errors.New("invalid worker")

func validWorker(id string) error { return validTextOf(errInvalidWorker, "its id", id, maxNameLength) }
