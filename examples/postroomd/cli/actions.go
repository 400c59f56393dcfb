package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/safety"
)

func actionsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "actions",
		Short: "List what was done, or is to be done, newest first",
		Args:  cobra.NoArgs,
	}
	place := command.NewEnvironmentFlags(cmd)
	states := cmd.Flags().StringSlice("state", nil, "only these states, such as completed or failed")
	types := cmd.Flags().StringSlice("type", nil, "only these actions, such as archive; undo_archive is its undo")
	sender := cmd.Flags().String("sender", "", "only mail of this address, or of this domain and those below it")
	since := cmd.Flags().String("since", "", "only what is younger, such as 24h or 7d")
	limit := command.LimitFlag(cmd, app.MaxListed)
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		filter, err := command.ActionFilter(*states, *types, *since)
		if err != nil {
			return err
		}
		filter.Sender, filter.Limit = *sender, *limit
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			entries, err := h.Ledger.Actions(ctx, filter)
			if err != nil {
				return err
			}
			names, err := h.LabelNames(ctx)
			if err != nil {
				return err
			}
			if err := h.NameDeletedLabels(ctx, names, entries); err != nil {
				return err
			}
			if *asJSON {
				return printer.JSON(cmd.OutOrStdout(), printer.List(entries, func(e safety.Entry) view.Action { return view.NewAction(e, names) }))
			}
			t := printer.NewTable(cmd.OutOrStdout(), "ID", "ACTION", "STATE", "BY", "FROM", "SUBJECT")
			for _, e := range entries {
				t.Row(e.Action.ID, app.Describe(e.Action, names), e.Action.State.Words(), view.DecidedBy(e.Decision.Decision), printer.Short(e.Decision.Sender, 30), printer.Short(e.Decision.Subject, 50))
			}
			return t.Flush("no actions")
		})
	}
	return cmd
}
