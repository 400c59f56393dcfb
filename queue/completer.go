package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// maxFinishing bounds the ended attempts that wait to be written; beyond it, handlers wait.
const maxFinishing = 1024

// finished is an attempt whose handler has returned, or was given up.
type finished struct {
	attempt     *Attempt
	err         error
	interrupted bool
}

// The completer writes how attempts ended: all that have come together, in one transaction.
type completer struct{ d *Dispatcher }

func newCompleter(d *Dispatcher) *completer { return &completer{d: d} }

func (c *completer) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case first := <-c.d.finished:
			batch := c.gather(first)
			c.write(ctx, batch)
			for _, f := range batch {
				c.d.running.forget(f.attempt)
			}
		}
	}
}

func (c *completer) gather(first finished) []finished {
	batch := []finished{first}
	for len(batch) < maxFinishing {
		select {
		case f := <-c.d.finished:
			batch = append(batch, f)
		default:
			return batch
		}
	}
	return batch
}

// write tries until it succeeds, or until the leases have run out: then others decide what becomes of the jobs.
func (c *completer) write(ctx context.Context, batch []finished) {
	deadline := time.Now().Add(c.d.cfg.Lease)
	for failures := 1; ; failures++ {
		err := c.try(ctx, batch)
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			c.d.log.ErrorContext(ctx, "the ends of jobs could not be written; they will run again", "jobs", len(batch), logError, err)
			return
		}
		c.d.log.WarnContext(ctx, "writing the ends of jobs failed; trying again", "jobs", len(batch), logError, err)
		sleep(ctx, min(DefaultRetry.Delay(failures), c.d.cfg.Lease/10))
	}
}

func (c *completer) try(ctx context.Context, batch []finished) error {
	var outcomes []Outcome
	var answers []error
	err := c.d.q.driver.Write(ctx, func(ctx context.Context, tx *Tx) error {
		outcomes = c.outcomes(batch, tx.Now())
		if len(outcomes) == 0 {
			return nil
		}
		var err error
		if answers, err = c.d.q.driver.Finish(ctx, tx, outcomes); err != nil {
			return err
		}
		return c.d.q.driver.Notify(ctx, tx)
	})
	if err != nil {
		return err
	}
	for i, out := range outcomes {
		c.report(ctx, out, answers[i])
	}
	return nil
}

// outcomes leaves out the jobs whose handlers have completed them.
func (c *completer) outcomes(batch []finished, now time.Time) []Outcome {
	var outcomes []Outcome
	for _, f := range batch {
		if f.attempt.completed.Load() {
			if f.err != nil {
				c.d.log.Warn("handler returned an error after it had completed its job", attemptAttrs(&f.attempt.Job, f.err)...)
			}
			continue
		}
		outcomes = append(outcomes, c.outcome(f, now))
	}
	return outcomes
}

func (c *completer) outcome(f finished, now time.Time) Outcome {
	job := &f.attempt.Job
	switch {
	case f.interrupted:
		return judgeInterruption(job, now, c.d.q.retry, c.d.q.budget)
	case f.err != nil:
		return judge(job, f.err, now, c.d.q.retry, c.d.q.budget)
	}
	out := Outcome{Lease: job.Lease(), State: StateCompleted, Kind: KindCompleted, At: now}
	if result := f.attempt.resultValue(); result != nil {
		stored, err := json.Marshal(result)
		if err != nil {
			return judge(job, Fatal(fmt.Errorf("result: %w", err)), now, c.d.q.retry, c.d.q.budget)
		}
		out.Result = stored
	}
	return out
}

func (c *completer) report(ctx context.Context, out Outcome, answer error) {
	attrs := []any{logJobID, out.Lease.JobID, logAttempt, out.Lease.Attempt}
	switch {
	case errors.Is(answer, ErrNotRunning), errors.Is(answer, ErrLeaseLost), errors.Is(answer, ErrJobNotFound):
		c.d.log.WarnContext(ctx, "what a handler reported is ignored", append(attrs, logError, answer)...)
	case out.State == StateFailed:
		c.d.log.ErrorContext(ctx, "job failed", append(attrs, logError, out.Error)...)
	case out.Kind != KindCompleted:
		c.d.log.WarnContext(ctx, "job will run again", append(attrs, logError, out.Error, "not_before", out.NotBefore)...)
	}
}

func attemptAttrs(job *Job, err error) []any {
	return []any{slog.String(logJobID, job.ID), slog.String(logJobType, job.Type), slog.Int(logAttempt, job.Attempt), slog.Any(logError, err)}
}

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
