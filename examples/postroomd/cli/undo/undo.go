package undo

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/undo"
)

// undoFlags are the flags of undo besides the filter.
type undoFlags struct {
	all      bool
	dry      bool
	told     bool
	redo     bool
	yes      bool
	asJSON   bool
	examples int
}

// New makes the command undo.
func New() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "undo [ACTION_ID]",
		Short: "Take an action back exactly, or all that are selected; what was changed since is left alone",
		Long: "Take an action back exactly; what was changed since is left alone. The id of an undo takes the undo back.\n\n" +
			"Without an id, the flags select actions: all that match are taken back, in whatever order they were made, once you have seen\n" +
			"how many and said yes. --redo with the same flags takes these undos back. --dry-run says first what would come of it, and --report afterwards what did: what is put back, what is kept because somebody has changed it since,\n" +
			"what cannot be taken back, and why. The dry run of many goes by the mail as it was last synchronized; that of one asks Gmail.\n\n" +
			"The exit status is 1 if an undo failed, or would, and 2 if none of the actions can be taken back.",
		Args: cobra.MaximumNArgs(1),
	}
	place := command.NewEnvironmentFlags(cmd)
	read := command.FilterFlags(cmd)
	c := &undoFlags{}
	cmd.Flags().BoolVar(&c.all, "all", false, "take back every action there is")
	cmd.Flags().BoolVar(&c.dry, "dry-run", false, "only say what would be taken back")
	cmd.Flags().BoolVar(&c.told, "report", false, "only say what has been taken back, and how")
	cmd.Flags().BoolVar(&c.redo, "redo", false, "take back the undos of what the flags select; --since and --until are about the undos")
	cmd.Flags().BoolVar(&c.yes, "yes", false, "do not ask before many actions are taken back")
	cmd.Flags().IntVar(&c.examples, "examples", 3, "how many examples of each outcome, 0 to 100; --json has all")
	cmd.Flags().BoolVar(&c.asJSON, "json", false, "print JSON, with each action")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		filter, err := read()
		selects := c.all || !filter.SelectsAll()
		switch {
		case err != nil:
			return err
		case len(args) == 1 && selects:
			return usage.Errorf("give an action's id or flags that select actions, not both")
		case len(args) == 0 && !selects:
			return usage.Errorf(
				"give an action's id, see \"postroomd actions\"; or flags that select actions, such as --rule NAME --since 24h; or --all")
		case c.redo && (len(args) == 1 || c.told):
			return usage.Errorf(
				"--redo takes flags that select actions, and no id or --report; the id of an undo takes that undo back")
		case c.asJSON && !c.dry && !c.told && !c.yes && len(args) == 0:
			return usage.Errorf("--json asks nothing; add --yes to take back what the flags select, or --dry-run to look only")
		case c.dry && c.told:
			return usage.Errorf("--dry-run says what would be done, and --report what was done; give one of them")
		case c.dry && c.asJSON && len(args) == 1:
			return usage.Errorf("--json is not for the dry run of one action")
		case c.examples < 0 || c.examples > 100:
			return usage.Errorf("--examples is %d; it must be within 0 and 100", c.examples)
		}
		return command.WithWriter(cmd, place, func(ctx context.Context, h *app.App) error {
			return c.run(ctx, h, cmd, args, filter)
		})
	}
	return cmd
}

func (c *undoFlags) run(ctx context.Context, h *app.App, cmd *cobra.Command, args []string,
	filter safety.Filter) error {
	if err := command.CheckFilter(ctx, h, filter); err != nil {
		return err
	}
	switch {
	case c.told:
		return c.report(ctx, h, cmd, args, filter)
	case c.dry && len(args) == 1:
		return planUndo(ctx, h, cmd, args[0])
	case c.dry && c.redo:
		return c.planRedos(ctx, h, cmd, filter)
	case c.dry:
		return c.planBatch(ctx, h, cmd, filter)
	case len(args) == 1:
		return c.undo(ctx, h, cmd, args[0])
	}
	if !c.yes {
		if err := c.confirm(ctx, h, cmd, filter); err != nil {
			return err
		}
	}
	return c.undoBatch(ctx, h, cmd, filter)
}

func (c *undoFlags) undo(ctx context.Context, h *app.App, cmd *cobra.Command, prefix string) error {
	id, err := h.ResolveAction(ctx, prefix)
	if err != nil {
		return err
	}
	requested, err := h.Undoer.Request(ctx, id)
	if err != nil {
		return refused(err)
	}
	done, rest, err := carryOutUndos(ctx, h, jobFinished(h, requested.ID), func(ctx context.Context) ([]queue.Job, error) {
		job, err := h.Queue.Job(ctx, requested.ID)
		if err != nil {
			return nil, err
		}
		return []queue.Job{*job}, nil
	})
	if err != nil {
		return err
	}
	if c.asJSON {
		return c.print(ctx, h, cmd, &view.Undos{}, undoResults(ctx, h, id))
	}
	if !done {
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "action %s is to be taken back%s\n", id, rest)
		return err
	}
	report, err := h.Undoer.Report(ctx, id)
	if err != nil {
		return err
	}
	text := func(_ postroom.Action, r undo.Report, name func(string) string) string { return view.UndoText(r, name) }
	return printUndo(ctx, h, cmd, "action %s is taken back\n", id, report, text)
}

func planUndo(ctx context.Context, h *app.App, cmd *cobra.Command, prefix string) error {
	id, err := h.ResolveAction(ctx, prefix)
	if err != nil {
		return err
	}
	report, err := h.Undoer.Plan(ctx, id)
	if err != nil {
		return refused(err)
	}
	return printUndo(ctx, h, cmd, "action %s would be taken back\n", id, report, view.PlanText)
}

// jobFinished reports whether a job has finished.
func jobFinished(h *app.App, jobID string) func(context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) {
		job, err := h.Queue.Job(ctx, jobID)
		return err == nil && job.State.Finished(), err
	}
}

// Refused converts a refusal into a usage error.
func refused(err error) error {
	if errors.Is(err, undo.ErrRefused) {
		return usage.Wrap(err)
	}
	return err
}

func printUndo(ctx context.Context, h *app.App, cmd *cobra.Command, title, id string, report undo.Report,
	text func(postroom.Action, undo.Report, func(string) string) string) error {
	a, err := h.Ledger.Action(ctx, id)
	if err != nil {
		return err
	}
	names, err := h.LabelNames(ctx)
	if err != nil {
		return err
	}
	name := func(label string) string { return names.Name(a.AccountID, label) }
	out := cmd.OutOrStdout()
	_, err = io.WriteString(out, printer.WrapLines(fmt.Sprintf(title+"%s", id, text(a, report, name)),
		printer.TerminalWidth(out)))
	return err
}
