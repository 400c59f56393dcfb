package llm

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/fields"
)

// Config configures a [Decider]. It is copied and checked once, by [NewDecider].
type Config struct {
	// Client calls the model. Required.
	Client Client
	// Guidance returns the user's instructions for a message. Without labels in it the model cannot choose an action that
	// takes one. Default nil: no guidance.
	Guidance func(ctx context.Context, msg *postroom.Message) (Guidance, error)
	// Actions are the actions that the model may choose from; [postroom.None] is always among them. Default nil:
	// [postroom.MailboxActions], which package gmail carries out. Name others only where the host carries them out. Empty
	// but not nil leaves only none.
	Actions []postroom.ActionType
	// HTMLText returns the text of HTML, and should leave out text that a person does not see; mime.TextFromHTML keeps
	// what styles hide. Default nil: the model does not see a body that is only HTML; the prompt says that there is one.
	HTMLText func(html string) string
}

// maxTries bounds the answers of a model: the first, and two corrections.
const maxTries = 3

// A Decider decides by a language model. It is safe for concurrent use. [NewDecider] makes one; the zero Decider is
// unusable.
type Decider struct{ cfg Config }

var _ postroom.Decider = (*Decider)(nil)

// NewDecider makes a decider; a bad configuration is an error that names the field.
func NewDecider(cfg Config) (*Decider, error) {
	if err := fields.Required("llm: Config.Client", cfg.Client, "the client of a provider; package llmtest has some for tests"); err != nil {
		return nil, err
	}
	if cfg.Actions == nil {
		cfg.Actions = postroom.MailboxActions()
	}
	for _, a := range cfg.Actions {
		if !a.Valid() {
			return nil, fmt.Errorf("llm: Config.Actions: %q is not an action; the actions are %v", string(a), postroom.ActionTypes())
		}
	}
	cfg.Actions = append(slices.Clone(cfg.Actions), postroom.None)
	slices.Sort(cfg.Actions)
	cfg.Actions = slices.Compact(cfg.Actions)
	return &Decider{cfg}, nil
}

// Decide asks the model about the message. It returns an unusable answer to the model, with the fault, up to twice; after
// that the decision is none and needs approval. The error is that of Guidance, or the [Verdict] on the client's error.
func (d *Decider) Decide(ctx context.Context, msg *postroom.Message) (postroom.Decision, error) {
	var guidance Guidance
	if d.cfg.Guidance != nil {
		var err error
		if guidance, err = d.cfg.Guidance(ctx, msg); err != nil {
			return postroom.Decision{}, fmt.Errorf("guidance for message %s: %w", msg.ID, err)
		}
	}
	p := buildPrompt(msg, guidance, d.cfg.Actions, d.cfg.HTMLText)
	messages := []Message{{Role: RoleSystem, Text: p.system}, {Role: RoleUser, Text: p.user}}
	tools := []Tool{decisionTool(d.cfg.Actions)}
	var resp *Response
	var fault error
	for range maxTries {
		var err error
		resp, err = d.cfg.Client.Complete(ctx, &Request{Messages: slices.Clone(messages), Tools: tools, ForceTool: RecordDecision})
		if err != nil {
			return postroom.Decision{}, Verdict(fmt.Errorf("ask the model about message %s: %w", msg.ID, err))
		}
		answer, err := d.read(resp, guidance.Labels)
		if err == nil {
			return answer.Decision, nil
		}
		fault = err
		messages = append(messages, correction(resp, err)...)
	}
	return postroom.Decision{
		Action: postroom.None, NeedsApproval: true, Source: postroom.SourceModel, Model: resp.Model,
		Rationale: fmt.Sprintf("The model gave no usable decision in %d tries, a person must look: %s", maxTries, strings.ReplaceAll(fault.Error(), "\n", "; ")),
	}, nil
}

// read parses an answer and checks it against the actions and labels that were offered.
func (d *Decider) read(resp *Response, labels []postroom.Label) (Answer, error) {
	answer, err := ParseDecision(resp)
	if err != nil {
		return answer, err
	}
	decision := &answer.Decision
	if !slices.Contains(d.cfg.Actions, decision.Action) {
		return answer, fmt.Errorf("%w: decision: action %s is not offered; the actions are %v", ErrInvalidDecision, decision.Action, d.cfg.Actions)
	}
	if name, _ := decision.Parameters.Text(postroom.ParamLabel); decision.Action.TakesLabel() && !offered(labels, name) {
		return answer, fmt.Errorf("%w: decision: label %q is not one of AVAILABLE LABELS", ErrInvalidDecision, name)
	}
	return answer, nil
}

func offered(labels []postroom.Label, name string) bool {
	return slices.ContainsFunc(labels, func(l postroom.Label) bool {
		return l.AvailableToClassifier && strings.EqualFold(l.Name, name)
	})
}

// correction repeats the model's turn and answers it with the fault. Providers require an answer to each tool call.
func correction(resp *Response, fault error) []Message {
	text := fmt.Sprintf("That was not usable: %v. Call %s exactly once, with arguments that fit its schema.", fault, RecordDecision)
	turn := []Message{{Role: RoleAssistant, Text: resp.Text, ToolCalls: resp.ToolCalls}}
	if len(resp.ToolCalls) == 0 {
		return append(turn, Message{Role: RoleUser, Text: text})
	}
	for _, call := range resp.ToolCalls {
		turn = append(turn, Message{Role: RoleTool, Text: text, ToolCallID: call.ID})
	}
	return turn
}
