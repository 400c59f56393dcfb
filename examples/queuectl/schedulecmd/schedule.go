// Package schedulecmd has the commands that show and change schedules.
package schedulecmd

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/cli/cmdline"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/queuectl/jobcmd"
	"github.com/postroom-go/postroom/examples/queuectl/jobview"
	"github.com/postroom-go/postroom/queue"
)

type placer = func(*cobra.Command) jobcmd.Opener

// New makes the command schedules with its own commands.
func New(place placer) *cobra.Command {
	return cmdline.Group("schedules", "Show, fire, pause and edit schedules", list(place), fire(place), edit(place),
		change(place, "pause", "Keep a schedule from firing", "paused", (*queue.Queue).PauseSchedule),
		change(place, "resume", "Let a paused schedule fire again, from now on", "resumed", (*queue.Queue).ResumeSchedule),
		change(place, "remove", "Remove a schedule; the jobs that it has enqueued stay", "removed",
			(*queue.Queue).RemoveSchedule))
}

// A schedule is a schedule as JSON.
type schedule struct {
	Name    string        `json:"name"`
	Cron    string        `json:"cron"`
	Zone    string        `json:"zone"`
	CatchUp queue.CatchUp `json:"catch_up"`
	Type    string        `json:"type"`
	Payload any           `json:"payload"`
	Paused  bool          `json:"paused"`
	NextAt  time.Time     `json:"next_at,omitzero"`
	LastAt  time.Time     `json:"last_at,omitzero"`
	Fault   string        `json:"fault,omitempty"`
}

func viewOf(s queue.StoredSchedule) schedule {
	payload := s.Job.Payload
	if raw, ok := payload.(json.RawMessage); ok {
		payload = jobview.Raw(raw)
	}
	return schedule{s.Name, s.Cron, s.Zone, s.CatchUp, s.Job.Type, payload, s.Paused, s.NextAt, s.LastAt, s.Fault}
}

func list(place placer) *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List schedules by name", Args: cobra.NoArgs}
	open := place(cmd)
	asJSON := cmdline.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return open(cmd, false, func(ctx context.Context, s *jobcmd.Session) error {
			all, err := s.Queue.Schedules(ctx)
			if err != nil {
				return err
			}
			if *asJSON {
				return printer.JSON(cmd.OutOrStdout(), printer.List(all, viewOf))
			}
			t := printer.NewTable(cmd.OutOrStdout(), "NAME", "CRON", "ZONE", "TYPE", "NEXT", "LAST", "FAULT")
			for _, s := range all {
				next := printer.Minute(s.NextAt)
				if s.Paused {
					next = "paused"
				}
				t.Row(s.Name, s.Cron, s.Zone, s.Job.Type, next, printer.Minute(s.LastAt), s.Fault)
			}
			return t.Flush("no schedules")
		})
	}
	return cmd
}

func fire(place placer) *cobra.Command {
	cmd := &cobra.Command{Use: "fire NAME", Short: "Enqueue the job of a schedule now", Args: cobra.ExactArgs(1)}
	open := place(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return open(cmd, true, func(ctx context.Context, s *jobcmd.Session) error {
			job, err := s.Queue.FireSchedule(ctx, args[0])
			if err != nil {
				return err
			}
			how := "enqueued"
			if job.Duplicate {
				how = "there already"
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "job %s: %s\n", job.ID, how)
			return err
		})
	}
	return cmd
}

func change(
	place placer, use, short, done string, do func(*queue.Queue, context.Context, string) error,
) *cobra.Command {
	cmd := &cobra.Command{Use: use + " NAME", Short: short, Args: cobra.ExactArgs(1)}
	open := place(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return open(cmd, true, func(ctx context.Context, s *jobcmd.Session) error {
			if err := do(s.Queue, ctx, args[0]); err != nil {
				return err
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "schedule %s: %s\n", args[0], done)
			return err
		})
	}
	return cmd
}
