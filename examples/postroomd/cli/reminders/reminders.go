// Package reminders is the group of commands about reminders.
package reminders

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/reminding"
)

// New makes the command.
func New() *cobra.Command {
	cmd := command.Group("reminders", "Be reminded of something, once or again and again", add(), list(),
		snooze(), cancel())
	cmd.Long = "Be reminded of something, once or again and again. You are told where you are told of other things: [notify],\n" +
		"[discord] and [webhook] of the configuration; the page shows reminders under Waiting."
	return cmd
}

func add() *cobra.Command {
	cmd := &cobra.Command{Use: "add TEXT", Short: "Be reminded of something", Args: cobra.ExactArgs(1),
		Long: "Be reminded of something, once or again and again:\n\n" +
			"    postroomd reminders add \"Call Ben\" --at \"tomorrow 9:30\"\n" +
			"    postroomd reminders add \"Look at the week\" --every \"0 9 * * MON\" --zone Europe/Berlin\n\n" +
			"A time is tomorrow, a weekday or a date, alone or with a time (9:30, morning, noon, evening), in 3 hours, in 2 days, or\n" +
			"as 2027-01-31T08:00:00Z. --every takes minute, hour, day of month, month and day of week."}
	place := command.NewEnvironmentFlags(cmd)
	mailbox := command.MailboxFlag(cmd)
	var r reminding.Request
	cmd.Flags().StringVar(&r.At, "at", "", "when it comes")
	cmd.Flags().StringVar(&r.Every, "every", "", "when it comes again and again, as a cron expression")
	cmd.Flags().StringVar(&r.Zone, "zone", "", "the time zone, such as Europe/Berlin; that of the configuration, if left out")
	cmd.Flags().StringVar(&r.Notes, "notes", "", "more about it")
	cmd.RunE = changes(cmd, place, func(ctx context.Context, h *app.App, args []string) (v reminding.Reminder, err error) {
		r.Text = args[0]
		if r.Account, err = command.Mailbox(ctx, h, *mailbox); err != nil {
			return v, err
		}
		return reminding.Add(ctx, h, r)
	})
	return cmd
}

func list() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the reminders that are to come, or came within a week",
		Args: cobra.NoArgs}
	place := command.NewEnvironmentFlags(cmd)
	all := cmd.Flags().Bool("all", false, "also those that are canceled, and those that came before")
	limit := command.LimitFlag(cmd, app.MaxListed)
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			v, err := reminding.List(ctx, h, reminding.Filter{All: *all, Limit: *limit})
			switch {
			case err != nil:
				return err
			case *asJSON:
				return printer.JSON(cmd.OutOrStdout(), v)
			}
			t := printer.NewTable(cmd.OutOrStdout(), "ID", "NEXT", "EVERY", "MAILBOX", "REMINDER", "STATE")
			for _, r := range v.List {
				t.Row(printer.ShortID(r.ID), printer.Minute(r.Next), r.Every, r.Mailbox, printer.Short(r.Text, 80), string(r.State))
			}
			return t.Flush("no reminders")
		})
	}
	return cmd
}

func snooze() *cobra.Command {
	cmd := &cobra.Command{Use: "snooze ID WHEN", Short: "Have a reminder come at another time, or once more",
		Args: cobra.ExactArgs(2)}
	place := command.NewEnvironmentFlags(cmd)
	cmd.RunE = changes(cmd, place, func(ctx context.Context, h *app.App, args []string) (v reminding.Reminder, err error) {
		id, err := h.ResolveReminder(ctx, args[0])
		if err != nil {
			return v, err
		}
		return reminding.Snooze(ctx, h, id, args[1], "")
	})
	return cmd
}

func cancel() *cobra.Command {
	cmd := &cobra.Command{Use: "cancel ID", Short: "End a reminder", Args: cobra.ExactArgs(1)}
	place := command.NewEnvironmentFlags(cmd)
	cmd.RunE = changes(cmd, place, func(ctx context.Context, h *app.App, args []string) (v reminding.Reminder, err error) {
		id, err := h.ResolveReminder(ctx, args[0])
		if err != nil {
			return v, err
		}
		return reminding.Cancel(ctx, h, id)
	})
	return cmd
}

// changes runs what makes or changes a reminder, and prints it.
func changes(cmd *cobra.Command, place *command.EnvironmentFlags,
	do func(context.Context, *app.App, []string) (reminding.Reminder, error)) func(*cobra.Command, []string) error {
	asJSON := command.JSONFlag(cmd)
	return func(cmd *cobra.Command, args []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			v, err := do(ctx, h, args)
			switch {
			case err != nil:
				return err
			case *asJSON:
				return printer.JSON(cmd.OutOrStdout(), v)
			}
			return reminding.Print(cmd.OutOrStdout(), v)
		})
	}
}
