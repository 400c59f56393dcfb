package main

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/undo"
)

// planBatch prints the effect of undoing all actions that the filter selects.
func (c *undoFlags) planBatch(ctx context.Context, h *host, cmd *cobra.Command, filter safety.Filter) error {
	return c.print(ctx, h, cmd, &undoTally{planned: true}, h.undoer.PlanAll(ctx, filter, true))
}

// Report prints the results of the undos of the action, or of all actions that the filter selects.
func (c *undoFlags) report(ctx context.Context, h *host, cmd *cobra.Command, args []string, filter safety.Filter) error {
	if len(args) == 0 {
		return c.print(ctx, h, cmd, &undoTally{}, h.undoer.ReportAll(ctx, filter, true))
	}
	id, err := h.actionID(ctx, args[0])
	if err != nil {
		return err
	}
	return c.print(ctx, h, cmd, &undoTally{}, h.undoResults(ctx, id))
}

// undoBatch undoes all actions that the filter selects, and prints the results.
func (c *undoFlags) undoBatch(ctx context.Context, h *host, cmd *cobra.Command, filter safety.Filter) error {
	batch, err := h.undoer.RequestAll(ctx, filter, true)
	if err != nil {
		return err
	}
	all, rest, err := h.carryOutUndos(ctx, h.noneUndoing, func(ctx context.Context) ([]queue.Job, error) {
		return h.unfinishedUndos(ctx, 100)
	})
	if err != nil {
		return err
	}
	if !all && !c.asJSON {
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s to be taken back%s; --report says later what came of it\n", printer.Count(len(batch.Requested), "action is", "actions are"), rest)
		return err
	}
	ids := slices.Concat(batch.Requested, slices.Sorted(maps.Keys(batch.Refused)))
	failed := c.print(ctx, h, cmd, &undoTally{}, h.undoResults(ctx, ids...))
	if !c.asJSON { // many undos of what rules did stop the rules
		if err := h.tellBreakers(ctx, cmd); err != nil {
			return err
		}
	}
	return failed
}

// undoResults yields the results of the undos of the actions.
func (h *host) undoResults(ctx context.Context, ids ...string) iter.Seq2[undo.Result, error] {
	return func(yield func(undo.Result, error) bool) {
		for _, id := range ids {
			r, err := h.undoer.Result(ctx, id)
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// print prints the results as they come: there may be a hundred thousand. The error is about undos that were not possible.
func (c *undoFlags) print(ctx context.Context, h *host, cmd *cobra.Command, t *undoTally, results iter.Seq2[undo.Result, error]) error {
	names, err := h.labelNames(ctx)
	if err != nil {
		return err
	}
	t.names, t.examples = names, c.examples
	list := printer.NewJSONList(cmd.OutOrStdout(), "actions")
	for r, err := range results {
		if err != nil {
			return err
		}
		t.add(r)
		if c.asJSON {
			if err := list.Add(viewUndo(r, names)); err != nil {
				return err
			}
		}
	}
	if c.asJSON {
		err = list.End("endings", t.endings())
	} else {
		err = t.print(cmd.OutOrStdout())
	}
	if err != nil {
		return err
	}
	return t.fault()
}

// carryOutUndos is carryOut for undos; rest says why they are not done yet, after what has become of the jobs. While they are held
// nobody carries them out.
func (h *host) carryOutUndos(
	ctx context.Context, done func(context.Context) (bool, error), jobs func(context.Context) ([]queue.Job, error),
) (all bool, rest string, err error) {
	s, err := h.ledger.Stopped(ctx)
	switch {
	case err != nil:
		return false, "", err
	case s != nil && !s.Undos:
		return false, "; it waits: " + printer.Printable(s.String()), nil
	case h.env.Config.Safety.DryRun:
		return false, "; it waits: this is a dry run", nil
	}
	if all, err = h.carryOut(ctx, done); all || err != nil {
		return all, "", err
	}
	left, err := jobs(ctx)
	return false, waits + failing(left), err
}

// failing says of jobs that are not done why, if one has been tried in vain.
func failing(jobs []queue.Job) string {
	i := slices.IndexFunc(jobs, func(j queue.Job) bool { return j.LastError != "" })
	if i < 0 {
		return ""
	}
	return printer.Printable(fmt.Sprintf("; %s; job %s is tried again at %s", lastWords(&jobs[i]), jobs[i].ID, printer.Clock(jobs[i].NotBefore)))
}

// tellBreakers lists the rules or models that breakers have stopped because of their actions or undos.
func (h *host) tellBreakers(ctx context.Context, cmd *cobra.Command) error {
	text, err := h.openBreakers(ctx)
	if err != nil || text == "" {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\nwhat they decide waits for a person until then; 'postroomd resume' lets them go on\n", printer.PrintableLines(text))
	return err
}

// noneUndoing reports whether no undo is left to do.
func (h *host) noneUndoing(ctx context.Context) (bool, error) {
	jobs, err := h.unfinishedUndos(ctx, 1)
	return len(jobs) == 0, err
}

func (h *host) unfinishedUndos(ctx context.Context, limit int) ([]queue.Job, error) {
	return h.queue.Jobs(ctx, queue.Filter{
		Types: []string{string(undo.JobAction)}, States: []queue.State{queue.StateQueued, queue.StateRunning}, Limit: limit,
	})
}
