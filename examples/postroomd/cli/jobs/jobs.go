// Package jobs has the commands that show and change the jobs of postroomd.
package jobs

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/queuectl/jobcmd"
)

// New makes the command jobs with its own commands, which are those of queuectl.
func New() *cobra.Command {
	h := &jobcmd.Host{
		Name: "postroomd jobs", Place: place, Types: app.JobTypes, TypesAre: "those of postroomd are",
		RetryNote:  " Those whose action has ended for good are left.",
		CancelNote: " An action stays queued until its canceled job is retried.",
	}
	return command.Group("jobs", "Look at jobs, retry and cancel them, and examine the queue", h.Basic()...)
}

// place opens the queue of a postroomd.
func place(cmd *cobra.Command) jobcmd.Opener {
	flags := command.NewEnvironmentFlags(cmd)
	return func(cmd *cobra.Command, change bool, fn func(ctx context.Context, s *jobcmd.Session) error) error {
		with := command.WithReader
		if change {
			with = command.WithWriter
		}
		return with(cmd, flags, func(ctx context.Context, h *app.App) error {
			return fn(ctx, &jobcmd.Session{Queue: h.Queue, CheckRetry: h.CheckRetry, CarryOut: h.CarryOut,
				Later: command.CarriedOutLater})
		})
	}
}
