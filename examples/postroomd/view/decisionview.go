package view

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/safety/gate"
	"github.com/postroom-go/postroom/safety/reasons"
)

// What names the action and its label.
func (v *Decision) What() string { return strings.TrimRight(string(v.Action)+" "+v.Label, " ") }

// Sure is the confidence with two decimals; empty if there is none.
func (v *Decision) Sure() string {
	if v.Confidence == nil {
		return ""
	}
	return fmt.Sprintf("%.2f", *v.Confidence)
}

// By names who has decided: a rule, a model, a person, or nobody.
func (v *Decision) By() string {
	switch {
	case v.Rule != "":
		return "rule " + v.Rule
	case v.Model != "":
		return "model " + v.Model
	case v.Source == postroom.SourceModel:
		return "a model"
	case v.Person:
		return "a person"
	case v.Source == postroom.SourceHost:
		return "the program"
	}
	return "nobody"
}

// Gate says whether the gate has let the action pass or asks a person.
func (v *Decision) Gate() string {
	if v.NeedsApproval {
		return "asks"
	}
	return "passes"
}

// A WholeDecision is a decision with its explanations and its results.
type WholeDecision struct {
	Decision
	Explanations postroom.Explanations `json:"explanations"`
	Released     []gate.Override       `json:"released,omitempty"` // checks that the rule's safe mode has answered
	FormerRule   *FormerRule           `json:"rule_then,omitempty"`
	Actions      []Result              `json:"actions"` // undos included, oldest first
}

// A Result is an action, and how to undo it.
type Result struct {
	webapi.Action
	Undo string `json:"undo"` // in words
}

// NewWholeDecision reads a decision with what became of its actions.
func NewWholeDecision(ctx context.Context, h *app.App, d safety.DecisionRecord,
	names app.LabelNames) (*WholeDecision, error) {
	v := &WholeDecision{Decision: NewDecision(d, names), Explanations: d.Decision.Explanations,
		Released: d.Verdict.Released, Actions: []Result{}}
	var err error
	if v.FormerRule, err = newFormerRule(ctx, h, d.Decision); err != nil {
		return nil, err
	}
	all, err := h.Ledger.Actions(ctx, safety.Filter{AccountID: d.AccountID, MessageID: d.MessageID, Limit: 100})
	if err != nil {
		return nil, err
	}
	for _, e := range slices.Backward(all) {
		if e.Action.DecisionID == d.ID {
			v.Actions = append(v.Actions, Result{webapi.NewAction(e, names.Name), describeUndo(e.Action, names)})
		}
	}
	return v, nil
}

// describeUndo describes the effect of undoing an action on the message.
func describeUndo(a postroom.Action, names app.LabelNames) string {
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
			parts = append(parts, "takes off "+names.Name(a.AccountID, id))
		}
		for _, id := range own.Remove {
			parts = append(parts, "puts back "+names.Name(a.AccountID, id))
		}
		if len(parts) == 0 {
			return "nothing to take back"
		}
		if slices.Contains(own.Add, postroom.LabelTrash) && !a.ExecutedAt.IsZero() {
			parts = append(parts, "until Gmail deletes the message on "+
				a.ExecutedAt.Add(trashTime).UTC().Format(time.DateOnly))
		}
		return strings.Join(parts, ", ")
	}
}

// A Given is a parameter of an action, with its value as JSON.
type Given struct{ Name, Value string }

// given lists the parameters by name, without the label if that is shown otherwise.
func given(p postroom.Parameters, labelShown bool) (list []Given) {
	for _, name := range slices.Sorted(maps.Keys(p)) {
		if name == postroom.ParamLabel && labelShown {
			continue
		}
		if value, err := json.Marshal(p[name]); err == nil {
			list = append(list, Given{name, string(value)})
		}
	}
	return list
}

// Print prints the decision for people.
func (v *WholeDecision) Print(r *printer.Report) {
	r.Heading("What was decided, " + printer.Clock(v.CreatedAt))
	r.Add("action", v.What())
	for _, p := range given(v.Parameters, v.Label != "") {
		r.Add("  "+p.Name, p.Value)
	}
	r.Add("by", v.By())
	r.Add("sure", v.Sure())
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
		r.Line("- " + reasons.Sentence(string(check)) + "; the safe mode of the rule answers that")
	}

	r.Heading("What came of it")
	for i := range v.Actions {
		a := &v.Actions[i]
		r.Add(string(a.Action.Action), strings.Join([]string{a.State.Words(), printer.Clock(a.ExecutedAt), a.Error}, " "))
		r.Add("  id", a.ID)
		r.Add("  undo", a.Undo)
	}
	if len(v.Actions) == 0 {
		r.Line("nothing")
	}
}
