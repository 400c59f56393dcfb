package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/undo"
)

func undoCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "undo ACTION_ID",
		Short: "Take an action back exactly; what was changed since is left alone",
		Args:  cobra.ExactArgs(1),
	}
	dir := dataFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return act(cmd, *dir, func(ctx context.Context, h *host) error { return h.undo(ctx, cmd, args[0]) })
	}
	return cmd
}

func (h *host) undo(ctx context.Context, cmd *cobra.Command, prefix string) error {
	id, err := h.actionID(ctx, prefix)
	if err != nil {
		return err
	}
	if _, err := h.undoer.Request(ctx, id); err != nil {
		if errors.Is(err, undo.ErrRefused) {
			return usageError{err}
		}
		return err
	}
	if err := h.runJobs(ctx); err != nil {
		return err
	}
	report, err := h.undoer.Report(ctx, id)
	if err != nil {
		return err
	}
	name, err := h.labelNames(ctx)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "action %s is taken back\n%s", id, undone(report, name))
	return err
}

func undone(r undo.Report, name func(id string) string) string {
	var b strings.Builder
	line := func(what string, labels []string) {
		for _, l := range labels {
			fmt.Fprintf(&b, "  %s: %s\n", what, name(l))
		}
	}
	line("put back", r.Restored.Add)
	line("taken off", r.Restored.Remove)
	line("not put back, because the message has been moved since", r.Skipped.Add)
	line("not taken off, because the message has been moved since", r.Skipped.Remove)
	for _, s := range r.LeftAlone {
		what := "left alone, removed since by somebody"
		if s.Added {
			what = "left alone, added since by somebody"
		}
		line(what, []string{s.LabelID})
	}
	if b.Len() == 0 {
		return "  there was nothing to restore: the action had changed nothing\n"
	}
	return b.String()
}
