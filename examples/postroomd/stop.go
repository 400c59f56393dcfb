package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/undo"
)

func stopCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "stop",
		Short: "Stop everything that changes mailboxes, on all machines, until 'postroomd resume'",
		Long: `Stop everything that changes mailboxes, at once and on all machines that use the database. What is under way ends; nothing is
started after that. Mail is still taken in and decided about, and people can still approve: all that waits for 'postroomd resume'.
So do the labels that are missing: what needs one is decided, and makes it when it is carried out.

When no command can be given, make the file of safety.stop_file: each postroomd that sees it stops as long as it is there.`,
		Args: cobra.NoArgs,
	}
	place := placeFlag(cmd)
	why := cmd.Flags().String("why", "", "the reason, for the record")
	undos := cmd.Flags().Bool("allow-undo", false, "let 'postroomd undo' take back meanwhile what was done")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return look(cmd, place, func(ctx context.Context, h *host) error {
			if err := h.stop(ctx, me(), safety.StopOptions{Why: *why, Undos: *undos}); err != nil {
				return err
			}
			return h.tellStopped(ctx, cmd, "")
		})
	}
	return cmd
}

func resumeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "resume", Short: "Go on after 'postroomd stop', or after rules or models were stopped for what they did", Args: cobra.NoArgs,
	}
	place := placeFlag(cmd)
	why := cmd.Flags().String("why", "", "the reason, for the record")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return look(cmd, place, func(ctx context.Context, h *host) error {
			before, err := h.stoppedBy(ctx)
			if err != nil {
				return err
			}
			if err := h.resume(ctx, me(), *why); err != nil {
				return err
			}
			return h.tellStopped(ctx, cmd, printer.Unless(before == "", "what was stopped goes on"))
		})
	}
	return cmd
}

// changing are the types of the jobs that change mailboxes. During a stop they are paused as well, so that they do not retry
// again and again, and continue at once afterwards.
func changing(undos bool) []queue.Target {
	targets := []queue.Target{queue.ForType(gmail.JobAction), queue.ForType(gmail.JobOutboundSend), queue.ForType(gmail.JobUnsnooze)}
	if undos {
		targets = append(targets, queue.ForType(undo.JobAction))
	}
	return targets
}

func (h *host) stop(ctx context.Context, by string, o safety.StopOptions) error {
	return h.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		errs := []error{h.ledger.Stop(ctx, tx, by, o)}
		if o.Undos {
			errs = append(errs, h.queue.ResumeTx(ctx, tx, queue.ForType(undo.JobAction)))
		}
		for _, t := range changing(!o.Undos) {
			errs = append(errs, h.queue.PauseTx(ctx, tx, t))
		}
		return errors.Join(errs...)
	})
}

func (h *host) resume(ctx context.Context, by, why string) error {
	return h.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		_, err := h.ledger.CloseBreakers(ctx, tx, "", by, why)
		errs := []error{err, h.ledger.Resume(ctx, tx, by, why)}
		for _, t := range changing(true) {
			errs = append(errs, h.queue.ResumeTx(ctx, tx, t))
		}
		return errors.Join(errs...)
	})
}

// tellStopped says what is stopped; else what has been resumed, if anything was.
func (h *host) tellStopped(ctx context.Context, cmd *cobra.Command, resumed string) error {
	text, err := h.stoppedBy(ctx)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(cmd.OutOrStdout(), printer.PrintableLines(cmp.Or(text, resumed, "nothing is stopped")))
	return err
}

// stoppedBy describes to people who has stopped everything, or which rules or models are stopped; empty if nothing is stopped.
func (h *host) stoppedBy(ctx context.Context) (string, error) {
	s, err := h.ledger.Stopped(ctx)
	if err != nil {
		return "", err
	}
	if s != nil {
		return s.String(), nil
	}
	held, err := h.heldByRestore(ctx)
	if err != nil || held != "" {
		return held, err
	}
	return h.openBreakers(ctx)
}

// openBreakers lists the rules or models that breakers have stopped; empty if there are none.
func (h *host) openBreakers(ctx context.Context) (string, error) {
	open, err := h.ledger.Breakers(ctx)
	lines := make([]string, len(open))
	for i := range open {
		lines[i] = "in account " + open[i].AccountID + " " + open[i].String()
	}
	return strings.Join(lines, "\n"), err
}
