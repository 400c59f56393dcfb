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

// rememberInterval is the interval at which the checkpoint is written.
const rememberInterval = time.Second

// remember writes the checkpoint until ctx is done, and once more then.
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

// unremembered says what follows from an error of Remember.
func unremembered(err error) string {
	switch {
	case errors.Is(err, safety.ErrRestored):
		return "no action is carried out or taken back, since the database was put back; 'postroomd audit accept' goes on"
	case errors.Is(err, postroom.ErrHeld):
		return "what cannot be taken back waits, since the checkpoint cannot be used"
	}
	return "the checkpoint cannot be written; trying again"
}

// heldByRestore explains to people what waits because the database was put back, or because that is not known; empty if nothing
// does.
func (h *host) heldByRestore(ctx context.Context) (string, error) {
	err := h.ledger.Remember(ctx)
	held, ok := errors.AsType[*postroom.HeldError](err)
	switch {
	case !ok:
		return "", err
	case errors.Is(err, safety.ErrRestored):
		return "stopped: no action is carried out or taken back: " + held.Reason + " with 'postroomd audit accept'", nil
	}
	return "stopped: what cannot be taken back: " + held.Reason, nil
}

func auditAccept() *cobra.Command {
	cmd := &cobra.Command{
		Use: "accept", Short: "Go on with a database that was put back to an earlier state, such as a restored backup", Args: cobra.NoArgs,
		Long: `Go on with a database that was put back to an earlier state. postroomd remembers in a file beside the data how far the database has
come. When the database is behind that at a start, somebody has restored a backup; then no action is carried out or taken back, for it
may have been done before, and no request can be answered. Find out whether that is so.

What was approved before waits for a person again, with a word that it may have been carried out, requests that wait must be asked again,
and what cannot be taken back and had begun has failed. The command is to be given once on each machine that has such a file.`,
	}
	place := placeFlag(cmd)
	why := cmd.Flags().String("why", "", "the reason, for the record")
	yes := cmd.Flags().Bool("yes", false, "do not ask before the database is accepted")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return look(cmd, place, func(ctx context.Context, h *host) error {
			err := h.ledger.Remember(ctx)
			switch {
			case err == nil:
				_, err = fmt.Fprintln(cmd.OutOrStdout(), "the database has come as far as is remembered here; there is nothing to accept")
				return err
			case !errors.Is(err, safety.ErrRestored):
				return err
			}
			if !*yes {
				q := question{text: printer.Printable(err.Error()) + ". Accept it?", refused: "nothing was accepted"}
				if err := confirm(cmd.InOrStdin(), cmd.OutOrStdout(), q); err != nil {
					return err
				}
			}
			if err := h.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error { return h.ledger.AcceptRestore(ctx, tx, me(), *why) }); err != nil {
				return err
			}
			if err := h.ledger.Remember(ctx); err != nil {
				return fmt.Errorf("no other program knows that the database is accepted; accept it again when that is mended: %w", err)
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), "the database is accepted; 'postroomd approvals list' has what waits for a person")
			return err
		})
	}
	return cmd
}
