package compose

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/internal/cleantext"
)

// WriteAnswer is the name of the tool that a model calls to answer.
const WriteAnswer = "write_answer"

// A Request is an answer that is wanted.
type Request struct {
	AccountID string
	// Message is the one to answer. Required.
	Message *postroom.Message
	// Thread are the messages of the thread, oldest first. Those that the mailbox has sent have the label SENT.
	Thread []*postroom.Message
	// Examples are answers that the person has sent to the same correspondent before, the best first. The model sees the
	// person's own passages of at most three, for the way to write alone: what they say is no source of facts.
	Examples []*postroom.Message
	// Earlier is other mail between the person and the correspondent, the best first, without mail of anybody else. The
	// model sees what is newly written in at most five messages, and may take facts from it.
	Earlier []*postroom.Message
	// Snippets are texts that the person uses in answers. The model may use them, and take facts from them.
	Snippets []string
	// Voice says how the person writes, as [Composer.Voice] describes it or as the person does; it may be empty. It is no
	// source of facts.
	Voice string
	// Nudge wants a reminder: nobody has answered Message, which the person has sent.
	Nudge bool
	// Text is a text to write again; empty for the first one.
	Text string
	// Instruction is what the person wants of it; it may be empty.
	Instruction string
}

// Config configures a [Composer]. It is copied and checked once, by [New].
type Config struct {
	// Client is the model. Required.
	Client llm.Client
	// About is what the person says about itself and its way to write, for every answer. Default empty.
	About string
	// Temperature is that of [llm.Request].
	Temperature *float64
}

// A Composer writes answers. It is safe for concurrent use. [New] makes one; the zero Composer is unusable.
type Composer struct{ cfg Config }

// New makes a composer; a missing field is an error that names it.
func New(cfg Config) (*Composer, error) {
	err := fields.Required("compose: Config.Client", cfg.Client, "the client of a model")
	return &Composer{cfg}, err
}

// maxTries is how often a model may answer that does not call the tool as asked.
const maxTries = 2

var errNoAnswer = errors.New("the model does not call the tool " + WriteAnswer + " with a text")

// Write returns the text of an answer; empty if the model leaves it to a person, or refuses. An error of the client is
// the [llm.HandlerError] of it.
func (c *Composer) Write(ctx context.Context, r Request) (string, error) {
	if r.Message == nil {
		return "", errors.New("compose: Request.Message is nil; give the message to answer")
	}
	p := newPrompt(ctx, &r, c.cfg.About)
	var fault error
	for range maxTries {
		resp, err := llm.Complete(ctx, c.cfg.Client, &llm.Request{
			Messages: p.messages, Tools: []llm.Tool{answerTool}, ForceTool: WriteAnswer, AccountID: r.AccountID,
			About: r.Message.ID, Purpose: "draft", Random: []string{p.mark}, Temperature: c.cfg.Temperature,
		})
		if errors.Is(err, llm.ErrRefused) {
			return "", nil
		}
		if err != nil {
			return "", llm.HandlerError(fmt.Errorf("compose: an answer to message %s: %w", r.Message.ID, err))
		}
		text, err := readAnswer(resp)
		if err == nil {
			return mark(text, p.known()), nil
		}
		fault = err
		// another request, or a stored answer would be the same one
		p.messages = slices.Clone(p.messages)
		p.messages[1].Text += "\n\nYour last answer was none: " + errNoAnswer.Error() + "."
	}
	return "", fmt.Errorf("compose: an answer to message %s: %w", r.Message.ID, fault)
}

// Check returns a text that another has written as the answer of a request, with the facts marked that nobody in the
// thread has said, nor the person in about: as those of [Composer.Write] are. What nobody sees in it is left out.
func Check(ctx context.Context, r Request, about, text string) string {
	return mark(strings.TrimSpace(cleantext.Visible(text)), newPrompt(ctx, &r, about).known())
}

var answerTool = llm.Tool{Name: WriteAnswer,
	Description: "Return the answer. Call it exactly once.",
	Schema: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["person_writes","text"],"properties":{` +
		`"text":{"type":"string","description":"The text of the answer, plain, without a signature and without a quotation."},` +
		`"person_writes":{"type":"boolean","description":"True if the person has to write this answer without help; the text is empty then."}}}`)}

func readAnswer(resp *llm.Response) (string, error) {
	if len(resp.ToolCalls) != 1 || resp.ToolCalls[0].Name != WriteAnswer || resp.Stop == llm.StopLength {
		return "", errNoAnswer
	}
	var answer struct {
		Text         *string `json:"text"`
		PersonWrites bool    `json:"person_writes"`
	}
	if err := json.Unmarshal([]byte(resp.ToolCalls[0].Arguments), &answer); err != nil {
		return "", fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	switch {
	case answer.PersonWrites:
		return "", nil
	case answer.Text == nil || strings.TrimSpace(*answer.Text) == "":
		return "", errNoAnswer
	}
	return strings.TrimSpace(*answer.Text), nil
}
