package mcp

import (
	"context"
	"errors"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/view/drafts"
	"github.com/postroom-go/postroom/gmail/replies"
	"github.com/postroom-go/postroom/safety"
)

// A Draft is how far the answer to a thread is.
type Draft struct {
	Thread  string        `json:"thread_id"`
	Mailbox string        `json:"mailbox"`
	Message string        `json:"message"          jsonschema:"id of the message that is answered"`
	From    string        `json:"from"`
	Subject string        `json:"subject"`
	State   replies.State `json:"state"`
	Reason  string        `json:"reason,omitempty"`
	Since   time.Time     `json:"since"`
}

func (s *server) addDraftTools() {
	addTool(s, &sdk.Tool{Name: "drafts_list", Title: "List drafts of answers",
		Description: "Lists which mail gets a draft of an answer and how far that is, the latest change first, at most 50. " +
			"A person alone sends a draft."}, s.drafts)
}

type draftsInput struct {
	Mailbox string `json:"mailbox,omitempty" jsonschema:"only those of this address"`
	All     bool   `json:"all,omitempty"     jsonschema:"also those that were sent or have ended otherwise"`
}

type draftsOutput struct {
	Drafts []Draft `json:"drafts"`
}

func (s *server) drafts(ctx context.Context, c *call, in draftsInput) (out draftsOutput, err error) {
	var of safety.Filter
	if err := s.restrict(ctx, &of, in.Mailbox); err != nil {
		return out, err
	}
	f := replies.Filter{AccountID: of.AccountID, States: drafts.Open(), Limit: mostListed}
	if in.All {
		f.States = nil
	}
	page, err := drafts.NewPage(ctx, s.app, f)
	if err != nil {
		return out, err
	}
	out.Drafts = make([]Draft, len(page.List))
	for i, d := range page.List {
		if err := s.noticeDraft(ctx, c, d); err != nil {
			return out, err
		}
		out.Drafts[i] = Draft{d.ID, d.Mailbox, d.MessageID, d.From, d.Subject, d.State, d.Reason, d.Since}
	}
	return out, nil
}

// noticeDraft notes that the message of a draft was shown.
func (s *server) noticeDraft(ctx context.Context, c *call, d drafts.Draft) error {
	account, err := s.app.Mail.AccountByEmail(ctx, d.Mailbox)
	if err != nil {
		return err
	}
	var m *postroom.Message
	id, err := s.app.Mail.MessageID(ctx, account.ID, d.MessageID)
	if err == nil {
		m, err = s.app.Mail.Message(ctx, account.ID, id)
	}
	if errors.Is(err, postroom.ErrNotFound) {
		c.untrusted = true
		return nil
	}
	if err != nil {
		return err
	}
	return s.notice(ctx, c, m)
}
