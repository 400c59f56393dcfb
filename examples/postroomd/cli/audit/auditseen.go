package audit

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
)

func auditAccept() *cobra.Command {
	cmd := &cobra.Command{
		Use: "accept", Short: "Go on with a log that is shorter than it was, such as that of a database that was restored", Args: cobra.NoArgs,
		Long: `Go on with a log that is shorter than it was. postroomd remembers how far it has seen the log. When the end of the log is gone, somebody
has restored an earlier state of the database, or has removed what the log said; then no action is carried out or taken back, for it may
have been done before, and no request can be answered. Find out which it is.

What was approved before waits for a person again, with a word that it may have been carried out, requests that wait must be asked again,
and what had begun has failed. On each machine that has seen the log, the command is to be given once.`,
	}
	place := command.NewEnvironmentFlags(cmd)
	why := cmd.Flags().String("why", "", "the reason, for the record")
	yes := cmd.Flags().Bool("yes", false, "do not ask before the log is accepted")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			err := h.Ledger.Remember(ctx)
			switch {
			case err == nil:
				_, err = fmt.Fprintln(cmd.OutOrStdout(), "the log goes as far as it was seen here; there is nothing to accept")
				return err
			case !errors.Is(err, safety.ErrLogCut):
				return err
			}
			if !*yes {
				q := command.Question{Text: printer.Printable(err.Error()) + ". Accept it?", Refused: "nothing was accepted"}
				if err := command.Confirm(cmd.InOrStdin(), cmd.OutOrStdout(), q); err != nil {
					return err
				}
			}
			if err := h.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
				return h.Ledger.AcceptLog(ctx, tx, app.CurrentUser(), *why)
			}); err != nil {
				return err
			}
			if err := h.Ledger.Remember(ctx); err != nil {
				return fmt.Errorf("no other program knows that the log is accepted; accept it again when that is mended: %w", err)
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), "the log is accepted; 'postroomd approvals list' has what waits for a person")
			return err
		})
	}
	return cmd
}
