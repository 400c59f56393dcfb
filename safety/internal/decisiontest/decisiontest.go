// Package decisiontest has decisions, and kinds of actions that are all carried out, for tests of the gate and the
// ledger.
package decisiontest

import (
	"context"

	"pgregory.net/rapid"

	"github.com/postroom-go/postroom"
)

// Kinds has all standard actions: those that package gmail does not carry out are the host's.
func Kinds() *postroom.Kinds {
	var host []postroom.Kind
	for _, t := range []postroom.ActionType{postroom.AddNote, postroom.CreateTask, postroom.Escalate, postroom.Forward,
		postroom.AutoReply} {
		kind, _ := postroom.StandardKind(t)
		kind.Handler = func(context.Context, postroom.Run, postroom.Action) (postroom.Outcome, error) {
			return postroom.Outcome{}, nil
		}
		kind.Undo = func(context.Context, postroom.Run, postroom.Action) (postroom.Commit, error) { return nil, nil } //nolint:nilnil // nothing to write
		host = append(host, kind)
	}
	kinds, err := postroom.NewKinds(postroom.KindsConfig{Add: host})
	if err != nil {
		panic(err)
	}
	return kinds
}

// Rule is a decision of the user's own rule, sure of itself.
func Rule(action postroom.ActionType, mode postroom.SafeMode) postroom.Decision {
	return postroom.Decision{
		Action: action, Confidence: 1, Rationale: "matched", Source: postroom.SourceDeterministic,
		RuleID: "rule-1", RuleName: "Receipts", SafeMode: mode,
	}
}

// Model is a decision of a model, with at most one parameter.
func Model(action postroom.ActionType, confidence float64, parameter ...string) postroom.Decision {
	d := postroom.Decision{
		Action: action, Confidence: confidence, Rationale: "it looks so", Source: postroom.SourceModel, Model: "test::one",
	}
	if len(parameter) > 0 {
		d.Parameters = postroom.Parameters{parameter[0]: parameter[1]}
	}
	return d
}

// Draw draws a decision.
func Draw(t *rapid.T) postroom.Decision {
	return postroom.Decision{
		Action:        rapid.SampledFrom(Kinds().Types()).Draw(t, "action"),
		Confidence:    rapid.Float64Range(0, 1).Draw(t, "confidence"),
		NeedsApproval: rapid.Bool().Draw(t, "asks"),
		RuleID:        rapid.SampledFrom([]string{"", "rule-1"}).Draw(t, "rule"),
		SafeMode: rapid.SampledFrom([]postroom.SafeMode{"", postroom.SafeDefault, postroom.SafeAlwaysSafe,
			postroom.SafeDangerousOverride}).Draw(t, "mode"),
	}
}
