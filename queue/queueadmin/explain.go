package queueadmin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

// A Cause is a reason why a job does not run, in a form for programs.
type Cause string

// The causes.
const (
	CauseFinished   Cause = "finished"   // it has completed, failed or been canceled
	CauseRunning    Cause = "running"    // it is not due yet
	CauseScheduled  Cause = "scheduled"  // its time has not come
	CauseFlow       Cause = "flow"       // it waits for a node of its flow
	CauseSequence   Cause = "sequence"   // jobs of its sequence are ahead of it
	CauseRetry      Cause = "retry"      // it waits for its next attempt
	CauseSignal     Cause = "signal"     // it waits for a signal, or sleeps
	CauseExpired    Cause = "expired"    // it is past its ExpiresAt, and will be canceled
	CausePaused     Cause = "paused"     // its type, all types or its limit key are paused
	CauseTypeLimit  Cause = "type_limit" // its type has no capacity left on all machines together
	CauseKeyLimit   Cause = "key_limit"  // its limit key has no capacity left
	CauseMoving     Cause = "moving"     // a Move to another database holds it
	CauseNoWorker   Cause = "no_worker"  // no process is registered that runs jobs
	CauseUnhandled  Cause = "unhandled"  // processes are registered, but none handles its type
	CauseBehind     Cause = "behind"     // jobs of its type are ahead of it
	CauseNextInLine Cause = "next"       // nothing blocks it
)

// A Reason is one cause with its details.
type Reason struct {
	Cause Cause
	Text  string
	Until time.Time // when it ends; zero if unknown
}

// An Explanation is why a job does not run.
type Explanation struct {
	Job     *queue.Job
	Reasons []Reason // the most important first; at least one
}

// String formats the explanation, one line for each reason.
func (e *Explanation) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s %s is %s", e.Job.Type, e.Job.ID, e.Job.State)
	for _, r := range e.Reasons {
		s.WriteString("\n- " + r.Text)
		if !r.Until.IsZero() {
			s.WriteString(" (until " + r.Until.Format(time.RFC3339) + ")")
		}
	}
	return s.String()
}

// Explain returns the reasons why a job does not run, as text and as data. It only reads.
func Explain(ctx context.Context, q *queue.Queue, jobID string) (*Explanation, error) {
	if q == nil {
		return nil, wrap("explain", jobID, errNoQueue)
	}
	job, err := q.Job(ctx, jobID)
	if err != nil {
		return nil, wrap("explain", jobID, err)
	}
	auditor, err := auditorOf(q)
	if err != nil {
		return nil, wrap("explain", jobID, err)
	}
	e := &explainer{q: q, auditor: auditor, job: job, now: driver.Now(q.DB().Driver())}
	if err := e.explain(ctx); err != nil {
		return nil, wrap("explain", jobID, err)
	}
	return &Explanation{Job: job, Reasons: e.reasons}, nil
}

type explainer struct {
	q       *queue.Queue
	auditor driver.Auditor
	job     *queue.Job
	now     time.Time
	reasons []Reason
}

func (e *explainer) addf(cause Cause, until time.Time, format string, args ...any) {
	e.reasons = append(e.reasons, Reason{Cause: cause, Until: until, Text: fmt.Sprintf(format, args...)})
}

func (e *explainer) explain(ctx context.Context) error {
	if e.job.State != queue.StateQueued {
		e.notQueued()
		return nil
	}
	for _, check := range []func(context.Context) error{e.time, e.limits, e.workers, e.line} {
		if err := check(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (e *explainer) notQueued() {
	j := e.job
	switch j.State {
	case queue.StateRunning:
		e.addf(CauseRunning, time.Time{}, "it runs: attempt %d, on %s, since %s", j.Attempt, j.WorkerID,
			j.StartedAt.Format(time.RFC3339))
	case queue.StateCompleted:
		e.addf(CauseFinished, time.Time{}, "it has completed at %s, in attempt %d", j.FinishedAt.Format(time.RFC3339),
			j.Attempt)
	default:
		e.addf(CauseFinished, time.Time{},
			"it has %s at %s, after %d failures (of %d), %d interruptions and %d crashes: %s",
			map[queue.State]string{queue.StateFailed: "failed", queue.StateCanceled: "been canceled"}[j.State],
			j.FinishedAt.Format(time.RFC3339),
			j.Failures, j.MaxAttempts, j.Interruptions, j.Crashes, orElse(j.LastError, "no error is on record"))
	}
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func (e *explainer) time(ctx context.Context) error {
	at, err := e.auditor.StandingOf(ctx, e.job.ID)
	if err != nil {
		return err
	}
	if at.Hold == driver.HoldMoving {
		e.addf(CauseMoving, time.Time{},
			"it is being moved to another database by queueadmin.Move; if that has died, call it again")
	}
	if at.Hold == driver.HoldWaiting {
		if err := errors.Join(e.node(ctx), e.turn(ctx)); err != nil {
			return err
		}
	}
	if !e.job.ExpiresAt.IsZero() && !e.job.ExpiresAt.After(e.now) {
		e.addf(CauseExpired, time.Time{}, "it expired at %s and will be canceled", e.job.ExpiresAt.Format(time.RFC3339))
	}
	waits, err := e.signal(ctx)
	switch {
	case err != nil || waits:
	case !e.job.NotBefore.After(e.now):
	case e.job.Attempt > 0:
		e.addf(CauseRetry, e.job.NotBefore, "attempt %d ended with: %s; it waits for the next one", e.job.Attempt,
			orElse(e.job.LastError, "no error"))
	default:
		e.addf(CauseScheduled, e.job.NotBefore, "it is scheduled for later")
	}
	return err
}

// signal reports whether the latest attempt has ended to wait for a signal that has not come.
func (e *explainer) signal(ctx context.Context) (bool, error) {
	if e.job.Attempt == 0 || !e.job.NotBefore.After(e.now) {
		return false, nil
	}
	signals, err := e.q.Signals(ctx, e.job.ID)
	for _, s := range signals {
		if s.AnsweredAt.IsZero() && s.Attempt == e.job.Attempt {
			e.addf(CauseSignal, s.Until, "it waits for the signal %s, since %s", s.Name, s.AwaitedAt.Format(time.RFC3339))
			return true, nil
		}
	}
	return false, err
}

func (e *explainer) limits(ctx context.Context) error {
	uses, err := e.auditor.LimitsOn(ctx, e.stored(), e.now)
	if err != nil {
		return err
	}
	keyed := false
	for i := range uses {
		l := &uses[i]
		switch {
		case l.Kind == driver.TargetType:
			e.limit(l, CauseTypeLimit, "type "+l.Name)
			continue
		case !keyed:
			// The first limit applies. A pause always applies.
			e.limit(l, CauseKeyLimit, "limit key "+e.job.LimitKey)
		case l.Paused:
			e.addf(CausePaused, time.Time{}, "limit keys that begin with %s: paused", l.Name)
		}
		keyed = true
	}
	return nil
}

func (e *explainer) limit(l *driver.LimitUse, cause Cause, what string) {
	if l.Paused {
		if l.Name == driver.AllTypes {
			what = "all types"
		}
		e.addf(CausePaused, time.Time{}, "%s: paused", what)
	}
	if l.MaxRunning > 0 && l.Running >= l.MaxRunning {
		e.addf(cause, time.Time{}, "%s: %d of at most %d run", what, l.Running, l.MaxRunning)
	}
	if !l.Again.IsZero() {
		e.addf(cause, l.Again, "%s: at most %d start in %v", what, l.Rate, l.Per)
	}
}

// stored returns the job in the driver's form.
func (e *explainer) stored() *driver.Job {
	job := driver.Job(*e.job)
	return &job
}

func (e *explainer) workers(ctx context.Context) error {
	workers, err := e.q.DB().Driver().Workers(ctx)
	if err != nil {
		return err
	}
	workers = slices.DeleteFunc(workers, func(w driver.Worker) bool { return w.Beat < 0 || isMover(w) })
	if len(workers) == 0 {
		e.addf(CauseNoWorker, time.Time{},
			"no process is registered that runs jobs: start a Dispatcher on this database")
		return nil
	}
	if !slices.ContainsFunc(workers, func(w driver.Worker) bool {
		return w.Types == nil ||
			slices.Contains(w.Types, e.job.Type)
	}) {
		e.addf(CauseUnhandled, time.Time{}, "%d processes run jobs, and none of them has a handler for %s",
			len(workers), e.job.Type)
	}
	return nil
}

// maxAhead bounds the count of the jobs ahead.
const maxAhead = 1000

// line counts the jobs ahead, or adds that nothing blocks the job.
func (e *explainer) line(ctx context.Context) error {
	ahead, err := e.auditor.CountAhead(ctx, e.stored(), maxAhead)
	switch {
	case err != nil:
		return err
	case e.job.NotBefore.After(e.now):
	case ahead == maxAhead:
		e.addf(CauseBehind, time.Time{}, "at least %d jobs of its type are ahead of it", maxAhead)
	case ahead == 1:
		e.addf(CauseBehind, time.Time{}, "1 job of its type is ahead of it")
	case ahead > 0:
		e.addf(CauseBehind, time.Time{}, "%d jobs of its type are ahead of it", ahead)
	case len(e.reasons) == 0:
		e.addf(CauseNextInLine, time.Time{}, "nothing is in its way: the next free worker takes it")
	}
	return nil
}
