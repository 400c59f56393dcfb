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
	"github.com/postroom-go/postroom/safety/checkpoint"
)

func auditAccept() *cobra.Command {
	cmd := &cobra.Command{
		Use: "accept", Short: "Go on with a database that was put back to an earlier state, such as a restored backup",
		Args: cobra.NoArgs,
		Long: `Go on with a database that was put back to an earlier state. postroomd remembers in a file beside
the data how far the database has come. When the database is behind that at a start, somebody has
restored a backup; then no action is carried out or taken back, for it may have been done before,
and no request can be answered. Find out whether that is so.

What was approved before waits for a person again, with a word that it may have been carried out,
requests that wait must be asked again, and what cannot be taken back and had begun has failed. The
command is to be given once on each machine that has such a file.`,
	}
	place := command.NewEnvironmentFlags(cmd)
	why := cmd.Flags().String("why", "", "the reason, for the record")
	yes := cmd.Flags().Bool("yes", false, "do not ask before the database is accepted")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			err := h.Ledger.Remember(ctx)
			switch {
			case err == nil:
				_, err = fmt.Fprintln(cmd.OutOrStdout(),
					"the database has come as far as is remembered here; there is nothing to accept")
				return err
			case !errors.Is(err, checkpoint.ErrRestored):
				return err
			}
			if !*yes {
				q := command.Question{Text: printer.Printable(err.Error()) + ". Accept it?", Refused: "nothing was accepted"}
				if err := command.Confirm(cmd.InOrStdin(), cmd.OutOrStdout(), q); err != nil {
					return err
				}
			}
			if err := h.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
				return h.Ledger.AcceptRestore(ctx, tx, app.CurrentUser(), *why)
			}); err != nil {
				return err
			}
			if err := h.Ledger.Remember(ctx); err != nil {
				return fmt.Errorf("no other program knows that the database is accepted; accept it again when that is mended: %w",
					err)
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(),
				"the database is accepted; 'postroomd approvals list' has what waits for a person")
			return err
		})
	}
	return cmd
}
