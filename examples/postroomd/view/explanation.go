package view

import (
	"context"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/enrichment"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/gmail/away"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/decide"
	"github.com/postroom-go/postroom/llm/enrich"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/safety"
)

// An Explanation is the JSON of the command explain.
type Explanation struct {
	Message Mail        `json:"message"`
	Rules   []TriedRule `json:"rules"` // in the order in which they are tried, as they are now
	// Unsure is why it is not known whether the sender has written before, which the rules are told as no.
	Unsure      string           `json:"unsure,omitempty"`
	Meaning     *enrichment.View `json:"meaning,omitempty"`      // nil when nothing was found out
	Model       *Model           `json:"model,omitempty"`        // nil when none is configured or was asked
	Decisions   []*WholeDecision `json:"decisions"`              // oldest first
	Waiting     bool             `json:"waiting"`                // the job that decides has not ended, or there is none
	DraftReason string           `json:"draft_reason,omitempty"` // why its draft has ended, or there is none
	Unanswered  string           `json:"unanswered,omitempty"`   // why it was not answered while its owner was away
	Old         bool             `json:"old,omitempty"`          // it came before its mailbox was added, and is left alone
}

// A TriedRule is a rule that was tried on a message.
type TriedRule struct {
	ID       string            `json:"id"`
	Name     string            `json:"name"`
	Priority int               `json:"priority"`
	Outcome  rules.Outcome     `json:"outcome"`
	Reason   string            `json:"reason"`
	Failed   []FailedCondition `json:"failed"`
}

// A FailedCondition is a condition that the message does not meet.
type FailedCondition struct {
	Path      string `json:"path"`
	Condition string `json:"condition"`
	Found     string `json:"found,omitempty"`
}

// A Model is the history of model calls about a message, and the current prompt.
type Model struct {
	// Instructions are those about the message, with what of them is binding; none when no model is configured.
	Instructions []Instruction `json:"instructions,omitempty"`
	Calls        []Call        `json:"calls"`
	Prompt       []Layer       `json:"prompt"`      // empty when no model is configured
	Same         bool          `json:"prompt_same"` // it is what was asked last
	Models       []string      `json:"configured"`  // the models that could be asked
}

// A Call is a question to a model.
type Call struct {
	Model     string        `json:"model"`
	Outcome   llm.CallState `json:"outcome"`
	At        time.Time     `json:"at"`
	LatencyMS int64         `json:"latency_ms"`
	Tokens    int           `json:"tokens"`
	Cost      string        `json:"cost"`
	Answer    string        `json:"answer,omitempty"`
	Failure   string        `json:"failure,omitempty"`
	TraceID   string        `json:"trace_id,omitempty"`
}

// A Layer is a part of the prompt.
type Layer struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// NewExplanation reads why something was done with a message, or nothing.
func NewExplanation(ctx context.Context, h *app.App, m *postroom.Message) (*Explanation, error) {
	names, err := h.LabelNames(ctx)
	if err != nil {
		return nil, err
	}
	x := &Explanation{Message: newMail(m, names), Decisions: []*WholeDecision{}}
	draft, err := draftOf(ctx, h, m)
	if err != nil {
		return nil, err
	}
	x.Message.Draft, x.DraftReason = draft.State, draft.Reason
	if x.Unanswered, _, err = away.Unanswered(ctx, h.DB, m.AccountID, m.ID); err != nil {
		return nil, err
	}
	explained, err := h.Engine.Explain(ctx, m)
	if err != nil {
		return nil, err
	}
	x.Rules = printer.List(explained.Rules, newTriedRule)
	if explained.Unsure != nil {
		x.Unsure = explained.Unsure.Error()
	}
	if x.Meaning, err = meaningOf(ctx, h, m); err != nil {
		return nil, err
	}
	if x.Model, err = explainModel(ctx, h, m); err != nil {
		return nil, err
	}
	decisions, err := h.Ledger.Decisions(ctx, safety.Filter{AccountID: m.AccountID, MessageID: m.ID, Limit: 100})
	if err != nil {
		return nil, err
	}
	for i := range decisions {
		d, err := NewWholeDecision(ctx, h, decisions[len(decisions)-1-i], names)
		if err != nil {
			return nil, err
		}
		x.Decisions = append(x.Decisions, d)
	}
	if len(decisions) > 0 {
		return x, nil
	}
	account, err := h.Mail.Account(ctx, m.AccountID)
	x.Old = m.ReceivedAt.Before(account.DecideSince)
	x.Waiting = !x.Old
	return x, err
}

func meaningOf(ctx context.Context, h *app.App, m *postroom.Message) (*enrichment.View, error) {
	store, err := enrich.NewStore(h.DB)
	if err != nil {
		return nil, err
	}
	return enrichment.Of(ctx, store, m)
}

func newTriedRule(r rules.RuleExplanation) TriedRule {
	return TriedRule{
		ID: r.Rule.ID, Name: r.Rule.Name, Priority: r.Rule.Priority, Outcome: r.Outcome, Reason: r.Reason,
		Failed: printer.List(r.Failed, func(f rules.FailedPredicate) FailedCondition {
			return FailedCondition{f.Path, f.Predicate, f.Found}
		}),
	}
}

// explainModel returns nil if there is no model and none was called.
func explainModel(ctx context.Context, h *app.App, m *postroom.Message) (*Model, error) {
	calls, err := h.Models.Records.CallsAbout(ctx, m.AccountID, m.ID, 100)
	if err != nil {
		return nil, err
	}
	if len(calls) == 0 && !h.Env.Config.LLM.Enabled() {
		return nil, nil //nolint:nilnil // none is no error, and explains nothing
	}
	v := &Model{Calls: printer.List(calls, newCall), Prompt: []Layer{}, Models: append([]string{}, h.Models.Names()...)}
	if !h.Env.Config.LLM.Enabled() {
		return v, nil
	}
	instructions, err := h.Models.Guidance.For(ctx, m)
	if err != nil {
		return nil, err
	}
	if v.Instructions, err = InstructionsWithMailboxes(ctx, h, instructions); err != nil {
		return nil, err
	}
	decider, err := h.Models.NewDecider()
	if err != nil {
		return nil, err
	}
	prompt, err := decider.Prompt(ctx, m)
	if err != nil {
		return nil, err
	}
	v.Prompt = printer.List(prompt.Layers, func(l decide.Layer) Layer { return Layer(l) })
	v.Same = len(calls) > 0 && calls[len(calls)-1].Prompt == prompt.Hash
	return v, nil
}

func newCall(c llm.Call) Call {
	return Call{
		Model: c.Model, Outcome: c.State, At: c.At, LatencyMS: c.Latency.Milliseconds(), Tokens: c.Usage.Total(),
		Cost:   c.Cost.String(),
		Answer: c.Answer, Failure: c.Failure, TraceID: c.TraceID,
	}
}
