package mail

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
)

func mailDecide() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "decide ID",
		Short: "Ask the model about a stored message again",
		Long: "Ask the model about a stored message again, whatever was decided about it before. What it decides goes through the gate.\n" +
			"The id is Gmail's, as 'postroomd mail list' has it, or ours.",
		Args: cobra.ExactArgs(1),
	}
	place, address := command.NewEnvironmentFlags(cmd), command.MailboxFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return command.WithWriter(cmd, place, func(ctx context.Context, h *app.App) error {
			account, err := command.Mailbox(ctx, h, *address)
			if err != nil {
				return err
			}
			m, err := h.FindMessage(ctx, account, args[0])
			if err != nil {
				return err
			}
			if err := h.DecideAgain(ctx, m, app.CurrentUser()); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "The model is asked again; 'postroomd explain %s' has what it says.\n",
				m.ProviderID)
			return err
		})
	}
	return cmd
}
