package jobcmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

func (h *Host) retry() *cobra.Command {
	r := &retrying{host: h}
	c := &change{host: h, verb: "retry", done: "retried", from: []queue.State{queue.StateFailed, queue.StateCanceled},
		usual: []queue.State{queue.StateFailed}, most: maxRetryBatch, one: r.one, all: r.all, print: r.print}
	return c.command("Run a failed or canceled job again, or all that are selected",
		"Run a failed or canceled job again. Without an id, the flags select jobs: all failed ones that match are run again, once you\n"+
			"have seen how many and said yes; --state canceled selects canceled ones."+h.RetryNote)
}

// A retrying is a run of the command retry.
type retrying struct {
	host  *Host
	final int // jobs that CheckRetry has refused
	later string
}

func (r *retrying) one(ctx context.Context, s *Session, cmd *cobra.Command, id string) error {
	if s.CheckRetry != nil {
		if err := s.CheckRetry(ctx, id); err != nil {
			return err
		}
	}
	err := s.Queue.Retry(ctx, id)
	switch {
	case errors.Is(err, queue.ErrNotFinished), errors.Is(err, queue.ErrFinished):
		return usage.Errorf("job %s cannot be retried: only failed and canceled jobs can (%w)", id, err)
	case err != nil:
		return err
	}
	var job *queue.Job
	look := func(ctx context.Context) (finished bool, err error) {
		if job, err = s.Queue.Job(ctx, id); err == nil {
			finished = job.State.Finished()
		}
		return finished, err
	}
	wait := s.CarryOut
	if wait == nil {
		wait = func(ctx context.Context, done func(context.Context) (bool, error)) (bool, error) { return done(ctx) }
	}
	done, err := wait(ctx, look)
	if err != nil {
		return err
	}
	if job.State == queue.StateFailed {
		return fmt.Errorf("job %s failed again: %s", job.ID, job.LastError)
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "job %s: %s%s\n", job.ID, job.State, printer.Unless(done, s.Later))
	return err
}

// all retries the selected jobs, and lets be those that cannot be retried.
func (r *retrying) all(
	ctx context.Context, s *Session, sel queueadmin.Selection, cfg *queueadmin.BulkConfig,
) (done queueadmin.BulkResult, err error) {
	r.later = s.Later
	if s.CheckRetry == nil {
		return queueadmin.Retry(ctx, s.Queue, sel, cfg)
	}
	for ids, err := range queueadmin.Selected(ctx, s.Queue, sel, retryBatch) {
		if err != nil {
			return done, err
		}
		done.Selected += len(ids)
		allowed, err := r.allowed(ctx, s, ids)
		if err != nil {
			return done, err
		}
		retried, err := s.Queue.RetryJobs(ctx, allowed, sel.States...)
		if err != nil {
			return done, err
		}
		done.Changed += retried.Queued
		done.KeyTaken += retried.KeyTaken
		cfg.Progress(done)
	}
	return done, nil
}

// maxRetryBatch is the bound of queueadmin.BulkConfig.Batch for jobs to be retried.
const maxRetryBatch = 500

// retryBatch is how many jobs one transaction retries where each is looked at first.
const retryBatch = 100

// allowed returns those of the jobs that may be retried.
func (r *retrying) allowed(ctx context.Context, s *Session, ids []string) (allowed []string, err error) {
	for _, id := range ids {
		err := s.CheckRetry(ctx, id)
		switch _, refused := errors.AsType[usage.Error](err); {
		case refused:
			r.final++
		case errors.Is(err, queue.ErrJobNotFound): // it was there when it was listed
		case err != nil:
			return nil, err
		default:
			allowed = append(allowed, id)
		}
	}
	return allowed, nil
}

func (r *retrying) print(cmd *cobra.Command, done queueadmin.BulkResult) error {
	text := printer.Count(done.Changed, "job is", "jobs are") + " to be run again"
	if done.Changed > 0 {
		text += r.later
	}
	if done.KeyTaken > 0 {
		text += "\n" + printer.Count(done.KeyTaken, "job is", "jobs are") + " left, since another has taken the key"
	}
	if r.final > 0 {
		text += "\n" + printer.Count(r.final, "job is", "jobs are") + " left, since the action has ended for good"
	}
	_, err := fmt.Fprintln(cmd.OutOrStdout(), text)
	return err
}
