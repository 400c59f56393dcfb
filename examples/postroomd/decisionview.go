package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/safety"
)

func (v *decisionView) what() string { return strings.TrimRight(string(v.Action)+" "+v.Label, " ") }

func (v *decisionView) sure() string {
	if v.Confidence == nil {
		return ""
	}
	return fmt.Sprintf("%.2f", *v.Confidence)
}

func (v *decisionView) by() string {
	switch {
	case v.Rule != "":
		return "rule " + v.Rule
	case v.Model != "":
		return "model " + v.Model
	case v.Source == postroom.SourceModel:
		return "a model"
	}
	return "nobody"
}

func (v *decisionView) gate() string {
	if v.NeedsApproval {
		return "asks"
	}
	return "passes"
}

// A wholeDecisionView is a decision with its explanations and its results.
type wholeDecisionView struct {
	decisionView
	Explanations postroom.Explanations `json:"explanations"`
	Released     []safety.Override     `json:"released,omitempty"` // checks that the rule's safe mode has answered
	FormerRule   *formerRuleView       `json:"rule_then,omitempty"`
	Actions      []resultView          `json:"actions"` // undos included, oldest first
}

// A resultView is an action, and how to undo it.
type resultView struct {
	actionView
	Undo string `json:"undo"` // in words
}

func (h *host) viewWholeDecision(ctx context.Context, d safety.DecisionRecord, names labelNames) (*wholeDecisionView, error) {
	v := &wholeDecisionView{decisionView: viewDecision(d, names), Explanations: d.Decision.Explanations, Released: d.Verdict.Released, Actions: []resultView{}}
	var err error
	if v.FormerRule, err = h.formerRule(ctx, d.Decision); err != nil {
		return nil, err
	}
	all, err := h.ledger.Actions(ctx, safety.Filter{AccountID: d.AccountID, MessageID: d.MessageID, Limit: 100})
	if err != nil {
		return nil, err
	}
	for _, e := range slices.Backward(all) {
		if e.Action.DecisionID == d.ID {
			v.Actions = append(v.Actions, resultView{viewAction(e, names), describeUndo(e.Action, names)})
		}
	}
	return v, nil
}

// describeUndo describes the effect of undoing an action on the message.
func describeUndo(a postroom.Action, names labelNames) string {
	switch hint := a.UndoHint; {
	case a.State != postroom.ActionCompleted:
		return ""
	case hint != nil && hint.Irreversible:
		return "cannot be taken back"
	case !hint.Undoable():
		return "nothing to take back"
	case hint.Undo != nil:
		return "is taken back by what carried it out"
	default:
		own := hint.Own()
		var parts []string
		for _, id := range own.Add {
			parts = append(parts, "takes off "+names.name(a.AccountID, id))
		}
		for _, id := range own.Remove {
			parts = append(parts, "puts back "+names.name(a.AccountID, id))
		}
		if len(parts) == 0 {
			return "nothing to take back"
		}
		return strings.Join(parts, ", ")
	}
}

func (v *wholeDecisionView) print(r *printer.Report) {
	r.Heading("What was decided, " + printer.Clock(v.CreatedAt))
	r.Add("action", v.what())
	for _, name := range slices.Sorted(maps.Keys(v.Parameters)) {
		if name == postroom.ParamLabel && v.Label != "" {
			continue
		}
		value, err := json.Marshal(v.Parameters[name])
		if err == nil {
			r.Add("  "+name, string(value))
		}
	}
	r.Add("by", v.by())
	r.Add("sure", v.sure())
	r.Add("because", v.Rationale)
	r.Add("it counted", strings.Join(v.Explanations.SalientFeatures, "\n"))
	r.Add("directions", strings.Join(v.Explanations.MatchedDirections, "\n"))
	for _, a := range v.Explanations.ConsideredAlternatives {
		r.Add("not "+string(a.Action), fmt.Sprintf("(%.2f) %s", a.Confidence, a.WhyNot))
	}

	v.FormerRule.print(r)

	r.Heading("The gate " + map[bool]string{true: "asks a person", false: "lets it pass"}[v.NeedsApproval])
	for _, reason := range v.Reasons {
		r.Line("- " + reason)
	}
	for _, check := range v.Released {
		r.Line("- " + strings.ReplaceAll(string(check), "_", " ") + ": answered by the rule's safe mode")
	}

	r.Heading("What came of it")
	for i := range v.Actions {
		a := &v.Actions[i]
		r.Add(string(a.Action), strings.Join([]string{string(a.State), printer.Clock(a.ExecutedAt), a.Error}, " "))
		r.Add("  id", a.ID)
		r.Add("  undo", a.Undo)
	}
	if len(v.Actions) == 0 {
		r.Line("nothing")
	}
}
