package decide

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/htmltext"
)

// replyNone is how a model says that a message needs no answer.
const replyNone postroom.ReplyNeed = "none"

const replyTask = `REPLY
Beside the decision, say in reply whether the person has to answer the message: ` + string(postroom.ReplyNeeded) +
	` if somebody asks the person something, or expects an answer of the person; ` + string(postroom.ReplyWaiting) +
	` if the sender has to come back to the person first; ` + string(replyNone) +
	` otherwise, and whenever you are not sure. This says nothing about the action.`

// replyJSON is what a model says of the answer. What it may not say means none: a decision is not asked for again
// because of it.
type replyJSON postroom.ReplyNeed

func (r *replyJSON) UnmarshalJSON(raw []byte) error {
	var said postroom.ReplyNeed
	if json.Unmarshal(raw, &said) == nil && (said == postroom.ReplyNeeded || said == postroom.ReplyWaiting) {
		*r = replyJSON(said)
	}
	return nil
}

// prompt returns the prompt about a message with the examples of the host, which asks for the need for an answer, and
// a question, where the host wants that.
func (d *Decider) prompt(ctx context.Context, msg *postroom.Message, body *htmltext.Body, g Guidance) (*Prompt, error) {
	p := buildPrompt(msg, body, g, d.offered)
	examples, err := d.examplesFor(ctx, msg)
	if err != nil {
		return nil, err
	}
	p.addExamples(examples)
	if _, again := postroom.RejectionFrom(ctx); again || postroom.AskingFrom(ctx) != "" {
		return p, nil
	}
	if d.cfg.AsksReply != nil && !needsNoAnswer(msg) {
		asks, err := d.cfg.AsksReply(ctx, msg)
		if err != nil {
			return nil, fmt.Errorf("ask whether message %s may need an answer: %w", msg.ID, err)
		}
		if asks {
			p.askReply()
		}
	}
	if d.cfg.Question != nil {
		q, err := d.cfg.Question(ctx, msg)
		if err != nil {
			return nil, fmt.Errorf("ask what else is to be known about message %s: %w", msg.ID, err)
		}
		if q != nil {
			return p, p.askQuestion(q)
		}
	}
	return p, nil
}

// askReply has the model also say whether the mail needs an answer.
func (p *Prompt) askReply() {
	p.reply = true
	p.Layers = slices.Insert(p.Layers, len(p.Layers)-1, Layer{"REPLY", replyTask})
	p.Hash = (&llm.Request{Messages: p.messages(), Random: []string{p.mark}}).PromptHash()
}

// notReceived are the labels of mail that nobody answers.
var notReceived = []string{postroom.LabelSent, postroom.LabelDraft, postroom.LabelSpam, postroom.LabelTrash}

// needsNoAnswer reports whether a message needs no answer, by its form: the person or a program has sent it, it went to
// a list, it is about a meeting or about other mail, or nobody reads the answers.
func needsNoAnswer(msg *postroom.Message) bool {
	if msg.From.Email == "" || slices.ContainsFunc(notReceived, msg.HasLabel) {
		return true
	}
	header := headerOf(msg)
	for _, a := range append([]postroom.Address{msg.From}, msg.ReplyTo...) {
		header = append(header, mime.Field{Name: "From", Value: a.Email})
	}
	return len(header.Automatic()) > 0 || header.FromDaemon() || slices.ContainsFunc(msg.Attachments, isNotice)
}

// isNotice reports whether a part is an invitation, the answer to one, or a report about other mail.
func isNotice(a postroom.Attachment) bool {
	mediaType, _, _ := strings.Cut(strings.ToLower(a.ContentType), ";")
	switch strings.TrimSpace(mediaType) {
	case "text/calendar", "application/ics":
		return true
	}
	return a.Kind == string(mime.KindCalendar) || a.Kind == string(mime.KindReport)
}
