package mcp

import (
	"context"
	"slices"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/mailindex"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/mime/htmltext"
	"github.com/postroom-go/postroom/safety"
)

// The bounds of answers.
const (
	mostHits     = 25
	mostInThread = 20
	longestText  = 8000 // characters of a message
	longestShort = 500  // of a message in a thread
	longestLine  = 120  // of a subject
)

// An Address is a correspondent.
type Address struct {
	Name  string `json:"name,omitempty"`
	Email string `json:"email"`
}

func addresses(list []postroom.Address) []Address {
	return printer.List(list, func(a postroom.Address) Address { return Address{oneLine(a.Name, longestLine), a.Email} })
}

// A Hit is a message in a list.
type Hit struct {
	ID         string    `json:"id"`
	ThreadID   string    `json:"thread_id"`
	From       Address   `json:"from"`
	Subject    string    `json:"subject"`
	ReceivedAt time.Time `json:"received_at"`
	Labels     []string  `json:"labels"`
}

func newHit(m *postroom.Message, names app.LabelNames) Hit {
	return Hit{ID: m.ProviderID, ThreadID: m.ProviderThreadID, From: addresses([]postroom.Address{m.From})[0],
		Subject: oneLine(m.Subject, longestLine), ReceivedAt: m.ReceivedAt, Labels: view.LabelsOf(m, names)}
}

// A Message is a message with its text.
type Message struct {
	Hit
	To          []Address `json:"to"`
	Cc          []Address `json:"cc"`
	Attachments []string  `json:"attachments" jsonschema:"names of files"`
	Verified    bool      `json:"verified"    jsonschema:"whether Gmail has verified the domain of the sender"`
	Known       bool      `json:"known"       jsonschema:"whether the user has written to the sender"`
	Text        string    `json:"text"        jsonschema:"the text as a person sees it"`
	Cut         bool      `json:"cut"         jsonschema:"whether the text is longer"`
}

func (s *server) addMailTools() {
	addTool(s, &sdk.Tool{Name: "mail_search", Title: "Search mail",
		Description: "Finds stored messages, newest first, at most 25 at a time. A query is as in Gmail's search box."},
		s.search)
	addTool(s, &sdk.Tool{Name: "mail_read", Title: "Read a message",
		Description: "Returns one message as a person sees it, without hidden text and files, at most 8,000 characters."},
		s.read)
	addTool(s, &sdk.Tool{Name: "mail_thread", Title: "Outline a thread",
		Description: "Returns the newest 20 messages of a thread, oldest first, each with the beginning of its text."},
		s.thread)
}

type searchInput struct {
	Query   string `json:"query"             jsonschema:"such as: from:ada@example.org newer_than:7d"`
	Mailbox string `json:"mailbox,omitempty" jsonschema:"address of the mailbox; may be left out where there is one"`
	Limit   int    `json:"limit,omitempty"   jsonschema:"1 to 25, default 25"`
	Cursor  string `json:"cursor,omitempty"  jsonschema:"next of the earlier answer, for the next page"`
}

type searchOutput struct {
	Messages []Hit    `json:"messages"`
	Next     string   `json:"next,omitempty"  jsonschema:"the cursor of the next page; absent on the last"`
	Notes    []string `json:"notes,omitempty" jsonschema:"what in the query is probably mistyped"`
}

func (s *server) search(ctx context.Context, c *call, in searchInput) (out searchOutput, err error) {
	if in.Limit < 0 || in.Limit > mostHits {
		return out, usage.Errorf("limit is %d; it must be 1 to %d, or left out", in.Limit, mostHits)
	}
	if in.Limit == 0 {
		in.Limit = mostHits
	}
	account, err := s.account(ctx, in.Mailbox)
	if err != nil {
		return out, err
	}
	found, err := s.app.SearchMail(ctx, account.ID,
		mailindex.Search{Query: in.Query, Limit: in.Limit, Cursor: in.Cursor})
	if err != nil {
		return out, err
	}
	names, err := s.app.LabelNames(ctx)
	if err != nil {
		return out, err
	}
	out = searchOutput{Messages: printer.List(found.Messages, func(m *postroom.Message) Hit { return newHit(m, names) }),
		Next: found.Next}
	for _, m := range found.Messages {
		s.show(account.ID, m.ProviderID)
		if err := s.notice(ctx, c, m); err != nil {
			return out, err
		}
	}
	if !found.ReadTo.IsZero() {
		out.Notes = append(out.Notes, "the search has come back to "+found.ReadTo.UTC().Format(time.RFC3339)+
			", and older mail may match: go on with next")
	}
	for _, label := range found.UnknownLabels {
		out.Notes = append(out.Notes, "the mailbox has no label "+label)
	}
	for _, d := range found.Doubts {
		out.Notes = append(out.Notes, d.Term+": "+d.Reason)
	}
	return out, nil
}

type messageInput struct {
	ID      string `json:"id"                jsonschema:"id of a message, as mail_search returns it"`
	Mailbox string `json:"mailbox,omitempty" jsonschema:"address of the mailbox; may be left out where there is one"`
}

func (s *server) read(ctx context.Context, c *call, in messageInput) (out Message, err error) {
	account, m, err := s.message(ctx, in)
	if err != nil {
		return out, err
	}
	names, err := s.app.LabelNames(ctx)
	if err != nil {
		return out, err
	}
	s.show(account.ID, m.ProviderID)
	return s.newMessage(ctx, c, m, names, longestText)
}

type threadOutput struct {
	Messages []Message `json:"messages"`
	Earlier  int       `json:"earlier"  jsonschema:"how many earlier messages the thread has"`
}

func (s *server) thread(ctx context.Context, c *call, in messageInput) (out threadOutput, err error) {
	account, m, err := s.message(ctx, in)
	if err != nil {
		return out, err
	}
	all, err := s.app.Mail.ThreadMessages(ctx, account.ID, m.ThreadID)
	if err != nil {
		return out, err
	}
	names, err := s.app.LabelNames(ctx)
	if err != nil {
		return out, err
	}
	out = threadOutput{Messages: []Message{}, Earlier: max(0, len(all)-mostInThread)}
	for _, m := range all[out.Earlier:] {
		short, err := s.newMessage(ctx, c, m, names, longestShort)
		if err != nil {
			return out, err
		}
		s.show(account.ID, m.ProviderID)
		out.Messages = append(out.Messages, short)
	}
	return out, nil
}

// newMessage shows a message with the beginning of its text, and notes whether it may have been written by anybody.
func (s *server) newMessage(ctx context.Context, c *call, m *postroom.Message, names app.LabelNames,
	longest int) (Message, error) {
	known, err := s.isKnown(ctx, m)
	if err != nil {
		return Message{}, err
	}
	v := Message{Hit: newHit(m, names), To: addresses(m.To), Cc: addresses(m.Cc), Verified: isVerified(m), Known: known,
		Attachments: printer.List(m.Attachments, func(a postroom.Attachment) string {
			return oneLine(a.Filename, longestLine)
		})}
	c.untrusted = c.untrusted || !v.Verified || !v.Known
	text, more := cut(htmltext.ReadBody(m.BodyPlain, m.BodyHTML).Text, longest)
	v.Text, v.Cut = marked(text), more
	return v, nil
}

// accounts returns the mailboxes that the caller may see: all that a tool shows is of one of them.
func (s *server) accounts(ctx context.Context) ([]mailstore.Account, error) {
	all, err := s.app.Mail.Accounts(ctx)
	return slices.DeleteFunc(all, func(a mailstore.Account) bool { return !s.mayName(a.Email) }), err
}

func (s *server) mayName(address string) bool {
	return s.caller.Mailboxes == nil || slices.Contains(s.caller.Mailboxes, address)
}

// account returns the mailbox of an address, or the only one.
func (s *server) account(ctx context.Context, address string) (mailstore.Account, error) {
	accounts, err := s.accounts(ctx)
	if err != nil {
		return mailstore.Account{}, err
	}
	for _, a := range accounts {
		if a.Email == address || address == "" && len(accounts) == 1 {
			return a, nil
		}
	}
	return mailstore.Account{}, usage.Errorf("mailbox is %q; it must be one of %q", address,
		printer.List(accounts, func(a mailstore.Account) string { return a.Email }))
}

// restrict sets the account of a filter: that of the address, or of a caller that may not see all.
func (s *server) restrict(ctx context.Context, f *safety.Filter, address string) error {
	if address == "" && s.caller.Mailboxes == nil {
		return nil
	}
	account, err := s.account(ctx, address)
	f.AccountID = account.ID
	return err
}

func (s *server) message(ctx context.Context, in messageInput) (mailstore.Account, *postroom.Message, error) {
	account, err := s.account(ctx, in.Mailbox)
	if err != nil {
		return account, nil, err
	}
	m, err := s.app.FindMessage(ctx, account, in.ID)
	return account, m, err
}
