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

// Claim hands up to limit due jobs of the types, and never more than 10,000, to the worker, which is registered if it is new,
// and makes them running: highest priority first, then earliest due, then oldest. A [Dispatcher] does this, and all that follows, for you.
//
// The worker keeps its jobs as long as [Queue.Heartbeat] says that it lives, and ends each with Complete or Fail.
func (q *Queue) Claim(ctx context.Context, workerID string, types []string, limit int) ([]Job, error) {
	if workerID == "" || len(types) == 0 || limit < 1 {
		return nil, fmt.Errorf("queue: claim: worker %q, %d types, limit %d: all three must be given", workerID, len(types), limit)
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

// claimSome goes on where a driver has got none as yet of what there is: to the caller, none means that there is nothing.
func (q *Queue) claimSome(ctx context.Context, req driver.ClaimRequest) ([]Job, error) {
	for {
		req.Now = q.now()
		result, err := q.driver.Claim(ctx, req)
		if err != nil || len(result.Jobs) > 0 || !result.More {
			return jobsOf(result.Jobs), err
		}
	}
}

// readClaimed decodes what was claimed. Jobs that cannot be read here are given back as a dispatcher does it.
func (q *Queue) readClaimed(ctx context.Context, jobs []Job) ([]Job, error) {
	readable := jobs[:0]
	var errs []error
	for i := range jobs {
		job := jobs[i]
		if err := q.codecs.readJob(&job); err == nil {
			readable = append(readable, job)
		} else {
			errs = append(errs, q.Fail(ctx, &job, undecided(err)))
		}
	}
	return readable, errors.Join(errs...)
}

// encodeAt makes of a value what is stored of it at the place.
func (q *Queue) encodeAt(at place, v any) (json.RawMessage, error) {
	plain, err := q.encode(v)
	if err != nil {
		return nil, err
	}
	return q.codecs.encode(plain, at, "")
}

// encode is encode within the bound of what a handler may have stored.
func (q *Queue) encode(v any) (json.RawMessage, error) {
	plain, err := encode(v)
	if err == nil && len(plain) > q.maxPayload {
		return nil, fmt.Errorf("%w: it has %d bytes; at most %d are allowed (Config.MaxPayload)", ErrTooLarge, len(plain), q.maxPayload)
	}
	return plain, err
}

// Heartbeat says that the worker lives and checks the leases it believes to hold. The error joins an [Error] for each
// that is held no more: [ErrLeaseLost], [ErrNotRunning] or [ErrJobNotFound]. A worker that has been declared dead has
// lost them all.
func (q *Queue) Heartbeat(ctx context.Context, workerID string, leases ...Lease) error {
	if err := errors.Join(validContext(ctx), validWorker(workerID)); err != nil {
		return wrap("heartbeat", "", err)
	}
	alive, err := q.driver.Heartbeat(ctx, driver.HeartbeatRequest{WorkerID: workerID, First: len(leases) == 0, Now: q.now()})
	if err != nil {
		return wrap("heartbeat", "", err)
	}
	answers, err := q.driver.CheckLeases(ctx, mapped(leases, Lease.lookup))
	if err != nil {
		return wrap("heartbeat", "", err)
	}
	var errs []error
	for i, answer := range answers {
		if answer == nil && !alive {
			answer = ErrLeaseLost
		}
		errs = append(errs, wrap("heartbeat", leases[i].JobID, answer))
	}
	return errors.Join(errs...)
}

// Complete ends a running job with success; result, unless nil, is stored as JSON. One that is no JSON, or is too large
// ([ErrTooLarge]), is a [Fatal] error, and nothing is written.
func (q *Queue) Complete(ctx context.Context, lease Lease, result any) error {
	return q.write(ctx, func(ctx context.Context, tx *driver.WriteTx) error { return q.CompleteTx(ctx, tx, lease, result) })
}

// CompleteTx is Complete as part of a transaction: the job is completed if and when that commits.
func (q *Queue) CompleteTx(ctx context.Context, tx Tx, lease Lease, result any) error {
	w, err := q.join(ctx, tx)
	if err != nil {
		return wrap("complete", lease.JobID, err)
	}
	return q.complete(ctx, w, lease, result, nil, q.finish)
}

// complete knows the attempt where a dispatcher runs it.
func (q *Queue) complete(ctx context.Context, tx *driver.WriteTx, lease Lease, result any, a *Attempt, finish finisher) error {
	out := driver.Outcome{Lease: lease.lookup(), State: StateCompleted, Kind: KindCompleted, At: tx.Now(), Plain: a != nil && a.job.plain()}
	if result != nil {
		stored, err := q.encodeAt(resultPlace(lease.JobID), result)
		if err != nil {
			return wrap("complete", lease.JobID, Fatal(fmt.Errorf("result: %w", err)))
		}
		out.Result = stored
	}
	err := finish(ctx, tx, out)
	if err == nil {
		err = q.recordEnd(ctx, tx, &out, a)
	}
	return wrap("complete", lease.JobID, err)
}

// A finisher writes one outcome.
type finisher func(ctx context.Context, tx *driver.WriteTx, out driver.Outcome) error

// finishLater is finish for a transaction that comes to nothing where the outcome is refused: the refusal may come with what
// the transaction does next.
func (q *Queue) finishLater(ctx context.Context, tx *driver.WriteTx, out driver.Outcome) error {
	if q.fence != nil && out.Plain {
		return q.fence.CompleteLater(ctx, tx, out)
	}
	return q.finish(ctx, tx, out)
}

// lockLease keeps a transaction from committing where the lease is not held.
func (q *Queue) lockLease(ctx context.Context, tx *driver.WriteTx, lease Lease) error {
	if q.fence != nil {
		return q.fence.LockLeaseLater(ctx, tx, driver.Lease(lease))
	}
	return q.driver.LockLease(ctx, tx, driver.Lease(lease))
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

// Fail ends an attempt that a claim returned with an error: the job is retried or, when its attempts are spent or the
// error is [Fatal], failed. [RetryAfter] and [Defer] say when it is tried again.
func (q *Queue) Fail(ctx context.Context, job *Job, cause error) error {
	return q.write(ctx, func(ctx context.Context, tx *driver.WriteTx) error { return q.FailTx(ctx, tx, job, cause) })
}

// FailTx is Fail as part of a transaction.
func (q *Queue) FailTx(ctx context.Context, tx Tx, job *Job, cause error) error {
	w, err := q.join(ctx, tx)
	if err != nil {
		return wrap("fail", job.ID, err)
	}
	if cause == nil {
		return wrap("fail", job.ID, errors.New("no error was given"))
	}
	out := judge(job, cause, w.Now(), q.retry, q.budget)
	out.Lease = job.Lease().lookup()
	err = q.finish(ctx, w, *q.stored(&out))
	if err == nil {
		err = q.recordFailure(ctx, w, job, &out)
	}
	if err != nil {
		return wrap("fail", job.ID, err)
	}
	return q.driver.Notify(ctx, w)
}

func (q *Queue) finish(ctx context.Context, tx *driver.WriteTx, out driver.Outcome) error {
	answers, err := q.driver.Finish(ctx, tx, []driver.Outcome{out})
	if err != nil {
		return err
	}
	return answers[0]
}

// StartStep records that a step begins, before it does. It is for steps whose having been tried matters, such as a
// request that must not be repeated blindly; [Step] wraps the usual case.
func (q *Queue) StartStep(ctx context.Context, lease Lease, name string) error {
	if err := validStep(name); err != nil {
		return wrap("start step", lease.JobID, err)
	}
	return q.write(ctx, func(ctx context.Context, tx *driver.WriteTx) error {
		return wrap("start step "+name, lease.JobID, q.driver.StartStep(ctx, tx, lease.lookup(), name))
	})
}

// FinishStep stores a step's result as JSON; the error is [Fatal] when it is none, or is too large ([ErrTooLarge]).
func (q *Queue) FinishStep(ctx context.Context, lease Lease, name string, result any) error {
	if err := validStep(name); err != nil {
		return wrap("finish step", lease.JobID, err)
	}
	return q.write(ctx, func(ctx context.Context, tx *driver.WriteTx) error {
		_, err := q.finishStepTx(ctx, tx, lease, StepRecord{Name: name, StartedAt: tx.Now()}, result)
		return err
	})
}

func (q *Queue) finishStepTx(ctx context.Context, tx *driver.WriteTx, lease Lease, step StepRecord, result any) (StepRecord, error) {
	plain, err := q.encode(result)
	if err != nil {
		// Not to be retried: the step would take effect each time, and its result never be kept.
		return step, wrap("finish step "+step.Name, lease.JobID, Fatal(fmt.Errorf("result: %w", err)))
	}
	step.JobID, step.Attempt, step.FinishedAt = lookup(lease.JobID), lease.Attempt, tx.Now()
	if step.Result, err = q.codecs.encode(plain, stepPlace(lease.JobID, step.Name), ""); err != nil {
		return step, wrap("finish step "+step.Name, lease.JobID, err)
	}
	err = q.driver.FinishStep(ctx, tx, lease.lookup(), driver.StepRecord(step))
	step.Result = plain
	return step, wrap("finish step "+step.Name, lease.JobID, err)
}
