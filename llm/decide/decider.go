package decide

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/bodytext"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/internal/cleantext"
	"github.com/postroom-go/postroom/mime/authres"
)

// Config configures a [Decider]. It is copied and checked once, by [New].
type Config struct {
	// Client calls the model. Required.
	Client llm.Client
	// Escalation is the model that is asked if the first is less sure than BetterBelow, or gives no usable answer. It is
	// not asked about what the first refuses. Default nil: none.
	Escalation llm.Client
	// EscalateBelow is the confidence below which Better is asked; one that equals it is enough. Default 0.8; bounds:
	// above 0, at most 1.
	EscalateBelow float64
	// Guidance returns the user's instructions for a message. Without labels in it the model cannot choose an action that
	// takes one. Default nil: no guidance.
	Guidance func(ctx context.Context, msg *postroom.Message) (Guidance, error)
	// Examples returns what a person has made of decisions about earlier mail, newest first; the model is shown the first
	// [MaxExamples]. They must be about mail of the sender of the message and of nobody else, who could otherwise say
	// something about it: the subjects are the sender's words. Default nil: none.
	Examples func(ctx context.Context, msg *postroom.Message) ([]Example, error)
	// AuthServer is the server whose authentication results are trusted: an instruction about a sender or a domain is
	// about mail whose sender it has verified, unless it says otherwise; see guidance.Instruction. Default: Gmail's.
	AuthServer authres.Server
	// Seen reports whether mail of the sender came before. For a stranger's mail an unusable answer is asked for again
	// once, not twice: whoever sends much of it must not spend the budget. Default nil: every sender was seen.
	Seen func(ctx context.Context, msg *postroom.Message) (bool, error)
	// Kinds are the actions that are carried out. Default nil: those that package gmail carries out.
	Kinds *postroom.Kinds
	// Actions are the Kinds that the model may choose from; [postroom.None] is always among them. Default nil: all. Empty
	// but not nil leaves only none.
	Actions []postroom.ActionType
	// Temperature is the randomness of the answers; nil leaves it to the provider. Some models refuse it.
	Temperature *float64
	// Templates are the decisions that are taken again for mail of the same template. Default nil: the model is asked
	// about each.
	Templates *Templates
	// AsksReply reports whether the model is also asked, in the call in which it decides, whether the message needs an
	// answer: [postroom.Decision].Reply. It is not called for mail that needs none by its form: what lists, programs,
	// calendars and addresses that nobody reads have sent, and what the person has sent. Nor is it called in another
	// asking. An answer below EscalateBelow does not count. Default nil: the model is not asked.
	AsksReply func(ctx context.Context, msg *postroom.Message) (bool, error)
	// Question returns what the model is also asked about a message, in the call in which it decides:
	// [postroom.Decision].Enrichment. Nil asks nothing. It is not called in another asking. Default nil: nothing is asked.
	Question func(ctx context.Context, msg *postroom.Message) (*Question, error)
	// Turns keep one stranger from spending the budget of a day. Default nil: who asks first is answered first.
	Turns *Turns
}

// The limits of a model's answers.
const (
	maxTries  = 3        // the first answer, and two corrections
	newTries  = 2        // about mail of a sender who is new
	maxAnswer = 64 << 10 // bytes of one
	maxReason = 2000     // characters of a reason, in records and in the reply to the model
)

// A Decider decides by a language model. It is safe for concurrent use. [New] makes one; the zero Decider is
// unusable.
type Decider struct {
	cfg     Config
	offered []postroom.Kind // those of cfg.Actions
}

var _ postroom.Decider = (*Decider)(nil)

// New makes a decider; a bad configuration is an error that names the field.
func New(cfg Config) (*Decider, error) {
	if err := fields.Required("llm/decide: Config.Client", cfg.Client,
		"the client of a provider; package llmtest has some for tests"); err != nil {
		return nil, err
	}
	if err := cfg.checkEscalation(); err != nil {
		return nil, err
	}
	if cfg.Templates != nil && cfg.Templates.cfg.DB == nil {
		return nil, errors.New("llm/decide: Config.Templates is a zero Templates; give what NewTemplates returns")
	}
	if cfg.Turns != nil && cfg.Turns.cfg.DB == nil {
		return nil, errors.New("llm/decide: Config.Turns is a zero Turns; give what NewTurns returns")
	}
	if cfg.AuthServer.ID == "" {
		cfg.AuthServer = gmailServer
	}
	if cfg.Actions == nil {
		cfg.Actions = cfg.Kinds.Types()
	}
	for _, a := range cfg.Actions {
		if _, err := cfg.Kinds.Find(a); err != nil {
			return nil, fmt.Errorf("llm/decide: Config.Actions: %w", err)
		}
	}
	cfg.Actions = append(slices.Clone(cfg.Actions), postroom.None)
	slices.Sort(cfg.Actions)
	cfg.Actions = slices.Compact(cfg.Actions)
	d := &Decider{cfg: cfg}
	for _, a := range cfg.Actions {
		kind, _ := cfg.Kinds.Kind(a)
		d.offered = append(d.offered, kind)
	}
	return d, nil
}

// Decide asks the model about the message. It returns an unusable answer to the model, with the fault, up to twice.
// After that, and if the model refuses or cannot read the message, the decision is none, and says so. The escalation
// model is asked when the first is not sure. After a rejection ([postroom.WithRejection]) the model is told what the
// person has rejected and why; then, and in another asking ([postroom.WithAsking]), no earlier decision is taken again.
// The error is that of Guidance, Examples, AsksReply or Question, or the [llm.HandlerError] of the client's error.
func (d *Decider) Decide(ctx context.Context, msg *postroom.Message) (postroom.Decision, error) {
	g, err := d.guidance(ctx, msg)
	if err != nil {
		return postroom.Decision{}, err
	}
	body := bodytext.From(ctx).Body(msg)
	p, err := d.prompt(ctx, msg, body, g)
	if err != nil {
		return postroom.Decision{}, err
	}
	rejection, again := postroom.RejectionFrom(ctx)
	if again {
		p.reject(rejection)
	}
	if mail, key, ok := d.templateKey(msg, body, p); ok && !again && postroom.AskingFrom(ctx) == "" {
		return d.decideTemplate(ctx, msg, g, p, mail, key)
	}
	decision, err := d.ask(ctx, msg, g, p)
	if p.hides {
		decision.Explanations.SalientFeatures = append(decision.Explanations.SalientFeatures,
			"the message holds text that is hidden from its reader; the model was not shown it")
	}
	return decision, err
}

// purpose is that of all calls about what to do with mail.
const purpose = "classify"

// askOne asks one model. It reports whether the escalation model may be asked the same: a refusal is final.
func (d *Decider) askOne(ctx context.Context, client llm.Client, msg *postroom.Message, g Guidance,
	p *Prompt) (_ postroom.Decision, open bool, err error) {
	tries, err := d.tries(ctx, msg)
	if err != nil {
		return postroom.Decision{}, false, err
	}
	messages, tool := p.messages(), decisionTool(p.actions(), p.reply, p.question)
	asks := p.question != nil
	var resp *llm.Response
	var fault error
	tokens := 0
	for try := range tries {
		resp, err = llm.Complete(ctx, client, &llm.Request{
			Messages: slices.Clone(messages), Tools: []llm.Tool{tool}, ForceTool: RecordDecision,
			AccountID: msg.AccountID, About: msg.ID, Purpose: purpose, Random: []string{p.mark},
			Temperature: d.cfg.Temperature, Asking: postroom.AskingFrom(ctx),
		})
		if decision, ok := unanswerable(err); ok {
			refused := errors.Is(err, llm.ErrRefused)
			if refused {
				decision.Enrichment = p.refused(decision.Rationale, try, tokens)
			}
			return decision, !refused, nil
		}
		if err != nil {
			return postroom.Decision{}, false, fmt.Errorf("ask the model about message %s: %w", msg.ID, err)
		}
		tokens += resp.Usage.Total()
		answer, err := d.read(resp, g, p)
		if err == nil {
			answer.Decision.Enrichment = p.answered(answer.enrichment, try+1, tokens)
			return answer.Decision, answer.Decision.Confidence < d.cfg.EscalateBelow, nil
		}
		fault = err
		if asks && errors.Is(err, ErrTooLong) { // the answer to the question may be what is long: the decision is worth more
			asks = false
			messages, tool = p.withoutQuestion().messages(), decisionTool(p.actions(), p.reply, nil)
			continue
		}
		messages = append(messages, correction(resp, RecordDecision, err)...)
	}
	return undecided(resp.Model, fmt.Sprintf(noneUsable+"%d tries, so nothing is done: %s",
		tries, cleantext.Cut(cleantext.OneLine(strings.ReplaceAll(fault.Error(), "\n", "; ")), maxReason))), true, nil
}

// tries returns how often the model may answer about a message.
func (d *Decider) tries(ctx context.Context, msg *postroom.Message) (int, error) {
	if d.cfg.Seen == nil {
		return maxTries, nil
	}
	seen, err := d.cfg.Seen(ctx, msg)
	if err != nil {
		return 0, fmt.Errorf("ask whether the sender of message %s is new: %w", msg.ID, err)
	}
	if !seen {
		return newTries, nil
	}
	return maxTries, nil
}

func (d *Decider) guidance(ctx context.Context, msg *postroom.Message) (g Guidance, err error) {
	if msg == nil {
		return g, errors.New("llm/decide: the message is nil; give the one to decide about")
	}
	if d.cfg.Guidance == nil {
		return g, nil
	}
	if g, err = d.cfg.Guidance(ctx, msg); err != nil {
		return g, fmt.Errorf("guidance for message %s: %w", msg.ID, err)
	}
	g.Instructions = instructionsFor(g.Instructions, msg, d.cfg.AuthServer)
	return g, nil
}

// Prompt returns the prompt for the message now. It calls no model. The error is that of Guidance, Examples,
// AsksReply or Question.
func (d *Decider) Prompt(ctx context.Context, msg *postroom.Message) (*Prompt, error) {
	g, err := d.guidance(ctx, msg)
	if err != nil {
		return nil, err
	}
	return d.prompt(ctx, msg, bodytext.From(ctx).Body(msg), g)
}

// unanswerable returns a decision for a failure that the message causes: it would recur.
func unanswerable(err error) (postroom.Decision, bool) {
	var e *llm.Error
	// A bad request is a fault of the program, whatever the message.
	if !errors.As(err, &e) || e.Class() != llm.Fatal || errors.Is(e, llm.ErrBadRequest) {
		return postroom.Decision{}, false
	}
	return undecided(e.Model, noneGiven+", so nothing is done: "+reasonOf(e).Error()), true
}

// reasonOf is never nil.
func reasonOf(e *llm.Error) error { return cmp.Or(e.Reason, llm.ErrUnavailable) }

// undecided is the decision about mail that the model could not decide about: it stays where it is, and nobody is
// asked.
func undecided(model, rationale string) postroom.Decision {
	return postroom.Decision{Action: postroom.None, Source: postroom.SourceModel, Model: model, Rationale: rationale}
}

// Unusable reports whether a decision is a [Decider]'s about a message that its model has given no usable answer about,
// and refused or could not read otherwise: nothing is done then, and nobody is asked.
func Unusable(d *postroom.Decision) bool {
	return d.Source == postroom.SourceModel && d.Action == postroom.None && d.Confidence == 0 &&
		(strings.HasPrefix(d.Rationale, noneUsable) || strings.HasPrefix(d.Rationale, noneGiven))
}

// The beginnings of the rationales of such decisions.
const (
	noneUsable = "The model gave no usable decision in "
	noneGiven  = "The model cannot decide about this message"
)

// read parses an answer and checks it against the offered actions and labels.
func (d *Decider) read(resp *llm.Response, g Guidance, p *Prompt) (Answer, error) {
	answer, err := Parse(resp, d.cfg.Kinds)
	if err != nil {
		return answer, err
	}
	if quotes(resp, p.mail()) {
		return answer, fmt.Errorf("%w: the one in it stands in the mail as well; write your own", ErrAmbiguous)
	}
	decision := &answer.Decision
	if !p.reply || decision.Confidence < d.cfg.EscalateBelow {
		decision.Reply = ""
	}
	if actions := p.actions(); !slices.Contains(actions, decision.Action) {
		return answer, fmt.Errorf("%w: decision: action %s is not offered; the actions are %v", ErrInvalidDecision,
			decision.Action, actions)
	}
	for _, parameter := range d.cfg.Kinds.LabelParameters(decision.Action) {
		if name, given := decision.Parameters.Text(parameter); given && !offered(g.Labels, name) {
			return answer, fmt.Errorf("%w: decision: label %q is not one of AVAILABLE LABELS", ErrInvalidDecision, name)
		}
	}
	return answer, nil
}

func offered(labels []postroom.Label, name string) bool {
	return slices.ContainsFunc(labels, func(l postroom.Label) bool {
		return l.AvailableToClassifier && strings.EqualFold(l.Name, name)
	})
}

// correction repeats the model's turn and answers it with the fault. Providers require an answer to each tool call.
func correction(resp *llm.Response, tool string, fault error) []llm.Message {
	text := fmt.Sprintf("That was not usable: %s. Call %s exactly once, with arguments that fit its schema.",
		cleantext.Cut(fault.Error(), maxReason), tool)
	turn := []llm.Message{resp.Message()}
	if size(resp) > maxAnswer {
		// An answer that was too long to read is too long to send back.
		return []llm.Message{{Role: llm.RoleAssistant, Text: "(an answer that was too long)"},
			{Role: llm.RoleUser, Text: text}}
	}
	if len(resp.ToolCalls) == 0 {
		return append(turn, llm.Message{Role: llm.RoleUser, Text: text})
	}
	for _, call := range resp.ToolCalls {
		turn = append(turn, llm.Message{Role: llm.RoleTool, Text: text, ToolCallID: call.ID})
	}
	return turn
}
