package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/examples/postroomd/view/calls"
	"github.com/postroom-go/postroom/llm"
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
	cmd.AddCommand(costCalls())
	return cmd
}

func costCalls() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "calls [CALL]",
		Short: "List the calls of models, newest first, or show one with its answer",
		Long: "List the calls of models, newest first: when, for which mail and what for, tokens, cost and outcome. With the id of a\n" +
			"call, show it with its answer; of an answer that was given again, which call had made it, and why.",
		Args: cobra.MaximumNArgs(1),
	}
	place := command.NewEnvironmentFlags(cmd)
	var f llm.CallFilter
	cmd.Flags().StringVar(&f.Model, "model", "", "only those of this model, as provider::model")
	cmd.Flags().StringVar(&f.Before, "before", "", "only what is older than the call of this id: the next page")
	mailbox := cmd.Flags().String("mailbox", "", "only the mailbox of this address")
	limit := command.LimitFlag(cmd, app.MaxListed)
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			if len(args) == 1 {
				return showCall(ctx, cmd, h, args[0], *asJSON)
			}
			f.Limit = *limit
			if *mailbox != "" {
				account, err := command.Account(ctx, h, *mailbox)
				if err != nil {
					return err
				}
				f.AccountID = account.ID
			}
			p, err := calls.NewPage(ctx, h, f)
			switch {
			case err != nil:
				return err
			case *asJSON:
				return printer.JSON(cmd.OutOrStdout(), p)
			}
			return printCalls(cmd, &p)
		})
	}
	return cmd
}

func showCall(ctx context.Context, cmd *cobra.Command, h *app.App, id string, asJSON bool) error {
	c, err := calls.New(ctx, h, id)
	switch {
	case errors.Is(err, postroom.ErrNotFound):
		return usage.Errorf("no call %s of a model is on record; 'postroomd cost calls --json' lists whole ids", id)
	case err != nil:
		return err
	case asJSON:
		return printer.JSON(cmd.OutOrStdout(), c)
	}
	return c.Print(cmd.OutOrStdout())
}

// printCalls prints whole ids: a call is named by its own.
func printCalls(cmd *cobra.Command, p *calls.Page) error {
	t := printer.NewTable(cmd.OutOrStdout(), "ID", "WHEN", "FOR", "MODEL", "OUTCOME", "TOKENS", "COST", "TOOK", "SUBJECT")
	for i := range p.List {
		c := &p.List[i]
		t.Row(c.ID, printer.Minute(c.At), c.Purpose, c.Model, c.Words(), c.Tokens(), c.Cost, c.Took(),
			printer.Short(c.Subject, 40))
	}
	if err := t.Flush("no calls"); err != nil || p.Next == "" {
		return err
	}
	_, err := fmt.Fprintf(cmd.ErrOrStderr(), "there are older ones: add --before %s\n", p.Next)
	return err
}
