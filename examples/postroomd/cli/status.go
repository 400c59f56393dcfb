package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/view"
)

func statusCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show how far the mailboxes are taken in, and what waits",
		Args:  cobra.NoArgs,
	}
	place := command.NewEnvironmentFlags(cmd)
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			s, err := view.NewStatus(ctx, h)
			switch {
			case err != nil:
				return err
			case *asJSON:
				return printer.JSON(cmd.OutOrStdout(), s)
			}
			return s.Print(cmd.OutOrStdout())
		})
	}
	return cmd
}
