// Package tasks is the group of commands about tasks.
package tasks

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/tasks"
)

// New makes the command.
func New() *cobra.Command {
	cmd := command.Group("tasks", "See what is to be done about mail, and say what is done",
		tasksList(), tasksShow(),
		change("close ID", "Say that a task is done", func(ctx context.Context, h *app.App, id string) (string, error) {
			closed, err := h.Tasks.Close(ctx, id, app.CurrentUser())
			return either(closed, "closed", "it is closed already"), err
		}),
		change("reopen ID", "Say that a task is not done yet",
			func(ctx context.Context, h *app.App, id string) (string, error) {
				reopened, err := h.Tasks.Reopen(ctx, id)
				return either(reopened, "reopened", "it is open already"), err
			}))
	cmd.Long = "See what is to be done about mail, and say what is done. The action create_task of rules and models makes tasks; undoing it\n" +
		"removes one."
	return cmd
}

func tasksList() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the open tasks, the latest first", Args: cobra.NoArgs}
	place := command.NewEnvironmentFlags(cmd)
	all := cmd.Flags().Bool("all", false, "also those that are closed")
	limit := command.LimitFlag(cmd, app.MaxListed)
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			v, err := view.NewTasks(ctx, h, tasks.Filter{OpenOnly: !*all, Limit: *limit})
			switch {
			case err != nil:
				return err
			case *asJSON:
				return printer.JSON(cmd.OutOrStdout(), v)
			}
			t := printer.NewTable(cmd.OutOrStdout(), "ID", "DUE", "MAILBOX", "TASK", "")
			for _, task := range v.List {
				t.Row(printer.ShortID(task.ID), printer.Minute(task.Due), task.Mailbox, printer.Short(task.Title, 80),
					printer.Unless(task.Open(), "closed"))
			}
			return t.Flush("no tasks")
		})
	}
	return cmd
}

func tasksShow() *cobra.Command {
	cmd := &cobra.Command{Use: "show ID", Short: "Show a task", Args: cobra.ExactArgs(1),
		Long: "Show a task. As a file for a calendar:\n\n    postroomd tasks show ID --ics > task.ics"}
	place := command.NewEnvironmentFlags(cmd)
	asICS := cmd.Flags().Bool("ics", false, "as iCalendar (a VTODO of RFC 5545)")
	asJSON := command.JSONFlag(cmd)
	cmd.MarkFlagsMutuallyExclusive("ics", "json")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			id, err := h.ResolveTask(ctx, args[0])
			if err != nil {
				return err
			}
			if *asICS {
				task, err := h.Tasks.Task(ctx, id)
				if err == nil {
					_, err = cmd.OutOrStdout().Write(task.ICS())
				}
				return err
			}
			v, err := view.NewTask(ctx, h, id)
			if err != nil {
				return err
			}
			if *asJSON {
				return printer.JSON(cmd.OutOrStdout(), v)
			}
			return view.PrintTask(cmd.OutOrStdout(), v)
		})
	}
	return cmd
}

func change(use, short string, do func(ctx context.Context, h *app.App, id string) (string, error)) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: cobra.ExactArgs(1)}
	place := command.NewEnvironmentFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			id, err := h.ResolveTask(ctx, args[0])
			if err != nil {
				return err
			}
			done, err := do(ctx, h, id)
			if err == nil {
				_, err = fmt.Fprintln(cmd.OutOrStdout(), done)
			}
			return err
		})
	}
	return cmd
}

func either(yes bool, text, otherwise string) string {
	if yes {
		return text
	}
	return otherwise
}
