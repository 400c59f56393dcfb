package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/decide"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/safety"
)

func explainCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "explain ID",
		Short: "Tell why something was done with a message, or nothing",
		Long: "Tell why something was done with a message, or nothing: what each rule makes of it now and which condition fails on what,\n" +
			"what a model was asked and answered, what the gate said, what was done, and how it is taken back. The id is the message's,\n" +
			"Gmail's as 'postroomd mail list' has it or ours, or that of an action, as 'postroomd actions' has it. It asks no model and\n" +
			"changes nothing.",
		Args: cobra.ExactArgs(1),
	}
	place, address := placeFlag(cmd), mailboxFlag(cmd)
	prompt := cmd.Flags().Bool("prompt", false, "also show all that a model would be told about the message now")
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return look(cmd, place, func(ctx context.Context, h *host) error {
			m, err := h.explained(ctx, cmd.ErrOrStderr(), *address, args[0])
			if err != nil {
				return err
			}
			x, err := h.explain(ctx, m)
			if err != nil {
				return err
			}
			if *asJSON {
				return printer.JSON(cmd.OutOrStdout(), x)
			}
			r := printer.NewReport(cmd.OutOrStdout())
			x.print(r, *prompt)
			return r.Flush()
		})
	}
	return cmd
}

// explained finds the message by its own id, or by that of one of its actions, and prints the latter.
func (h *host) explained(ctx context.Context, said io.Writer, address, id string) (*postroom.Message, error) {
	account, err := h.mailbox(ctx, address)
	var m *postroom.Message
	if err == nil {
		m, err = h.message(ctx, account, id)
	}
	if _, ok := errors.AsType[usage.Error](err); !ok || address != "" && account.ID == "" {
		return m, err
	}
	actionID, none := h.ledger.Resolve(ctx, id)
	switch {
	case errors.Is(none, postroom.ErrNotFound) && account.ID != "":
		return nil, usage.Errorf("%s has no message %s, and no action of its messages has that id; see 'postroomd mail list' and 'postroomd actions'", account.Email, id)
	case errors.Is(none, postroom.ErrNotFound):
		return nil, err // name the mailbox
	case errors.Is(none, safety.ErrAmbiguous):
		return nil, usage.Errorf("%w; 'postroomd actions' lists the actions", none)
	case none != nil:
		return nil, none
	}
	return h.messageOfAction(ctx, said, account, actionID)
}

// messageOfAction returns the message of an action in the mailbox, or in any if none is given.
func (h *host) messageOfAction(ctx context.Context, said io.Writer, account gmail.Account, actionID string) (*postroom.Message, error) {
	a, err := h.ledger.Action(ctx, actionID)
	if err != nil {
		return nil, err
	}
	if account.ID != "" && account.ID != a.AccountID {
		return nil, usage.Errorf("%s is an action of another mailbox than %s", actionID, account.Email)
	}
	m, err := h.mail.Message(ctx, a.AccountID, a.MessageID)
	switch {
	case errors.Is(err, postroom.ErrNotFound):
		return nil, usage.Errorf("%s is an action whose message %s is no longer stored", actionID, a.MessageID)
	case err != nil:
		return nil, err
	}
	_, err = fmt.Fprintf(said, "action %s is of message %s\n", actionID, m.ProviderID)
	return m, err
}

// An explanation is the JSON of the command explain.
type explanation struct {
	Message   mailView             `json:"message"`
	Rules     []ruleView           `json:"rules"`           // in the order in which they are tried, as they are now
	Model     *modelView           `json:"model,omitempty"` // nil when none is configured or was asked
	Decisions []*wholeDecisionView `json:"decisions"`       // oldest first
	Waiting   bool                 `json:"waiting"`         // the job that decides has not ended
}

type ruleView struct {
	ID       string        `json:"id"`
	Name     string        `json:"name"`
	Priority int           `json:"priority"`
	Outcome  rules.Outcome `json:"outcome"`
	Reason   string        `json:"reason"`
	Failed   []failedView  `json:"failed"`
}

type failedView struct {
	Path      string `json:"path"`
	Condition string `json:"condition"`
	Found     string `json:"found,omitempty"`
}

// A modelView is the history of model calls about a message, and the current prompt.
type modelView struct {
	Calls  []callView  `json:"calls"`
	Prompt []layerView `json:"prompt"`      // empty when no model is configured
	Same   bool        `json:"prompt_same"` // it is what was asked last
	Models []string    `json:"configured"`  // the models that could be asked
	// Instructions are those about the message, with what of them is binding; none when no model is configured.
	Instructions []instructionView `json:"instructions,omitempty"`
}

type callView struct {
	Model     string      `json:"model"`
	Outcome   llm.Outcome `json:"outcome"`
	At        time.Time   `json:"at"`
	LatencyMS int64       `json:"latency_ms"`
	Tokens    int         `json:"tokens"`
	Cost      string      `json:"cost"`
	Answer    string      `json:"answer,omitempty"`
	Failure   string      `json:"failure,omitempty"`
	TraceID   string      `json:"trace_id,omitempty"`
}

type layerView struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

func (h *host) explain(ctx context.Context, m *postroom.Message) (*explanation, error) {
	names, err := h.labelNames(ctx)
	if err != nil {
		return nil, err
	}
	x := &explanation{Message: viewMail(m, names), Decisions: []*wholeDecisionView{}}
	if x.Rules, err = h.explainRules(ctx, m); err != nil {
		return nil, err
	}
	if x.Model, err = h.explainModel(ctx, m); err != nil {
		return nil, err
	}
	decisions, err := h.ledger.Decisions(ctx, safety.Filter{AccountID: m.AccountID, MessageID: m.ID, Limit: 100})
	if err != nil {
		return nil, err
	}
	for i := range decisions {
		d, err := h.viewWholeDecision(ctx, decisions[len(decisions)-1-i], names)
		if err != nil {
			return nil, err
		}
		x.Decisions = append(x.Decisions, d)
	}
	x.Waiting = len(decisions) == 0
	return x, nil
}

func (h *host) explainRules(ctx context.Context, m *postroom.Message) ([]ruleView, error) {
	engine, err := h.engine()
	if err != nil {
		return nil, err
	}
	explained, err := engine.Explain(ctx, m)
	if err != nil {
		return nil, err
	}
	return printer.List(explained.Rules, viewRule), nil
}

func viewRule(r rules.RuleExplanation) ruleView {
	return ruleView{
		ID: r.Rule.ID, Name: r.Rule.Name, Priority: r.Rule.Priority, Outcome: r.Outcome, Reason: r.Reason,
		Failed: printer.List(r.Failed, func(f rules.FailedLeaf) failedView { return failedView{f.Path, f.Leaf, f.Found} }),
	}
}

// explainModel returns nil if there is no model and none was called.
func (h *host) explainModel(ctx context.Context, m *postroom.Message) (*modelView, error) {
	calls, err := h.records.CallsAbout(ctx, m.AccountID, m.ID, 100)
	if err != nil {
		return nil, err
	}
	if len(calls) == 0 && !h.env.Config.LLM.Enabled() {
		return nil, nil //nolint:nilnil // none is no error, and explains nothing
	}
	v := &modelView{Calls: printer.List(calls, viewCall), Prompt: []layerView{}, Models: append([]string{}, h.models()...)}
	if !h.env.Config.LLM.Enabled() {
		return v, nil
	}
	decider, err := h.decider()
	if err != nil {
		return nil, err
	}
	prompt, err := decider.Prompt(ctx, m)
	if err != nil {
		return nil, err
	}
	v.Prompt = printer.List(prompt.Layers, func(l decide.Layer) layerView { return layerView(l) })
	instructions, err := h.guide.For(ctx, m)
	if err != nil {
		return nil, err
	}
	if v.Instructions, err = withMailboxes(ctx, h, instructions); err != nil {
		return nil, err
	}
	v.Same = len(calls) > 0 && calls[len(calls)-1].Prompt == prompt.Hash
	return v, nil
}

func viewCall(c llm.Call) callView {
	return callView{
		Model: c.Model, Outcome: c.Outcome, At: c.At, LatencyMS: c.Latency.Milliseconds(), Tokens: c.Usage.Total(), Cost: c.Cost.String(),
		Answer: c.Answer, Failure: c.Failure, TraceID: c.TraceID,
	}
}
