// Package statistics is the command that shows what was counted of mailboxes.
package statistics

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/statistics"
)

// New makes the command.
func New() *cobra.Command {
	cmd := &cobra.Command{Use: "statistics", Aliases: []string{"stats"}, Args: cobra.NoArgs,
		Short: "Show what was counted: mail by sender and category, how often rules and models were corrected",
		Long: "Show what was counted over days or years: mail by sender and category, what people did, how often rules and models\n" +
			"were corrected, and how long it took from arrival to action and from request to answer:\n\n" +
			"    postroomd statistics --from 2026-01-01 --to 2026-12-31\n\n" +
			"Days are in UTC. The running postroomd counts every five minutes; --now counts first."}
	mailbox, place := command.MailboxFlag(cmd), command.NewEnvironmentFlags(cmd)
	var r statistics.Request
	cmd.Flags().StringVar(&r.From, "from", "", "the first day, such as 2026-01-01; the first of all, if left out")
	cmd.Flags().StringVar(&r.To, "to", "", "the last day; today, if left out")
	cmd.Flags().IntVar(&r.Senders, "senders", 20, "how many senders")
	now := cmd.Flags().Bool("now", false, "count what was changed before")
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			if *mailbox != "" {
				account, err := command.Mailbox(ctx, h, *mailbox)
				if err != nil {
					return err
				}
				r.AccountID = account.ID
			}
			if *now {
				if err := h.Statistics.Count(ctx); err != nil {
					return err
				}
			}
			v, err := statistics.Read(ctx, h, r)
			switch {
			case err != nil:
				return err
			case *asJSON:
				return printer.JSON(cmd.OutOrStdout(), v)
			}
			return statistics.Print(cmd.OutOrStdout(), &v)
		})
	}
	return cmd
}
