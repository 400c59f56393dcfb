package jobcmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/cli/cmdline"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/queuectl/jobview"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

func (h *Host) list() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List jobs, newest first", Args: cobra.NoArgs}
	open := h.Place(cmd)
	var flags selectFlags
	flags.add(cmd, queue.States(), h.All)
	limit := cmdline.LimitFlag(cmd, h.maxListed())
	asJSON := cmdline.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		sel, err := flags.selection(queue.States(), "the states are")
		if err != nil {
			return err
		}
		sel.Limit, sel.All = *limit, true
		return open(cmd, false, func(ctx context.Context, s *Session) error {
			jobs, err := jobsOf(ctx, s.Queue, sel)
			if err != nil {
				return err
			}
			if len(jobs) == 0 {
				if err := h.noteUnknownTypes(ctx, s, cmd, flags.types); err != nil {
					return err
				}
			}
			if *asJSON {
				return printer.JSON(cmd.OutOrStdout(), printer.List(jobs, jobview.NewJob))
			}
			return printJobs(cmd, jobs)
		})
	}
	return cmd
}

func printJobs(cmd *cobra.Command, jobs []queue.Job) error {
	t := printer.NewTable(cmd.OutOrStdout(), "ID", "TYPE", "STATE", "ATTEMPT", "CREATED", "ERROR")
	for _, j := range jobs {
		t.Row(printer.ShortID(j.ID), j.Type, j.State, j.Attempt, printer.Minute(j.CreatedAt), j.LastError)
	}
	return t.Flush("no jobs")
}

// listedAtOnce is how many ids are read at once.
const listedAtOnce = 1000

// jobsOf reads the selected jobs, at most Limit.
func jobsOf(ctx context.Context, q *queue.Queue, sel queueadmin.Selection) ([]queue.Job, error) {
	if sel.ErrorContains+sel.ErrorGroup == "" {
		return q.Jobs(ctx, sel.Filter)
	}
	var jobs []queue.Job
	for ids, err := range queueadmin.Selected(ctx, q, sel, listedAtOnce) {
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			job, err := q.Job(ctx, id)
			switch {
			case errors.Is(err, queue.ErrJobNotFound): // deleted meanwhile
			case err != nil:
				return nil, err
			default:
				jobs = append(jobs, *job)
			}
		}
	}
	return jobs, nil
}

func (h *Host) show() *cobra.Command {
	cmd := &cobra.Command{Use: "show ID", Short: "Show one job with its attempts and steps", Args: cobra.ExactArgs(1)}
	open := h.Place(cmd)
	asJSON := cmdline.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return open(cmd, false, func(ctx context.Context, s *Session) error {
			id, err := h.resolve(ctx, s, args[0], "")
			if err != nil {
				return err
			}
			job, err := s.Queue.Job(ctx, id)
			if err != nil {
				return err
			}
			attempts, err := s.Queue.Attempts(ctx, job.ID)
			if err != nil {
				return err
			}
			steps, err := s.Queue.Steps(ctx, job.ID)
			if err != nil {
				return err
			}
			if *asJSON {
				shown := jobview.NewJob(*job)
				shown.Attempts = printer.List(attempts, jobview.NewAttempt)
				shown.Steps = printer.List(steps, jobview.NewStep)
				return printer.JSON(cmd.OutOrStdout(), shown)
			}
			return jobview.PrintJob(cmd.OutOrStdout(), job, attempts, steps)
		})
	}
	return cmd
}

func (h *Host) explain() *cobra.Command {
	cmd := &cobra.Command{Use: "explain ID", Short: "Tell why a job does not run", Args: cobra.ExactArgs(1)}
	open := h.Place(cmd)
	asJSON := cmdline.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return open(cmd, false, func(ctx context.Context, s *Session) error {
			id, err := h.resolve(ctx, s, args[0], "")
			if err != nil {
				return err
			}
			e, err := queueadmin.Explain(ctx, s.Queue, id)
			if err != nil {
				return err
			}
			if *asJSON {
				return printer.JSON(cmd.OutOrStdout(), printer.List(e.Reasons, jobview.NewReason))
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), printer.PrintableLines(e.String()))
			return err
		})
	}
	return cmd
}

func (h *Host) errorGroups() *cobra.Command {
	cmd := &cobra.Command{Use: "errors", Args: cobra.NoArgs,
		Short: "Group the last errors of jobs, the largest group first",
		Long: "Group the last errors of jobs that have not completed, the newest 10,000 of each state: errors of a type that differ\n" +
			"only in numbers, ids and quoted parts are one group. Its id selects its jobs: --error-group ID."}
	open := h.Place(cmd)
	var flags selectFlags
	flags.add(cmd, queue.States(), false)
	asJSON := cmdline.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		sel, err := flags.selection(queue.States(), "the states are")
		if err != nil {
			return err
		}
		return open(cmd, false, func(ctx context.Context, s *Session) error {
			groups, err := queueadmin.ErrorGroups(ctx, s.Queue, sel.Filter)
			if err != nil {
				return err
			}
			if *asJSON {
				return printer.JSON(cmd.OutOrStdout(), printer.List(groups, jobview.NewErrorGroup))
			}
			t := printer.NewTable(cmd.OutOrStdout(), "GROUP", "TYPE", "JOBS", "LAST", "EXAMPLE", "ERROR")
			for _, g := range groups {
				t.Row(g.ID, g.Type, g.Jobs, printer.Minute(g.LastSeen), printer.ShortID(g.JobID), g.Text)
			}
			return t.Flush("no errors")
		})
	}
	return cmd
}

func (h *Host) doctor() *cobra.Command {
	cmd := &cobra.Command{Use: "doctor", Short: "Examine the database and what the queue promises of it",
		Args: cobra.NoArgs}
	open := h.Place(cmd)
	asJSON := cmdline.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return open(cmd, false, func(ctx context.Context, s *Session) error {
			findings, err := queueadmin.Doctor(ctx, s.Queue)
			if err != nil {
				return err
			}
			if *asJSON {
				err = printer.JSON(cmd.OutOrStdout(), printer.List(findings, jobview.NewFinding))
			} else {
				err = PrintLines(cmd, findings)
			}
			for _, f := range findings {
				if err == nil && f.Severity == queueadmin.SeverityProblem {
					return ErrFindings
				}
			}
			return err
		})
	}
	return cmd
}

// PrintLines prints each of the values on a line.
func PrintLines[T fmt.Stringer](cmd *cobra.Command, values []T) error {
	for _, v := range values {
		if _, err := fmt.Fprintln(cmd.OutOrStdout(), printer.Printable(v.String())); err != nil {
			return err
		}
	}
	return nil
}
