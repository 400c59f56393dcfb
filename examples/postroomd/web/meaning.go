package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/enrichment"
	"github.com/postroom-go/postroom/examples/postroomd/scripted"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/llm/enrich"
)

// meaningsOnPage is the number of messages whose meaning is on a page.
const meaningsOnPage = 20

// meaningWords are the values that a result may have: those of the owner's lists.
type meaningWords struct{ Topics, Priorities []string }

// meaningWords are the owner's categories and levels; none where nothing is found out about mail.
func (h *Handler) meaningWords() (w meaningWords) {
	if h.app.Enrichment == nil {
		return w
	}
	for _, c := range h.app.Enrichment.Categories() {
		w.Topics = append(w.Topics, c.Name)
	}
	for _, l := range h.app.Enrichment.Levels() {
		w.Priorities = append(w.Priorities, l.Name)
	}
	return w
}

// Of are the values that a person may name for a stage.
func (w meaningWords) Of(stage string) []string {
	switch enrich.Stage(stage) {
	case enrich.StageCategory:
		return w.Topics
	case enrich.StageImportance:
		return w.Priorities
	default:
		return nil
	}
}

// A meaningPage lists what is unsure about the mail of a mailbox, and what it asks for.
type meaningPage struct {
	enrichment.Page
	meaningWords

	Upcoming enrichment.Appointments

	Show      string // unsure, events or todo
	Mailbox   string
	Mailboxes []mailstore.Account
	HowTo     string // how to add a mailbox, while there is none
	Older     string // the query of the next page; empty on the last one
	Later     bool   // it is not the first page
	Note      string // whose answers those of the model are; empty where that goes without saying
}

// At is the query of another list of the page.
func (p *meaningPage) At(show string) string {
	return "?" + url.Values{"mailbox": {p.Mailbox}, "show": {show}}.Encode()
}

func (h *Handler) meaning(ctx context.Context, u *url.URL) (*view, error) {
	if h.app.Enrichment == nil {
		return nil, usage.Errorf("Nothing is found out about what mail means; set enrich.enabled = true.")
	}
	query := u.Query()
	page := &meaningPage{meaningWords: h.meaningWords(), Show: query.Get("show"), Later: query.Get("before") != ""}
	if h.scripted() {
		page.Note = scripted.MeaningNote
	}
	v := &view{name: "meaning", title: "What mail means", data: page}
	var err error
	if page.Mailboxes, err = h.accounts(ctx); err != nil {
		return nil, err
	}
	if len(page.Mailboxes) == 0 {
		page.HowTo = h.app.Env.HowToAddMailbox()
		return v, nil
	}
	account, err := h.mailbox(ctx, query.Get("mailbox"))
	if err != nil {
		return nil, err
	}
	page.Mailbox = account.Email
	f := enrich.Filter{AccountID: account.ID, Limit: meaningsOnPage}
	switch page.Show {
	case "events":
		page.Upcoming, err = enrichment.Upcoming(ctx, h.app.Enrichment.Store, h.app.Mail, account.ID, time.Now(),
			h.app.OwnZone())
		return v, err
	case "todo":
		f.HasActionItems = true
	default:
		page.Show, f.Unsure = "unsure", true
	}
	page.Page, err = enrichment.List(ctx, h.app.Enrichment.Store, h.app.Mail, f, query.Get("before"))
	if page.Next != "" {
		page.Older = page.At(page.Show) + "&" + url.Values{"before": {page.Next}}.Encode()
	}
	return v, err
}

// A meant is what is known of one message, with how a person answers it.
type meant struct {
	*enrichment.View
	meaningWords

	Mailbox string
}

// Lines are those of the view, with how each is answered.
func (m *meant) Lines() (lines []meantLine) {
	for _, line := range m.View.Lines() {
		lines = append(lines, meantLine{line, m.MessageID, m.Mailbox, m.Of(line.Stage)})
	}
	return lines
}

// A meantLine is one of what is known of a message.
type meantLine struct {
	enrichment.Line
	ID, Mailbox string   // of the message
	Values      []string // that a person may name instead
}

// Answered reports whether the line is a result that a person may answer.
func (l *meantLine) Answered() bool { return l.Stage != "" }

// Meant are the messages of the page.
func (p *meaningPage) Meant() []*meant {
	list := make([]*meant, len(p.List))
	for i := range p.List {
		list[i] = &meant{&p.List[i], p.meaningWords, p.Mailbox}
	}
	return list
}

// Doubts are the unsure lines of a message.
func (m *meant) Doubts() (lines []meantLine) {
	for _, line := range m.Lines() {
		if line.Unsure {
			lines = append(lines, line)
		}
	}
	return lines
}

// The texts of what a message asks its reader to do.
func (m *meant) ToDo() (texts []string) {
	for i := range m.ActionItems {
		texts = append(texts, enrichment.ItemText(&m.ActionItems[i]))
	}
	return texts
}

// meantOf is what is known of a message; nil if nothing is.
func (h *Handler) meantOf(ctx context.Context, m *postroom.Message, mailbox string) (*meant, error) {
	store, err := enrich.NewStore(h.app.DB)
	if err != nil {
		return nil, err
	}
	v, err := enrichment.Of(ctx, store, m)
	if err != nil || v == nil {
		return nil, err
	}
	err = errors.Join(v.AddConflicts(ctx, store, h.app.Mail, m, time.Now(), h.app.OwnZone()),
		v.AddNotes(ctx, h.app.Ledger, h.app.Notes, m))
	return &meant{v, h.meaningWords(), mailbox}, err
}

// answerMeaning takes what a person says about what was found out of a message.
func (h *Handler) answerMeaning(w http.ResponseWriter, r *http.Request) {
	_, m, err := h.storedMessage(r.Context(), r)
	if err != nil {
		h.failed(w, r, err)
		return
	}
	word := enrich.Word{Stage: enrich.Stage(r.PostFormValue("stage")), By: by(r)}
	switch r.PostFormValue("do") {
	case "approve":
		word.Approve = true
	case "value":
		if word.Value = strings.TrimSpace(r.PostFormValue("value")); word.Value == "" {
			err = usage.Errorf("Choose what it is instead.")
		}
	case "reject":
		word.Why = whyOf(r)
	default:
		err = usage.Errorf("Say whether it is right, what it is instead, or why it is wrong.")
	}
	if err == nil {
		err = h.app.AnswerMeaning(r.Context(), m, word)
	}
	h.done(w, r, "answer-meaning", err)
}
