package jobs

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/internal/suggest"
	"github.com/postroom-go/postroom/queue"
)

// New makes the command jobs with its own commands.
func New() *cobra.Command {
	return command.Group("jobs", "Look at jobs, retry and cancel them, and examine the queue",
		jobsList(), jobsShow(), jobsExplain(), jobsRetry(), jobsCancel(), jobsDoctor())
}

func jobsList() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List jobs, newest first", Args: cobra.NoArgs}
	place := command.NewEnvironmentFlags(cmd)
	states := cmd.Flags().StringSlice("state", nil, "only these states: queued, running, completed, failed, canceled")
	types := cmd.Flags().StringSlice("type", nil, "only these types, such as classify")
	limit := command.LimitFlag(cmd, app.MaxListed)
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		filter := queue.Filter{Types: *types, Limit: *limit}
		for _, s := range *states {
			if !slices.Contains(queue.States(), queue.State(s)) {
				return usage.Errorf("--state %s: %s", s, suggest.Instead(s, command.Texts(queue.States()), "the states are"))
			}
			filter.States = append(filter.States, queue.State(s))
		}
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			jobs, err := h.Queue.Jobs(ctx, filter)
			if err != nil {
				return err
			}
			if len(jobs) == 0 {
				if err := noteUnknownTypes(ctx, h, cmd, *types); err != nil {
					return err
				}
			}
			if *asJSON {
				return printer.JSON(cmd.OutOrStdout(), printer.List(jobs, view.NewJob))
			}
			t := printer.NewTable(cmd.OutOrStdout(), "ID", "TYPE", "STATE", "ATTEMPT", "CREATED", "ERROR")
			for _, j := range jobs {
				t.Row(printer.ShortID(j.ID), j.Type, j.State, j.Attempt, printer.Minute(j.CreatedAt), j.LastError)
			}
			return t.Flush("no jobs")
		})
	}
	return cmd
}

func jobsShow() *cobra.Command {
	cmd := &cobra.Command{Use: "show ID", Short: "Show one job with its attempts and steps", Args: cobra.ExactArgs(1)}
	place := command.NewEnvironmentFlags(cmd)
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			id, err := h.ResolveJob(ctx, args[0], "postroomd jobs list")
			if err != nil {
				return err
			}
			job, err := h.Queue.Job(ctx, id)
			if err != nil {
				return err
			}
			attempts, err := h.Queue.Attempts(ctx, job.ID)
			if err != nil {
				return err
			}
			steps, err := h.Queue.Steps(ctx, job.ID)
			if err != nil {
				return err
			}
			if *asJSON {
				shown := view.NewJob(*job)
				shown.Attempts, shown.Steps = printer.List(attempts, view.NewAttempt), printer.List(steps, view.NewStep)
				return printer.JSON(cmd.OutOrStdout(), shown)
			}
			return view.PrintJob(cmd.OutOrStdout(), job, attempts, steps)
		})
	}
	return cmd
}

func jobsRetry() *cobra.Command {
	many := &manyJobs{verb: "retry", done: "retried", from: []queue.State{queue.StateFailed, queue.StateCanceled},
		usual: []queue.State{queue.StateFailed}, one: retryOne, all: retryMany}
	return many.command("Run a failed or canceled job again, or all that are selected",
		"Run a failed or canceled job again. Without an id, the flags select jobs: all failed ones that match are run again, once you\n"+
			"have seen how many and said yes; --state canceled selects canceled ones. Those whose action has ended for good are left.")
}

func retryOne(ctx context.Context, h *app.App, cmd *cobra.Command, prefix string) error {
	id, err := h.ResolveJob(ctx, prefix, "postroomd jobs list --state failed")
	if err != nil {
		return err
	}
	if err := h.CheckRetry(ctx, id); err != nil {
		return err
	}
	err = h.Queue.Retry(ctx, id)
	switch {
	case errors.Is(err, queue.ErrNotFinished), errors.Is(err, queue.ErrFinished):
		return usage.Errorf("job %s cannot be retried: only failed and canceled jobs can (%w)", id, err)
	case err != nil:
		return err
	}
	var job *queue.Job
	done, err := h.CarryOut(ctx, func(ctx context.Context) (finished bool, err error) {
		if job, err = h.Queue.Job(ctx, id); err == nil {
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
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "job %s: %s%s\n", job.ID, job.State,
		printer.Unless(done, command.CarriedOutLater))
	return err
}

func jobsCancel() *cobra.Command {
	many := &manyJobs{verb: "cancel", done: "canceled", from: []queue.State{queue.StateQueued, queue.StateRunning},
		usual: []queue.State{queue.StateQueued, queue.StateRunning}, one: cancelOne, all: cancelMany}
	return many.command("Cancel a queued or running job, or all that are selected",
		"Cancel a queued or running job. Without an id, the flags select jobs: all queued and running ones that match are canceled,\n"+
			"once you have seen how many and said yes. An action stays queued until its canceled job is retried.")
}

func cancelOne(ctx context.Context, h *app.App, cmd *cobra.Command, prefix string) error {
	id, err := h.ResolveJob(ctx, prefix, "postroomd jobs list --state queued,running")
	if err != nil {
		return err
	}
	switch err = h.Queue.Cancel(ctx, id); {
	case errors.Is(err, queue.ErrFinished):
		return usage.Errorf("job %s cannot be canceled: only queued and running jobs can (%w)", id, err)
	case err != nil:
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "job %s: canceled\n", id)
	return err
}
