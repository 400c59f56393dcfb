package mcp

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/llm/agent"
	"github.com/postroom-go/postroom/llm/compose"
)

const (
	draftTool = "propose_draft"

	longestDraft = 2000 // characters, as of an agent's
)

func (s *server) addDraftProposals() {
	addTool(s, &sdk.Tool{Name: draftTool, Title: "Propose a draft of an answer",
		Description: "Proposes a draft of an answer to a message, for the user to read, change and send or not: nothing is " +
			"sent. It goes to the sender, or with everybody to all who take part in the thread; no address can be named. Facts " +
			"that nobody in the thread has said are marked [check: …] in it. The safety gate judges it.",
		Annotations: &sdk.ToolAnnotations{DestructiveHint: new(bool)}}, s.proposeDraft)
}

type draftInput struct {
	Message   string `json:"message"             jsonschema:"id of a message that this session has been shown"`
	Body      string `json:"body"                jsonschema:"plain text of 1 to 2000 characters, without a signature and a quotation"`
	Everybody bool   `json:"everybody,omitempty" jsonschema:"to all who take part in the thread, if the sender is verified"`
	Why       string `json:"why"                 jsonschema:"the reason, for the user: 1 to 500 characters"`
	Mailbox   string `json:"mailbox,omitempty"   jsonschema:"address of the mailbox; may be left out where there is one"`
}

type draftOutput struct {
	proposal

	To   []string `json:"to"`
	Body string   `json:"body" jsonschema:"the text of the draft, with its facts marked that are to be checked"`
}

func (s *server) proposeDraft(ctx context.Context, c *call, in draftInput) (out draftOutput, err error) {
	account, err := s.account(ctx, in.Mailbox)
	if err != nil {
		return out, err
	}
	if !s.wasShown(account.ID, in.Message) {
		return out, usage.Errorf("message: this session has not been shown a message %q: find it with mail_search", in.Message)
	}
	m, err := s.app.FindMessage(ctx, account, in.Message)
	if err != nil {
		return out, err
	}
	d := s.proposed(agent.Draft, in.Why)
	if d.Rationale == "" {
		return out, errNoReason
	}
	if out.To, out.Body, err = s.answer(ctx, m, in); err != nil {
		return out, err
	}
	d.Parameters = postroom.Parameters{"to": out.To, "body": out.Body}
	if err := d.Validate(s.app.Ledger.Kinds(), time.Now()); err != nil {
		return out, usage.Wrap(err)
	}
	done, err := s.recordAll(ctx, c, draftTool, d, []*postroom.Message{m})
	if err == nil {
		out.proposal = done.Proposals[0]
	}
	return out, err
}

// answer returns whom a draft goes to and its text. The recipients are those of an agent's answer.
func (s *server) answer(ctx context.Context, m *postroom.Message, in draftInput) (to []string, body string, err error) {
	if n := utf8.RuneCountInString(in.Body); n > longestDraft {
		return nil, "", usage.Errorf("body has %d characters; it must have 1 to %d", n, longestDraft)
	}
	thread, people, err := s.app.Agents.Conversation(ctx, m)
	if err != nil {
		return nil, "", err
	}
	if len(people) == 0 || isSent(m) {
		return nil, "", usage.Errorf("message %s is the user's own: name the one of somebody else that is to be answered", in.Message)
	}
	if !in.Everybody {
		people = people[:1]
	}
	body = compose.Check(ctx, compose.Request{AccountID: m.AccountID, Message: m, Thread: thread},
		s.app.Env.Config.Replies.About, in.Body)
	if strings.TrimSpace(body) == "" {
		return nil, "", usage.Errorf("body is blank; it must have 1 to %d characters", longestDraft)
	}
	return people, body, nil
}
