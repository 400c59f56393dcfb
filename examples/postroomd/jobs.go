package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/internal/suggest"
	"github.com/postroom-go/postroom/queue"
)

func jobsCommand() *cobra.Command {
	return group("jobs", "Look at jobs, retry failed ones, and examine the queue",
		jobsList(), jobsShow(), jobsExplain(), jobsRetry(), jobsDoctor())
}

func jobsList() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List jobs, newest first", Args: cobra.NoArgs}
	place := placeFlag(cmd)
	states := cmd.Flags().StringSlice("state", nil, "only these states: queued, running, completed, failed, canceled")
	types := cmd.Flags().StringSlice("type", nil, "only these types, such as classify")
	limit := limitFlag(cmd, mostListed)
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		filter := queue.Filter{Types: *types, Limit: *limit}
		for _, s := range *states {
			if !slices.Contains(queue.States(), queue.State(s)) {
				return usage.Errorf("--state %s: %s", s, suggest.Instead(s, texts(queue.States()), "the states are"))
			}
			filter.States = append(filter.States, queue.State(s))
		}
		return look(cmd, place, func(ctx context.Context, h *host) error {
			jobs, err := h.queue.Jobs(ctx, filter)
			if err != nil {
				return err
			}
			if len(jobs) == 0 {
				if err := h.noteUnknownTypes(ctx, cmd, *types); err != nil {
					return err
				}
			}
			if *asJSON {
				return printer.JSON(cmd.OutOrStdout(), printer.List(jobs, viewJob))
			}
			t := printer.NewTable(cmd.OutOrStdout(), "ID", "TYPE", "STATE", "ATTEMPT", "CREATED", "ERROR")
			for _, j := range jobs {
				t.Row(j.ID, j.Type, j.State, j.Attempt, printer.Clock(j.CreatedAt), j.LastError)
			}
			return t.Flush("no jobs")
		})
	}
	return cmd
}

func jobsShow() *cobra.Command {
	cmd := &cobra.Command{Use: "show ID", Short: "Show one job with its attempts and steps", Args: cobra.ExactArgs(1)}
	place := placeFlag(cmd)
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return look(cmd, place, func(ctx context.Context, h *host) error {
			job, err := h.queue.Job(ctx, args[0])
			if err != nil {
				return noJob(err, args[0], "postroomd jobs list")
			}
			attempts, err := h.queue.Attempts(ctx, job.ID)
			if err != nil {
				return err
			}
			steps, err := h.queue.Steps(ctx, job.ID)
			if err != nil {
				return err
			}
			if *asJSON {
				view := viewJob(*job)
				view.Attempts, view.Steps = printer.List(attempts, viewAttempt), printer.List(steps, viewStep)
				return printer.JSON(cmd.OutOrStdout(), view)
			}
			return printJob(cmd.OutOrStdout(), job, attempts, steps)
		})
	}
	return cmd
}

func printJob(w io.Writer, j *queue.Job, attempts []queue.AttemptRecord, steps []queue.StepRecord) error {
	f := printer.NewFields(w)
	f.Add("id", j.ID)
	f.Add("type", j.Type)
	f.Add("state", j.State)
	f.Add("priority", j.Priority)
	f.Add("attempts", fmt.Sprintf("%d (%d failed of %d, %d interrupted, %d crashed)", j.Attempt, j.Failures, j.MaxAttempts, j.Interruptions, j.Crashes))
	f.Add("due", printer.Clock(j.NotBefore))
	f.Add("created", printer.Clock(j.CreatedAt))
	f.Add("started", printer.Clock(j.StartedAt))
	f.Add("finished", printer.Clock(j.FinishedAt))
	f.Add("worker", j.WorkerID)
	f.Add("key", j.Key.Name)
	f.Add("payload", string(j.Payload))
	f.Add("result", string(j.Result))
	f.Add("error", j.LastError)
	for _, s := range steps {
		state := "started, not finished"
		switch {
		case !s.FinishedAt.IsZero():
			state = string(s.Result)
		case s.Cursor != nil:
			state += ", has come to " + string(s.Cursor)
		}
		f.Add("step "+s.Name, state)
	}
	for _, a := range attempts {
		how := a.Kind
		if !a.FinishedAt.IsZero() {
			how += fmt.Sprintf(" after %v", a.FinishedAt.Sub(a.StartedAt).Round(time.Millisecond))
		}
		if a.Error != "" {
			how += ": " + a.Error
		}
		f.Add(fmt.Sprintf("attempt %d", a.Attempt), how)
		f.Add("stack", a.Stack)
	}
	return f.Flush()
}

func jobsRetry() *cobra.Command {
	cmd := &cobra.Command{Use: "retry ID", Short: "Run a failed or canceled job again", Args: cobra.ExactArgs(1)}
	place := placeFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return act(cmd, place, func(ctx context.Context, h *host) error {
			if err := h.mayRetry(ctx, args[0]); err != nil {
				return err
			}
			err := h.queue.Retry(ctx, args[0])
			switch {
			case errors.Is(err, queue.ErrNotFinished), errors.Is(err, queue.ErrFinished):
				return usage.Errorf("job %s cannot be retried: only failed and canceled jobs can (%w)", args[0], err)
			case err != nil:
				return noJob(err, args[0], "postroomd jobs list --state failed")
			}
			var job *queue.Job
			done, err := h.carryOut(ctx, func(ctx context.Context) (finished bool, err error) {
				if job, err = h.queue.Job(ctx, args[0]); err == nil {
					finished = job.State.Finished()
				}
				return finished, err
			})
			if err != nil {
				return err
			}
			if job.State == queue.StateFailed {
				return fmt.Errorf("job %s failed again: %s", job.ID, job.LastError)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "job %s: %s%s\n", job.ID, job.State, printer.Unless(done, waits))
			return err
		})
	}
	return cmd
}

// mayRetry refuses the job of a failed action: for the ledger that is final.
func (h *host) mayRetry(ctx context.Context, id string) error {
	job, err := h.queue.Job(ctx, id)
	if err != nil {
		return noJob(err, id, "postroomd jobs list --state failed")
	}
	if job.Type != string(gmail.JobAction) && job.Type != string(gmail.JobOutboundSend) {
		return nil
	}
	var payload gmail.ActionPayload // that of a sending has these fields too
	if err := json.Unmarshal(job.Payload, &payload); err != nil {
		return usage.Errorf("job %s cannot be retried: its payload cannot be read: %w", id, err)
	}
	action, err := h.ledger.Action(ctx, payload.ActionID)
	if err == nil && action.State.Final() {
		return usage.Errorf("job %s cannot be retried: its action %s is %s for good (%s)", id, action.ID, action.State, action.Error)
	}
	return err
}
