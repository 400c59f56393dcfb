// Package calls has what is shown of the calls of models: each on record, with why an answer was given again.
package calls

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/llm"
)

// OnPage is the number of calls on a page.
const OnPage = 50

// A Call is one call of a model, or an answer that was given without one.
type Call struct {
	ID           string        `json:"id"`
	At           time.Time     `json:"at"`
	Mailbox      string        `json:"mailbox,omitempty"`
	Message      string        `json:"message,omitempty"` // the id of the message it was for, at Gmail
	Subject      string        `json:"subject,omitempty"` // of that message
	Sender       string        `json:"sender,omitempty"`
	About        string        `json:"about,omitempty"` // our id of the message, or the conversation with the assistant
	Purpose      string        `json:"purpose"`         // decide, draft, agent or chat; or as on record
	Model        string        `json:"model"`
	Outcome      llm.CallState `json:"outcome"`
	InputTokens  int           `json:"input_tokens"`
	OutputTokens int           `json:"output_tokens"`
	Dollars      float64       `json:"dollars"`
	Cost         string        `json:"cost"`
	LatencyMS    int64         `json:"latency_ms"`
	Failure      string        `json:"failure,omitempty"`
	ReusedFrom   string        `json:"reused_from,omitempty"` // the id of the call that had made the answer
	ReusedWhy    llm.Reuse     `json:"reused_why,omitempty"`
	Why          string        `json:"why,omitempty"` // why the answer was given again, in words
	TraceID      string        `json:"trace_id,omitempty"`
	RequestID    string        `json:"request_id,omitempty"` // of the provider
	Answer       string        `json:"answer,omitempty"`     // only of one call
}

// A Page is a page of calls, the newest first.
type Page struct {
	List []Call `json:"calls"`
	Next string `json:"next,omitempty"` // the id of the call after which the next page begins; empty on the last one
}

// NewPage reads a page of calls; the limit of the filter is that of the page.
func NewPage(ctx context.Context, h *app.App, f llm.CallFilter) (p Page, err error) {
	if f.Limit == 0 {
		f.Limit = OnPage
	}
	size := f.Limit
	f.Limit++
	list, err := h.Models.Records.Newest(ctx, f)
	if err != nil {
		return p, err
	}
	if len(list) > size {
		list = list[:size]
		p.Next = list[size-1].ID
	}
	p.List, err = named(ctx, h, list)
	for i := range p.List {
		p.List[i].Answer = ""
	}
	return p, err
}

// New reads one call by its id.
func New(ctx context.Context, h *app.App, id string) (Call, error) {
	c, err := h.Models.Records.Call(ctx, id)
	if err != nil {
		return Call{}, err
	}
	list, err := named(ctx, h, []llm.Call{c})
	if err != nil {
		return Call{}, err
	}
	return list[0], nil
}

// named adds the mailboxes and the messages to calls.
func named(ctx context.Context, h *app.App, list []llm.Call) ([]Call, error) {
	mailboxes, err := view.Mailboxes(ctx, h)
	if err != nil {
		return nil, err
	}
	ids := map[string][]string{}
	for _, c := range list {
		if c.AccountID != "" && c.About != "" && c.Purpose != chat {
			ids[c.AccountID] = append(ids[c.AccountID], c.About)
		}
	}
	mail := map[string]map[string]mailstore.Headline{}
	for accountID, about := range ids {
		if mail[accountID], err = h.Mail.Headlines(ctx, accountID, about); err != nil {
			return nil, err
		}
	}
	return printer.List(list, func(c llm.Call) Call { return newCall(&c, mailboxes, mail[c.AccountID][c.About]) }), nil
}

func newCall(c *llm.Call, mailboxes map[string]string, m mailstore.Headline) Call {
	return Call{ID: c.ID, At: c.At, Mailbox: mailboxes[c.AccountID], Message: m.ProviderID, Subject: m.Subject,
		Sender: m.Sender, About: c.About, Purpose: purpose(c.Purpose), Model: c.Model, Outcome: c.State,
		InputTokens: c.Usage.InputTokens, OutputTokens: c.Usage.OutputTokens, Cost: c.Cost.String(),
		Dollars: float64(c.Cost) / float64(llm.Dollar), LatencyMS: c.Latency.Milliseconds(), Failure: c.Failure,
		ReusedFrom: c.ReusedFrom, ReusedWhy: c.ReusedWhy, Why: why(c), TraceID: c.TraceID, RequestID: c.RequestID,
		Answer: c.Answer}
}

// chat is the purpose of the assistant's calls on record. They are about a conversation, and no message.
const chat = "rules_chat"

// purpose returns the purpose in the word that people know.
func purpose(recorded string) string {
	switch {
	case recorded == "classify":
		return "decide"
	case recorded == chat:
		return "chat"
	case strings.HasPrefix(recorded, "agent."):
		return "agent"
	}
	return recorded
}

// why says why an answer was given again; empty if it was not.
func why(c *llm.Call) string {
	switch {
	case c.State != llm.Cached:
		return ""
	case c.ReusedWhy == llm.EqualRequest:
		return "the request was equal to an earlier one, word for word"
	case c.ReusedWhy == llm.SameQuestion:
		return "it asked the same as an earlier request"
	case c.ReusedWhy == llm.SameTemplate:
		return "the mail has the same sender and template as one that the model was asked about"
	}
	return "it was kept; why was not yet on record"
}

// Tokens is the sum of those of the request and of the answer.
func (c *Call) Tokens() int { return c.InputTokens + c.OutputTokens }

// Took is the duration in words; empty if no provider was waited for.
func (c *Call) Took() string {
	if c.LatencyMS == 0 {
		return ""
	}
	return (time.Duration(c.LatencyMS) * time.Millisecond).String()
}

// IsChat reports whether it was a call of the assistant, and About is the conversation.
func (c *Call) IsChat() bool { return c.Purpose == "chat" }

// Words are the outcome in words.
func (c *Call) Words() string {
	switch c.Outcome {
	case llm.Cached:
		return "reused"
	case llm.Unaffordable:
		return "refused: a budget is spent"
	case llm.Refused:
		return "refused by the model"
	case llm.Calling:
		return "not answered yet, or its process died"
	}
	return string(c.Outcome)
}

// Print prints a call for people.
func (c *Call) Print(w io.Writer) error {
	f := printer.NewFields(w)
	f.Add("id", c.ID)
	f.Add("when", printer.Clock(c.At))
	f.Add("mailbox", c.Mailbox)
	f.Add("message", c.Message)
	f.Add("subject", c.Subject)
	f.Add("from", c.Sender)
	f.Add("purpose", c.Purpose)
	f.Add("model", c.Model)
	f.Add("outcome", c.Words())
	f.Add("failure", c.Failure)
	f.Add("why", c.Why)
	f.Add("answer of call", c.ReusedFrom)
	f.Add("tokens", fmt.Sprintf("%d read, %d written", c.InputTokens, c.OutputTokens))
	f.Add("cost", c.Cost)
	f.Add("took", c.Took())
	f.Add("trace", c.TraceID)
	f.Add("request", c.RequestID)
	f.Add("answer", c.Answer)
	return f.Flush()
}
