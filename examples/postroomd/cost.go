package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/printer"
)

func costCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cost",
		Short: "Show what the models cost: today, this month, and what a month will come to",
		Long: "Show what the models cost, by mailbox and model: today, this month, what thirty days will come to if they go on like the\n" +
			"last seven, and what is left of the budgets of today. Days begin at midnight where postroomd runs.",
		Args: cobra.NoArgs,
	}
	place := placeFlag(cmd)
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return look(cmd, place, func(ctx context.Context, h *host) error {
			v, err := newCost(ctx, h, time.Now())
			switch {
			case err != nil:
				return err
			case *asJSON:
				return printer.JSON(cmd.OutOrStdout(), v)
			}
			return v.print(cmd.OutOrStdout())
		})
	}
	return cmd
}
