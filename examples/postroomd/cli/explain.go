package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/view"
)

func explainCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "explain ID",
		Short: "Tell why something was done with a message, or nothing",
		Long: "Tell why something was done with a message, or nothing: what each rule makes of it now and which condition fails on what,\n" +
			"what a model was asked and answered, what the gate said, what was done, and how it is taken back. The id is the message's,\n" +
			"Gmail's as 'postroomd mail list' has it or ours, or that of an action, as 'postroomd actions' has it. It asks no model and\n" +
			"changes nothing.",
		Args: cobra.ExactArgs(1),
	}
	place, address := command.NewEnvironmentFlags(cmd), command.MailboxFlag(cmd)
	prompt := cmd.Flags().Bool("prompt", false, "also show all that a model would be told about the message now")
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			m, err := findExplained(ctx, h, cmd.ErrOrStderr(), *address, args[0])
			if err != nil {
				return err
			}
			x, err := view.NewExplanation(ctx, h, m)
			if err != nil {
				return err
			}
			if *asJSON {
				return printer.JSON(cmd.OutOrStdout(), x)
			}
			r := printer.NewReport(cmd.OutOrStdout())
			x.Print(r, *prompt)
			return r.Flush()
		})
	}
	return cmd
}
