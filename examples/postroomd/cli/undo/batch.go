package undo

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/undo"
)

// planBatch prints the effect of undoing all actions that the filter selects.
func (c *undoFlags) planBatch(ctx context.Context, h *app.App, cmd *cobra.Command, filter safety.Filter) error {
	return c.print(ctx, h, cmd, &view.Undos{Planned: true}, h.Undoer.PlanAll(ctx, filter, true))
}

// Report prints the results of the undos of the action, or of all actions that the filter selects.
func (c *undoFlags) report(ctx context.Context, h *app.App, cmd *cobra.Command, args []string,
	filter safety.Filter) error {
	if len(args) == 0 {
		return c.print(ctx, h, cmd, &view.Undos{}, h.Undoer.ReportAll(ctx, filter, true))
	}
	id, err := h.ResolveAction(ctx, args[0])
	if err != nil {
		return err
	}
	return c.print(ctx, h, cmd, &view.Undos{}, undoResults(ctx, h, id))
}

// undoBatch undoes all actions that the filter selects, and prints the results.
func (c *undoFlags) undoBatch(ctx context.Context, h *app.App, cmd *cobra.Command, filter safety.Filter) error {
	request := h.Undoer.RequestAll
	if c.redo {
		request = h.Undoer.RequestRedos
	}
	batch, err := request(ctx, filter, true)
	if err != nil {
		return err
	}
	all, rest, err := carryOutUndos(ctx, h, func(ctx context.Context) (bool, error) {
		return noneUndoing(ctx, h)
	}, func(ctx context.Context) ([]queue.Job, error) {
		return unfinishedUndos(ctx, h, 100)
	})
	if err != nil {
		return err
	}
	if !all && !c.asJSON {
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s to be taken back%s; --report says later what came of it\n",
			printer.Count(len(batch.Requested), "action is", "actions are"), rest)
		return err
	}
	ids := slices.Concat(batch.Requested, slices.Sorted(maps.Keys(batch.Refused)))
	return c.print(ctx, h, cmd, &view.Undos{}, undoResults(ctx, h, ids...))
}

// undoResults yields the results of the undos of the actions.
func undoResults(ctx context.Context, h *app.App, ids ...string) iter.Seq2[undo.Result, error] {
	return func(yield func(undo.Result, error) bool) {
		for _, id := range ids {
			r, err := h.Undoer.Result(ctx, id)
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// Print prints the results as they come: there may be a hundred thousand. The error is about undos that were not
// possible.
func (c *undoFlags) print(ctx context.Context, h *app.App, cmd *cobra.Command, t *view.Undos,
	results iter.Seq2[undo.Result, error]) error {
	names, err := h.LabelNames(ctx)
	if err != nil {
		return err
	}
	t.Names, t.Examples = names, c.examples
	list := printer.NewJSONList(cmd.OutOrStdout(), "actions")
	for r, err := range results {
		if err != nil {
			return err
		}
		t.Add(r)
		if c.asJSON {
			if err := list.Add(view.NewUndo(r, names)); err != nil {
				return err
			}
		}
	}
	if c.asJSON {
		err = list.End("endings", t.Endings())
	} else if err = t.ReadMail(ctx, h); err == nil {
		err = t.Print(cmd.OutOrStdout())
	}
	if err != nil {
		return err
	}
	return t.Fault()
}

// carryOutUndos is carryOut for undos; rest says why they are not done yet, after what has become of the jobs. While
// they are held nobody carries them out.
func carryOutUndos(
	ctx context.Context, h *app.App, done func(context.Context) (bool, error),
	jobs func(context.Context) ([]queue.Job, error),
) (all bool, rest string, err error) {
	s, err := h.Ledger.Switch().Stopped(ctx)
	switch {
	case err != nil:
		return false, "", err
	case s != nil && !s.Undos:
		return false, "; it waits: " + printer.Printable(s.String()), nil
	case h.Env.Config.Safety.DryRun:
		return false, "; it waits: this is a dry run", nil
	}
	if all, err = h.CarryOut(ctx, done); all || err != nil {
		return all, "", err
	}
	left, err := jobs(ctx)
	return false, command.CarriedOutLater + failing(left), err
}

// failing says of jobs that are not done why, if one has been tried in vain.
func failing(jobs []queue.Job) string {
	i := slices.IndexFunc(jobs, func(j queue.Job) bool { return j.LastError != "" })
	if i < 0 {
		return ""
	}
	return printer.Printable(fmt.Sprintf("; %s; job %s is tried again at %s", app.LastFailure(&jobs[i]), jobs[i].ID,
		printer.Clock(jobs[i].NotBefore)))
}

// noneUndoing reports whether no undo is left to do.
func noneUndoing(ctx context.Context, h *app.App) (bool, error) {
	jobs, err := unfinishedUndos(ctx, h, 1)
	return len(jobs) == 0, err
}

func unfinishedUndos(ctx context.Context, h *app.App, limit int) ([]queue.Job, error) {
	return h.Queue.Jobs(ctx, queue.Filter{
		Types: []string{string(undo.JobAction)}, States: []queue.State{queue.StateQueued, queue.StateRunning}, Limit: limit,
	})
}
