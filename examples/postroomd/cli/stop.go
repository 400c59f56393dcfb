package cli

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/safety/stop"
)

func stopCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "stop",
		Short: "Stop everything that changes mailboxes, on all machines, until 'postroomd resume'",
		Long: `Stop everything that changes mailboxes, at once and on all machines that use the database. What is
under way ends; nothing is started after that. Mail is still taken in and decided about, and people
can still approve: all that waits for 'postroomd resume'. So do the labels that are missing: what
needs one is decided, and makes it when it is carried out.

When no command can be given, make the file of safety.stop_file: each postroomd that sees it stops
as long as it is there.`,
		Args: cobra.NoArgs,
	}
	place := command.NewEnvironmentFlags(cmd)
	why := cmd.Flags().String("why", "", "the reason, for the record")
	undos := cmd.Flags().Bool("allow-undo", false, "let 'postroomd undo' take back meanwhile what was done")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			if err := h.Stop(ctx, app.CurrentUser(), stop.Options{Why: *why, Undos: *undos}); err != nil {
				return err
			}
			return printStopState(ctx, h, cmd, "")
		})
	}
	return cmd
}

func resumeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "resume", Short: "Go on after 'postroomd stop', or after rules or models were stopped for what they did",
		Args: cobra.NoArgs,
	}
	place := command.NewEnvironmentFlags(cmd)
	why := cmd.Flags().String("why", "", "the reason, for the record")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			before, err := h.StoppedBy(ctx)
			if err != nil {
				return err
			}
			if err := h.Resume(ctx, app.CurrentUser(), *why); err != nil {
				return err
			}
			return printStopState(ctx, h, cmd, printer.Unless(before == "", "what was stopped goes on"))
		})
	}
	return cmd
}

// printStopState says what is stopped; else what has been resumed, if anything was.
func printStopState(ctx context.Context, h *app.App, cmd *cobra.Command, resumed string) error {
	text, err := h.StoppedBy(ctx)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(cmd.OutOrStdout(), printer.PrintableLines(cmp.Or(text, resumed, "nothing is stopped")))
	return err
}
