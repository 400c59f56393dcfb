package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/safety"
)

func decisionsCommand() *cobra.Command {
	return group("decisions", "Look at what was decided about mail, by whom and why", decisionsList(), decisionsShow())
}

func decisionsList() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the decisions, newest first", Args: cobra.NoArgs}
	place := placeFlag(cmd)
	read := filterFlags(cmd)
	below := cmd.Flags().Float64("below", 0, "only those with a confidence of at most this, 0 to 1")
	limit := limitFlag(cmd, mostListed)
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		filter, err := read()
		if err != nil {
			return err
		}
		filter.Limit = *limit
		switch {
		case !(*below >= 0 && *below <= 1):
			return usage.Errorf("--below is %v; it must be within 0 and 1", *below)
		case cmd.Flags().Changed("below"):
			filter.Confidence = &safety.Range{Max: *below}
		}
		return look(cmd, place, func(ctx context.Context, h *host) error {
			if err := h.checkFilter(ctx, filter); err != nil {
				return err
			}
			records, err := h.ledger.Decisions(ctx, filter)
			if err != nil {
				return err
			}
			names, err := h.labelNames(ctx)
			if err != nil {
				return err
			}
			if *asJSON {
				return printer.JSON(cmd.OutOrStdout(), printer.List(records, func(d safety.DecisionRecord) decisionView { return viewDecision(d, names) }))
			}
			t := printer.NewTable(cmd.OutOrStdout(), "ID", "DECIDED", "ACTION", "SURE", "BY", "GATE", "FROM", "SUBJECT")
			for _, d := range records {
				v := viewDecision(d, names)
				t.Row(v.ID, printer.Clock(v.CreatedAt), v.what(), v.sure(), v.by(), v.gate(), printer.Short(v.Sender, 30), printer.Short(v.Subject, 50))
			}
			return t.Flush("no decisions")
		})
	}
	return cmd
}

func decisionsShow() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show a decision: what was decided, why, what the gate said, and what came of it",
		Long: "Show a decision: what was decided, why, what the gate said, and what came of it. The id is that of the decision, as\n" +
			"'postroomd decisions list' has it, or of an action that it led to.",
		Args: cobra.ExactArgs(1),
	}
	place := placeFlag(cmd)
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return look(cmd, place, func(ctx context.Context, h *host) error {
			d, err := h.decision(ctx, args[0])
			if err != nil {
				return err
			}
			names, err := h.labelNames(ctx)
			if err != nil {
				return err
			}
			v, err := h.viewWholeDecision(ctx, d, names)
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
			v.print(r)
			return r.Flush()
		})
	}
	return cmd
}

// decision finds a decision by its id, or by the prefix of the id of an action.
func (h *host) decision(ctx context.Context, id string) (safety.DecisionRecord, error) {
	id = strings.ToLower(strings.TrimSpace(id))
	d, err := h.ledger.Decision(ctx, id)
	if !errors.Is(err, postroom.ErrNotFound) {
		return d, err
	}
	actionID, err := h.ledger.Resolve(ctx, id)
	switch {
	case errors.Is(err, postroom.ErrNotFound):
		return d, usage.Errorf("there is no decision %s, and no action has that id; 'postroomd decisions list' lists the decisions", id)
	case errors.Is(err, safety.ErrAmbiguous):
		return d, usage.Errorf("there is no decision %s, and several actions have an id that begins so; 'postroomd decisions list' lists the decisions", id)
	case err != nil:
		return d, err
	}
	a, err := h.ledger.Action(ctx, actionID)
	if err != nil {
		return d, err
	}
	return h.ledger.Decision(ctx, a.DecisionID)
}

// A decisionView is a decision in a list.
type decisionView struct {
	ID            string              `json:"id"`
	Message       string              `json:"message_id"` // ours
	Action        postroom.ActionType `json:"action"`
	Parameters    postroom.Parameters `json:"parameters"`
	Label         string              `json:"label,omitempty"`
	Source        postroom.Source     `json:"source"`
	Rule          string              `json:"rule,omitempty"`
	Model         string              `json:"model,omitempty"`
	Confidence    *float64            `json:"confidence"` // null when nobody decided
	Rationale     string              `json:"rationale"`
	NeedsApproval bool                `json:"needs_approval"`
	Reasons       []string            `json:"gate_reasons"` // why a person must approve
	Sender        string              `json:"sender"`
	Subject       string              `json:"subject"`
	CreatedAt     time.Time           `json:"created_at"`
}

func viewDecision(d safety.DecisionRecord, names labelNames) decisionView {
	v := decisionView{
		ID: d.ID, Message: d.MessageID, Action: d.Decision.Action, Parameters: d.Decision.Parameters, Source: d.Decision.Source,
		Rule: d.Decision.RuleName, Model: d.Decision.Model, Rationale: d.Decision.Rationale, NeedsApproval: d.Decision.NeedsApproval,
		Reasons: append([]string{}, d.Verdict.Reasons...), Sender: d.Sender, Subject: d.Subject, CreatedAt: d.CreatedAt,
	}
	if d.Decision.Source != postroom.SourceNone {
		v.Confidence = &d.Decision.Confidence
	}
	if label, ok := d.Decision.Parameters.Text(postroom.ParamLabel); ok {
		v.Label = names.name(d.AccountID, label)
	}
	return v
}
