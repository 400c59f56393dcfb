package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/bulk"
	"github.com/postroom-go/postroom/examples/postroomd/enrichment"
	"github.com/postroom-go/postroom/examples/postroomd/ruledraft"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	texts "github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/examples/postroomd/view/runs"
	"github.com/postroom-go/postroom/gmail/mailindex"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/notes"
	"github.com/postroom-go/postroom/internal/gmailquery"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/safety"
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
	Topic     string // a category of its meaning, or all
	Priority  string // a level of its importance, or all
	Mailbox   string
	Mailboxes []mailstore.Account
	HowTo     string // how to add a mailbox, while there is none
	Older     string // the query of the next page; empty on the last one
	First     string // the query of the first page; empty on it

	Words     []searchWord          // what a search is completed with
	Model     bool                  // there is one that may be asked again
	Kinds     []postroom.ActionType // what may be done to all that the search finds
	OwnLabels []postroom.Label      // those that it may use
	Meanings  meaningWords
}

// Searched reports whether the page does not list all mail.
func (p *mailPage) Searched() bool { return p.Query != "" || p.Topic != "" || p.Priority != "" }

func (h *Handler) mail(ctx context.Context, u *url.URL) (*view, error) {
	query := u.Query()
	page := &mailPage{Query: query.Get("q"), Spam: query.Get("spam") != "", Mailbox: query.Get("mailbox"),
		Topic: query.Get("topic"), Priority: query.Get("priority"), Meanings: h.meaningWords()}
	if len(page.Query)+len(page.Topic)+len(page.Priority) > maxSearch {
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
		Limit: mailOnPage, Cursor: query.Get("cursor"), Also: enrichment.Meant(page.Topic, page.Priority)})
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
	if page.MailPage, err = texts.NewFoundMail(ctx, h.app, found, names); err != nil {
		return nil, err
	}
	if found.Next != "" {
		page.Older = page.at(found.Next)
	}
	if query.Get("cursor") != "" {
		page.First = page.at("")
	}
	page.Kinds, page.Model = bulk.Kinds(h.app), h.app.Env.Config.LLM.Enabled()
	if page.OwnLabels, err = h.ownLabels(ctx, account.Email); err != nil {
		return nil, err
	}
	page.Words, err = h.searchWords(ctx, account.ID, page.OwnLabels)
	return v, err
}

// A searchWord is a word of a search, with what it finds if that is not plain.
type searchWord struct{ Text, Finds string }

// oftenSought are whole words that people search for.
var oftenSought = []string{"is:unread", "is:starred", "in:inbox", "in:sent", "has:attachment", "newer_than:7d",
	"older_than:1y", "larger:10M", "to:me"}

// searchWords are what is often sought, the operators, and the senders and labels of the mailbox.
func (h *Handler) searchWords(
	ctx context.Context, accountID string, own []postroom.Label,
) (words []searchWord, err error) {
	for _, text := range oftenSought {
		words = append(words, searchWord{Text: text})
	}
	for _, o := range gmailquery.Operators() {
		words = append(words, searchWord{o.Name + ":", strings.ReplaceAll(o.Finds, "`", "")})
	}
	for _, l := range own {
		if !strings.ContainsAny(l.Name, `(){}"`) {
			words = append(words, searchWord{Text: "label:" + strings.NewReplacer(" ", "-", "/", "-").Replace(l.Name)})
		}
	}
	lists, err := h.suggestions(ctx, accountID)
	for _, sender := range lists["senders"] {
		words = append(words, searchWord{Text: "from:" + sender})
	}
	return words, err
}

// at is the query of a page of the search.
func (p *mailPage) at(cursor string) string {
	query := url.Values{"mailbox": {p.Mailbox}}
	spam := map[bool]string{true: "1"}[p.Spam]
	for name, value := range map[string]string{"q": p.Query, "cursor": cursor, "spam": spam, "topic": p.Topic,
		"priority": p.Priority} {
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

	HasHTML bool
	HTML    bool // it is shown as HTML, not as text

	Model     bool                  // there is one that may be asked again
	Meant     *meant                // nil: nothing is known of what it means
	Profiles  []string              // the agents that may work on it
	Runs      []runs.Run            // of agents that have, the newest first
	Notes     []texts.Note          // that were written about it, the newest first
	Drafts    []postroom.ActionType // what a rule from the message may do
	Should    postroom.ActionType   // what is likely meant by one who finds it wrong
	OwnLabels []postroom.Label      // those that it may use
}

// shouldHaveBeen is what a message should likely have had, as a first choice: not what it had.
func (h *Handler) shouldHaveBeen(ctx context.Context, m *postroom.Message) (postroom.ActionType, error) {
	had, err := h.app.Ledger.Actions(ctx, safety.Filter{AccountID: m.AccountID, MessageID: m.ID, Limit: 1})
	if err == nil && len(had) > 0 && had[0].Action.Type == ruledraft.Actions[0] {
		return postroom.None, nil
	}
	return ruledraft.Actions[0], err
}

// notesShown bounds the notes beside a message.
const notesShown = 20

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
		Model: h.app.Env.Config.LLM.Enabled(), HasHTML: m.BodyHTML != ""}
	page.HTML = page.HasHTML && r.URL.Query().Get("view") == "html"
	if page.Should, err = h.shouldHaveBeen(ctx, m); err != nil {
		return nil, err
	}
	if page.OwnLabels, err = h.ownLabels(ctx, account.Email); err != nil {
		return nil, err
	}
	if page.Meant, err = h.meantOf(ctx, m, account.Email); err != nil {
		return nil, err
	}
	if err := page.AddDraft(ctx, h.app, m); err != nil {
		return nil, err
	}
	if page.History, err = texts.NewHistory(ctx, h.app, m); err != nil {
		return nil, err
	}
	if err := h.addRuns(ctx, page, m); err != nil {
		return nil, err
	}
	written, err := texts.NewNotes(ctx, h.app, notes.Filter{AccountID: m.AccountID, MessageID: m.ID, Limit: notesShown})
	if err != nil {
		return nil, err
	}
	page.Notes = written.List
	return &view{name: "message", title: m.Subject, frame: page.HTML, data: page}, nil
}

// decideAgain has the model decide about a message again.
func (h *Handler) decideAgain(w http.ResponseWriter, r *http.Request) {
	_, m, err := h.storedMessage(r.Context(), r)
	if err == nil {
		err = h.app.DecideAgain(r.Context(), m, by(r))
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

// Deciding are the rules that match.
func (p *triedPage) Deciding() (names []string) {
	for i := range p.Rules {
		if p.Rules[i].Outcome == rules.Matched {
			names = append(names, p.Rules[i].Name)
		}
	}
	return names
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
