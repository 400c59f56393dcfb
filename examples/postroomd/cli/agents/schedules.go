package agents

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/agents"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/view/runs"
)

func printSchedules(cmd *cobra.Command, v runs.Schedules) error {
	if len(v.List) == 0 {
		return nil
	}
	if _, err := fmt.Fprintln(cmd.OutOrStdout()); err != nil {
		return err
	}
	t := printer.NewTable(cmd.OutOrStdout(), "SCHEDULE", "NEXT", "WHEN", "ZONE", "AGENT", "MAILBOX", "TELLS", "")
	for _, s := range v.List {
		t.Row(printer.ShortID(s.ID), printer.Minute(s.Next), s.Cron, s.Zone, s.Profile, s.Mailbox,
			printer.Short(s.Prompt, 60),
			s.Fault)
	}
	return t.Flush("")
}

func agentsSchedule() *cobra.Command {
	cmd := &cobra.Command{Use: "schedule PROFILE TEXT", Short: "Have an agent tell you something again and again",
		Args: cobra.ExactArgs(2),
		Long: "Have an agent tell you something again and again:\n\n" +
			"    postroomd agents schedule morning \"Summarise what waits\" --cron \"30 7 * * MON-FRI\"\n\n" +
			"It is given what came and was done of late, what waits for you, tasks and reminders, and writes a text that you are\n" +
			"told where you are told of other things. It does nothing else. The limits of the profile hold."}
	place, address := command.NewEnvironmentFlags(cmd), command.MailboxFlag(cmd)
	cron := cmd.Flags().String("cron", "", "when, as minute, hour, day of month, month and day of week")
	zone := cmd.Flags().String("zone", "", "the time zone, such as Europe/Berlin; that of the configuration, if left out")
	since := cmd.Flags().Duration("since", 24*time.Hour, "how far back what came and was done is told of")
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			account, err := command.Mailbox(ctx, h, *address)
			if err != nil {
				return err
			}
			if *zone == "" {
				*zone = h.Zone()
			}
			made, err := h.Agents.Schedule(ctx, agents.NewSchedule{AccountID: account.ID, Profile: args[0], Prompt: args[1],
				Cron: *cron, Zone: *zone, Since: *since})
			if err != nil {
				return err
			}
			v, err := runs.NewSchedule(ctx, h, made)
			switch {
			case err != nil:
				return err
			case *asJSON:
				return printer.JSON(cmd.OutOrStdout(), v)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "schedule %s: next %s\n", printer.ShortID(v.ID), printer.Clock(v.Next))
			return err
		})
	}
	return cmd
}

func agentsUnschedule() *cobra.Command {
	cmd := &cobra.Command{Use: "unschedule SCHEDULE", Short: "Remove a schedule of an agent", Args: cobra.ExactArgs(1)}
	place := command.NewEnvironmentFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			list, err := h.Agents.Scheduled(ctx, "")
			if err != nil {
				return err
			}
			var ids []string
			for i := range list {
				if app.MatchesID(list[i].ID, args[0]) {
					ids = append(ids, list[i].ID)
				}
			}
			id, err := app.OneID(ids, "schedule", args[0], "postroomd agents list")
			if err == nil {
				err = h.Agents.Unschedule(ctx, id)
			}
			if err == nil {
				_, err = fmt.Fprintln(cmd.OutOrStdout(), "removed")
			}
			return err
		})
	}
	return cmd
}
