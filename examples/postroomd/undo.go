package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/undo"
)

func undoCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "undo [ACTION_ID]",
		Short: "Take an action back exactly, or all that are selected; what was changed since is left alone",
		Long: "Take an action back exactly; what was changed since is left alone. The id of an undo takes the undo back.\n\n" +
			"Without an id, the flags select actions: all that match are taken back, in whatever order they were made.",
		Args: cobra.MaximumNArgs(1),
	}
	place := placeFlag(cmd)
	read := filterFlags(cmd)
	all := cmd.Flags().Bool("all", false, "take back every action there is")
	dry := cmd.Flags().Bool("dry-run", false, "only say what would be taken back")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		filter, err := read()
		selects := *all || !filter.SelectsAll()
		switch {
		case err != nil:
			return err
		case len(args) == 1 && selects:
			return usage("give an action's id or flags that select actions, not both")
		case len(args) == 0 && !selects:
			return usage("give an action's id, see \"postroomd actions\"; or flags that select actions, such as --rule NAME --since 24h; or --all")
		}
		return act(cmd, place, func(ctx context.Context, h *host) error {
			switch {
			case *dry:
				return h.undoDry(ctx, cmd, args, filter)
			case len(args) == 1:
				return h.undo(ctx, cmd, args[0])
			}
			return h.undoAll(ctx, cmd, filter)
		})
	}
	return cmd
}

func (h *host) undo(ctx context.Context, cmd *cobra.Command, prefix string) error {
	id, err := h.actionID(ctx, prefix)
	if err != nil {
		return err
	}
	requested, err := h.undoer.Request(ctx, id)
	if err != nil {
		return refused(err)
	}
	done, rest, err := h.carryOutUndos(ctx, h.finished(requested.ID))
	if err != nil {
		return err
	}
	if !done {
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "action %s is to be taken back%s\n", id, rest)
		return err
	}
	report, err := h.undoer.Report(ctx, id)
	if err != nil {
		return err
	}
	return h.tell(ctx, cmd, "action %s is taken back\n", id, report)
}

func (h *host) undoDry(ctx context.Context, cmd *cobra.Command, args []string, filter safety.Filter) error {
	if len(args) == 0 {
		batch, err := h.undoer.PlanAll(ctx, filter, true)
		if err != nil {
			return err
		}
		return tellBatch(cmd, "would be taken back", batch)
	}
	id, err := h.actionID(ctx, args[0])
	if err != nil {
		return err
	}
	report, err := h.undoer.Plan(ctx, id)
	if err != nil {
		return refused(err)
	}
	return h.tell(ctx, cmd, "action %s would be taken back\n", id, report)
}

func (h *host) undoAll(ctx context.Context, cmd *cobra.Command, filter safety.Filter) error {
	batch, err := h.undoer.RequestAll(ctx, filter, true)
	if err != nil {
		return err
	}
	all, rest, err := h.carryOutUndos(ctx, h.noneUndoing)
	if err != nil {
		return err
	}
	if !all {
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d actions are to be taken back%s\n", len(batch.Requested), rest)
		return err
	}
	done := undo.Batch{Refused: batch.Refused}
	for _, id := range batch.Requested {
		_, err := h.undoer.Report(ctx, id)
		switch {
		case err == nil:
			done.Requested = append(done.Requested, id)
		case errors.Is(err, undo.ErrNotUndone):
			done.Refused[id] = err
		default:
			return err
		}
	}
	if err := tellBatch(cmd, "taken back", done); err != nil {
		return err
	}
	return h.tellBreakers(ctx, cmd) // many undos of what rules did stop the rules
}

// carryOutUndos is carryOut for undos; rest says why they are not done yet. While they are held nobody carries them out.
func (h *host) carryOutUndos(ctx context.Context, done func(context.Context) (bool, error)) (all bool, rest string, err error) {
	s, err := h.ledger.Stopped(ctx)
	switch {
	case err != nil:
		return false, "", err
	case s != nil && !s.Undos:
		return false, "; it waits: " + printable(s.String()), nil
	case h.cfg.Safety.DryRun:
		return false, "; it waits: this is a dry run", nil
	}
	all, err = h.carryOut(ctx, done)
	return all, waits, err
}

// tellBreakers says which rules or models are stopped for what they did, or had undone.
func (h *host) tellBreakers(ctx context.Context, cmd *cobra.Command) error {
	text, err := h.openBreakers(ctx)
	if err != nil || text == "" {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\nwhat they decide waits for a person until then; 'postroomd resume' lets them go on\n", printableLines(text))
	return err
}

// finished reports whether a job has finished.
func (h *host) finished(jobID string) func(context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) {
		job, err := h.queue.Job(ctx, jobID)
		return err == nil && job.State.Finished(), err
	}
}

// noneUndoing reports whether no undo is left to do.
func (h *host) noneUndoing(ctx context.Context) (bool, error) {
	jobs, err := h.queue.Jobs(ctx, queue.Filter{
		Types: []string{string(undo.JobAction)}, States: []queue.State{queue.StateQueued, queue.StateRunning}, Limit: 1,
	})
	return len(jobs) == 0, err
}

func tellBatch(cmd *cobra.Command, what string, b undo.Batch) error {
	out := cmd.OutOrStdout()
	for _, id := range slices.Sorted(maps.Keys(b.Refused)) {
		if _, err := fmt.Fprintf(out, "  not taken back: %v\n", b.Refused[id]); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(out, "%d actions %s, %d not\n", len(b.Requested), what, len(b.Refused))
	return err
}

// refused makes a refusal the fault of who asked.
func refused(err error) error {
	if errors.Is(err, undo.ErrRefused) {
		return usageError{err}
	}
	return err
}

func (h *host) tell(ctx context.Context, cmd *cobra.Command, title, id string, report undo.Report) error {
	a, err := h.ledger.Action(ctx, id)
	if err != nil {
		return err
	}
	names, err := h.labelNames(ctx)
	if err != nil {
		return err
	}
	name := func(label string) string { return names.name(a.AccountID, label) }
	_, err = fmt.Fprintf(cmd.OutOrStdout(), title+"%s", id, undone(report, name))
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
	line("not put back, because it has been changed since", r.Skipped.Add)
	line("not taken off, because it has been changed since", r.Skipped.Remove)
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
