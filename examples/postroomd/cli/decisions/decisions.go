package decisions

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/safety"
)

// New makes the command decisions with its own commands.
func New() *cobra.Command {
	return command.Group("decisions", "Look at what was decided about mail, by whom and why", decisionsList(),
		decisionsShow())
}

func decisionsList() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the decisions, newest first", Args: cobra.NoArgs}
	place := command.NewEnvironmentFlags(cmd)
	read := command.FilterFlags(cmd)
	unusable := cmd.Flags().Bool("unusable", false,
		"only messages about which a model gave no usable answer, with what it answered and what that cost")
	limit := command.LimitFlag(cmd, app.MaxListed)
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		filter, err := read()
		if err != nil {
			return err
		}
		filter.Limit = *limit
		if *unusable && (filter.Confidence != nil || len(filter.Sources)+len(filter.Types) > 0) {
			return usage.Errorf("--unusable lists decisions of models to do nothing; leave out --above, --below, --source and " +
				"--type")
		}
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			if err := command.CheckFilter(ctx, h, filter); err != nil {
				return err
			}
			if *unusable {
				return printUnusable(ctx, cmd, h, filter, *asJSON)
			}
			records, err := h.Ledger.Decisions(ctx, filter)
			if err != nil {
				return err
			}
			names, err := h.LabelNames(ctx)
			if err != nil {
				return err
			}
			if *asJSON {
				return printer.JSON(cmd.OutOrStdout(), printer.List(records, func(d safety.DecisionRecord) view.Decision {
					return view.NewDecision(d, names)
				}))
			}
			t := printer.NewTable(cmd.OutOrStdout(), "ID", "DECIDED", "ACTION", "SURE", "BY", "GATE", "FROM", "SUBJECT")
			for _, d := range records {
				v := view.NewDecision(d, names)
				t.Row(printer.ShortID(v.ID), printer.Minute(v.CreatedAt), v.What(), v.Sure(), v.By(), v.Gate(),
					printer.Short(v.Sender, 30), printer.Short(v.Subject, 50))
			}
			return t.Flush("no decisions")
		})
	}
	return cmd
}

func printUnusable(ctx context.Context, cmd *cobra.Command, h *app.App, f safety.Filter, asJSON bool) error {
	list, err := view.NewUnusable(ctx, h, f)
	switch {
	case err != nil:
		return err
	case asJSON:
		return printer.JSON(cmd.OutOrStdout(), list)
	}
	t := printer.NewTable(cmd.OutOrStdout(), "ID", "DECIDED", "MODEL", "ANSWERED", "CALLS", "COST", "FROM", "SUBJECT")
	for _, v := range list {
		last := v.Fault
		if n := len(v.Answers); n > 0 {
			last = v.Answers[n-1]
		}
		t.Row(v.ID, printer.Clock(v.CreatedAt), v.Model, printer.Short(last, 60), v.Calls, v.Cost,
			printer.Short(v.Sender, 30), printer.Short(v.Subject, 50))
	}
	return t.Flush("no unusable answers")
}

func decisionsShow() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show a decision: what was decided, why, what the gate said, and what came of it",
		Long: "Show a decision: what was decided, why, what the gate said, and what came of it. The id is that of the decision, as\n" +
			"'postroomd decisions list' has it, or of an action that it led to.",
		Args: cobra.ExactArgs(1),
	}
	place := command.NewEnvironmentFlags(cmd)
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			d, err := findDecision(ctx, h, args[0])
			if err != nil {
				return err
			}
			names, err := h.LabelNames(ctx)
			if err != nil {
				return err
			}
			v, err := view.NewWholeDecision(ctx, h, d, names)
			if err != nil {
				return err
			}
			if *asJSON {
				return printer.JSON(cmd.OutOrStdout(), v)
			}
			r := printer.NewReport(cmd.OutOrStdout())
			r.Heading("Decision " + v.ID)
			r.Add("message", v.Message)
			r.Add("from", v.Sender)
			r.Add("subject", v.Subject)
			v.Print(r)
			return r.Flush()
		})
	}
	return cmd
}

// findDecision finds a decision by its id, or by the id of an action; the beginning or the end of one is enough.
func findDecision(ctx context.Context, h *app.App, id string) (safety.DecisionRecord, error) {
	decisionID, err := h.FindDecision(ctx, id)
	if err != nil {
		return safety.DecisionRecord{}, err
	}
	if decisionID != "" {
		return h.Ledger.Decision(ctx, decisionID)
	}
	actionID, err := h.FindAction(ctx, id)
	switch {
	case err != nil:
		return safety.DecisionRecord{}, err
	case actionID == "":
		return safety.DecisionRecord{},
			usage.Errorf("there is no decision %s, and no action has that id; 'postroomd decisions list' lists the decisions",
				id)
	}
	a, err := h.Ledger.Action(ctx, actionID)
	if err != nil {
		return safety.DecisionRecord{}, err
	}
	return h.Ledger.Decision(ctx, a.DecisionID)
}
