package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/view"
)

func costCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cost",
		Short: "Show what the models cost: today, this month, and what a month will come to",
		Long: "Show what the models cost, by mailbox and model: today, this month, what thirty days will come to if they go on like the\n" +
			"last seven, and what is left of the budgets of today. Days begin at midnight where postroomd runs.",
		Args: cobra.NoArgs,
	}
	place := command.NewEnvironmentFlags(cmd)
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			v, err := view.NewCost(ctx, h, time.Now())
			switch {
			case err != nil:
				return err
			case *asJSON:
				return printer.JSON(cmd.OutOrStdout(), v)
			}
			return v.Print(cmd.OutOrStdout())
		})
	}
	return cmd
}
