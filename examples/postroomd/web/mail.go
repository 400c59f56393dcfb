package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/bulk"
	"github.com/postroom-go/postroom/examples/postroomd/ruledraft"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	texts "github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/mailindex"
	"github.com/postroom-go/postroom/gmail/mailstore"
)

// mailOnPage is the number of messages on a page.
const mailOnPage = 50

// maxSearch bounds a search, in bytes.
const maxSearch = 1000

// A mailPage lists the stored mail of a mailbox that a search finds.
type mailPage struct {
	texts.MailPage
	Query     string
	Spam      bool
	Mailbox   string
	Mailboxes []mailstore.Account
	HowTo     string // how to add a mailbox, while there is none
	Older     string // the query of the next page; empty on the last one
	First     string // the query of the first page; empty on it

	Kinds     []postroom.ActionType // what may be done to all that the search finds
	OwnLabels []postroom.Label      // those that it may use
}

func (h *Handler) mail(ctx context.Context, u *url.URL) (*view, error) {
	query := u.Query()
	page := &mailPage{Query: query.Get("q"), Spam: query.Get("spam") != "", Mailbox: query.Get("mailbox")}
	if len(page.Query) > maxSearch {
		return nil, usage.Errorf("The search is too long: at most %d bytes are searched for.", maxSearch)
	}
	var err error
	if page.Mailboxes, err = h.accounts(ctx); err != nil {
		return nil, err
	}
	v := &view{name: "mail", title: "Mail", data: page}
	if len(page.Mailboxes) == 0 {
		page.HowTo = h.app.Env.HowToAddMailbox()
		return v, nil
	}
	account, err := h.mailbox(ctx, page.Mailbox)
	if err != nil {
		return nil, err
	}
	page.Mailbox = account.Email
	found, err := h.app.SearchMail(ctx, account.ID, mailindex.Search{Query: page.Query, SpamAndTrash: page.Spam,
		Limit: mailOnPage, Cursor: query.Get("cursor")})
	if _, wrong := errors.AsType[usage.Error](err); wrong {
		err = usage.Errorf("This page belongs to another search: begin at its first page.")
	}
	if err != nil {
		return nil, err
	}
	names, err := h.app.LabelNames(ctx)
	if err != nil {
		return nil, err
	}
	page.MailPage = texts.NewMailPage(found, names)
	if found.Next != "" {
		page.Older = page.at(found.Next)
	}
	if query.Get("cursor") != "" {
		page.First = page.at("")
	}
	page.Kinds = bulk.Kinds(h.app)
	if page.OwnLabels, err = h.ownLabels(ctx, account.Email); err != nil {
		return nil, err
	}
	return v, nil
}

// at is the query of a page of the search.
func (p *mailPage) at(cursor string) string {
	query := url.Values{"mailbox": {p.Mailbox}}
	spam := map[bool]string{true: "1"}[p.Spam]
	for name, value := range map[string]string{"q": p.Query, "cursor": cursor, "spam": spam} {
		if value != "" {
			query.Set(name, value)
		}
	}
	return "?" + query.Encode()
}

// mailbox returns the account of an address; the first one for an empty address.
func (h *Handler) mailbox(ctx context.Context, address string) (mailstore.Account, error) {
	if address != "" {
		return h.app.Mail.AccountByEmail(ctx, address)
	}
	accounts, err := h.accounts(ctx)
	if err == nil && len(accounts) == 0 {
		err = postroom.ErrNotFound
	}
	if err != nil {
		return mailstore.Account{}, err
	}
	return accounts[0], nil
}

// A messagePage is one message, and why it is where it is.
type messagePage struct {
	texts.WholeMail
	Mailbox string
	History []texts.Event
	Headers []postroom.Header
	Gmail   string

	Model     bool                  // there is one that may be asked again
	Drafts    []postroom.ActionType // what a rule from the message may do
	OwnLabels []postroom.Label      // those that it may use
}

// message reads the message that the path names by its mailbox and its id at Gmail.
func (h *Handler) message(ctx context.Context, r *http.Request) (*view, error) {
	account, m, err := h.storedMessage(ctx, r)
	if err != nil {
		return nil, err
	}
	names, err := h.app.LabelNames(ctx)
	if err != nil {
		return nil, err
	}
	page := &messagePage{WholeMail: texts.NewWholeMail(m, nil, names), Mailbox: account.Email, Headers: m.Headers,
		Gmail: h.atGmail(account.Email, m.ProviderID), Drafts: ruledraft.Actions,
		Model: h.app.Env.Config.LLM.Enabled()}
	if page.OwnLabels, err = h.ownLabels(ctx, account.Email); err != nil {
		return nil, err
	}
	if page.History, err = texts.NewHistory(ctx, h.app, m); err != nil {
		return nil, err
	}
	return &view{name: "message", title: m.Subject, data: page}, nil
}

// decideAgain has the model decide about a message again.
func (h *Handler) decideAgain(w http.ResponseWriter, r *http.Request) {
	_, m, err := h.storedMessage(r.Context(), r)
	if err == nil {
		err = h.app.DecideAgain(r.Context(), m)
	}
	h.done(w, r, "decide-again", err)
}

func (h *Handler) storedMessage(ctx context.Context, r *http.Request) (mailstore.Account, *postroom.Message, error) {
	account, err := h.app.Mail.AccountByEmail(ctx, r.PathValue("mailbox"))
	if err != nil {
		return account, nil, err
	}
	m, err := h.app.FindMessage(ctx, account, r.PathValue("id"))
	if _, unknown := errors.AsType[usage.Error](err); unknown {
		err = postroom.ErrNotFound
	}
	return account, m, err
}

// A triedPage is what the rules of now say about a message.
type triedPage struct {
	*texts.Explanation
	Mailbox string
}

func (h *Handler) tried(ctx context.Context, r *http.Request) (*view, error) {
	account, m, err := h.storedMessage(ctx, r)
	if err != nil {
		return nil, err
	}
	x, err := texts.NewExplanation(ctx, h.app, m)
	if err != nil {
		return nil, err
	}
	return &view{name: "tried", title: "What the rules say now", data: &triedPage{x, account.Email}}, nil
}
