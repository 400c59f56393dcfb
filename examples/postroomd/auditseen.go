package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
)

// rememberInterval is the interval at which the end of the audit log is stored in the seen file.
const rememberInterval = time.Second

// remember stores the end of the audit log until ctx is done, and once more then.
func (h *host) remember(ctx context.Context) {
	again := time.NewTicker(rememberInterval)
	defer again.Stop()
	for said := ""; ; {
		last := ctx.Err() != nil
		err := h.ledger.Remember(context.WithoutCancel(ctx))
		switch {
		case err == nil:
			said = ""
		case err.Error() != said:
			said = err.Error()
			h.log.ErrorContext(ctx, unremembered(err), "error", err)
		}
		if last {
			return
		}
		select {
		case <-ctx.Done():
		case <-again.C:
		}
	}
}

// waitsForSeen is what waits while the seen file cannot be used. Without it, nobody knows whether a rule was put back to what it was.
const waitsForSeen = "what a person has approved, what cannot be taken back and, if the file cannot be read, what rules decide"

// unremembered says what follows from an error of Remember.
func unremembered(err error) string {
	switch {
	case errors.Is(err, safety.ErrLogCut):
		return "no action is carried out or taken back, since the end of the log is gone; 'postroomd audit verify' says more"
	case errors.Is(err, postroom.ErrHeld):
		return waitsForSeen + " waits; 'postroomd audit verify' says more"
	}
	return "the end of the log cannot be read; trying again"
}

// heldByLog explains to people what waits because of the audit log, and why; empty if nothing does. Once Remember has found that the log
// was cut, no action starts and no undo; while the seen file cannot be used, the others do that were decided before.
func (h *host) heldByLog(ctx context.Context) (string, error) {
	err := h.ledger.Remember(ctx)
	held, ok := errors.AsType[*postroom.HeldError](err)
	switch {
	case !ok:
		return "", err
	case errors.Is(err, safety.ErrLogCut):
		return "stopped: no action is carried out or taken back: " + held.Reason + " with 'postroomd audit accept'", nil
	}
	return "stopped: " + waitsForSeen + ": " + held.Reason, nil
}

func auditAccept() *cobra.Command {
	cmd := &cobra.Command{
		Use: "accept", Short: "Go on with a log that is shorter than it was, such as that of a database that was restored", Args: cobra.NoArgs,
		Long: `Go on with a log that is shorter than it was. postroomd remembers how far it has seen the log. When the end of the log is gone, somebody
has restored an earlier state of the database, or has removed what the log said; then no action is carried out or taken back, for it may
have been done before, and no request can be answered. Find out which it is.

What was approved before waits for a person again, with a word that it may have been carried out, requests that wait must be asked again,
and what had begun has failed. On each machine that has seen the log, the command is to be given once.`,
	}
	place := placeFlag(cmd)
	why := cmd.Flags().String("why", "", "the reason, for the record")
	yes := cmd.Flags().Bool("yes", false, "do not ask before the log is accepted")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return look(cmd, place, func(ctx context.Context, h *host) error {
			err := h.ledger.Remember(ctx)
			switch {
			case err == nil:
				_, err = fmt.Fprintln(cmd.OutOrStdout(), "the log goes as far as it was seen here; there is nothing to accept")
				return err
			case !errors.Is(err, safety.ErrLogCut):
				return err
			}
			if !*yes {
				q := question{text: printer.Printable(err.Error()) + ". Accept it?", refused: "nothing was accepted"}
				if err := confirm(cmd.InOrStdin(), cmd.OutOrStdout(), q); err != nil {
					return err
				}
			}
			if err := h.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error { return h.ledger.AcceptLog(ctx, tx, me(), *why) }); err != nil {
				return err
			}
			if err := h.ledger.Remember(ctx); err != nil {
				return fmt.Errorf("no other program knows that the log is accepted; accept it again when that is mended: %w", err)
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), "the log is accepted; 'postroomd approvals list' has what waits for a person")
			return err
		})
	}
	return cmd
}
