package web

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/postroom-go/postroom/examples/postroomd/scripted"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/examples/postroomd/view/drafts"
	"github.com/postroom-go/postroom/gmail/drafting"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/replies"
)

// draftsOnPage is the number of drafts on a page.
const draftsOnPage = 50

// draftTabs are the parts of the page of drafts. The first is shown by an address without one.
var draftTabs = []draftTab{
	{Name: "ready", Label: "Ready", states: drafts.Ready(),
		None: "No draft lies ready. The label Needs Response asks for one in Gmail, and a button beside a mail here."},
	{Name: "writing", Label: "Being written", states: []replies.State{replies.Pending}, None: "No draft is being written."},
	{Name: "sent", Label: "Sent", states: []replies.State{replies.Sent}, None: "No draft was sent yet."},
	{Name: "done", Label: "Done", states: []replies.State{replies.Archived}, None: "Nothing is done yet."},
	{Name: "skipped", Label: "Without an answer", states: []replies.State{replies.Skipped},
		None: "Nothing ended without an answer."},
}

// A draftTab is a part of the drafts, by their states.
type draftTab struct {
	Name, Label string
	None        string // what is said while it has none
	N           int
	states      []replies.State
}

// A draftsPage lists the drafts of a tab.
type draftsPage struct {
	drafts.Page
	Tabs      []draftTab // those that have drafts, and the one that is shown
	Tab       draftTab
	Mailbox   string
	Mailboxes []mailstore.Account
	Older     string        // the query of the next page; empty on the last one
	Later     bool          // it is not the first page
	Note      string        // where the texts of a demo come from; else empty
	Voice     *drafts.Voice // of the only mailbox that is shown; nil if nobody learns it
}

// scripted reports whether a script answers in place of a model: in a demo without one.
func (h *Handler) scripted() bool { return h.app.Env.Demo && !h.app.Env.Config.LLM.Enabled() }

func (h *Handler) drafts(ctx context.Context, u *url.URL) (*view, error) {
	query := u.Query()
	page := &draftsPage{Mailbox: query.Get("mailbox"), Later: query.Get("before") != ""}
	var err error
	if page.Mailboxes, err = h.accounts(ctx); err != nil {
		return nil, err
	}
	accountID := ""
	if page.Mailbox != "" {
		account, err := h.mailbox(ctx, page.Mailbox)
		if err != nil {
			return nil, err
		}
		accountID = account.ID
	}
	counts, err := h.app.Replies.Count(ctx, accountID)
	if err != nil {
		return nil, err
	}
	wanted := cmp.Or(query.Get("state"), draftTabs[0].Name)
	for _, tab := range draftTabs {
		for _, state := range tab.states {
			tab.N += counts[state]
		}
		if tab.Name == wanted {
			page.Tab = tab
		}
		if tab.N > 0 || tab.Name == wanted {
			page.Tabs = append(page.Tabs, tab)
		}
	}
	if h.scripted() {
		page.Note = scripted.Note
	}
	if page.Tab.Name == "" {
		return nil, usage.Errorf("There is no such list of drafts.")
	}
	page.Page, err = drafts.NewPage(ctx, h.app, replies.Filter{AccountID: accountID, States: page.Tab.states,
		Before: query.Get("before"), Limit: draftsOnPage})
	if page.Next != "" {
		page.Older = page.At(page.Tab.Name) + "&before=" + url.QueryEscape(page.Next)
	}
	if err == nil && h.app.Voice != nil {
		page.Voice, err = h.voiceOf(ctx, page)
	}
	return &view{name: "drafts", title: "Drafts", live: true, data: page}, err
}

// voiceOf reads how the owner of the mailbox writes, if the page shows one alone.
func (h *Handler) voiceOf(ctx context.Context, page *draftsPage) (*drafts.Voice, error) {
	for i := range page.Mailboxes {
		if len(page.Mailboxes) == 1 || page.Mailboxes[i].Email == page.Mailbox {
			v, err := drafts.NewVoice(ctx, h.app, &page.Mailboxes[i])
			return &v, err
		}
	}
	return nil, nil
}

// editVoice stores what the owner of a mailbox has made of its profile.
func (h *Handler) editVoice(w http.ResponseWriter, r *http.Request) {
	h.changeVoice(w, r, "edit-voice", func(accountID string, version int64) error {
		return h.app.EditVoice(r.Context(), accountID, version, r.PostFormValue("text"), by(r))
	})
}

// rebuildVoice has the profile of a mailbox learned anew.
func (h *Handler) rebuildVoice(w http.ResponseWriter, r *http.Request) {
	h.changeVoice(w, r, "rebuild-voice", func(accountID string, version int64) error {
		return h.app.RebuildVoice(r.Context(), accountID, version, r.PostFormValue("replace") != "", by(r))
	})
}

// changeVoice changes the profile of a mailbox, whose version the form has as it was shown.
func (h *Handler) changeVoice(w http.ResponseWriter, r *http.Request, done string,
	change func(accountID string, version int64) error) {
	version, err := strconv.ParseInt(r.PostFormValue("version"), 10, 64)
	if err != nil {
		h.done(w, r, done, usage.Errorf("The form does not say which text was shown: go back, and reload the page."))
		return
	}
	account, err := h.app.Mail.AccountByEmail(r.Context(), r.PathValue("mailbox"))
	if err == nil {
		err = change(account.ID, version)
	}
	h.done(w, r, done, err)
}

// At is the query of the first page of a tab.
func (p *draftsPage) At(tab string) string {
	query := url.Values{"state": {tab}}
	if p.Mailbox != "" {
		query.Set("mailbox", p.Mailbox)
	}
	return "?" + query.Encode()
}

// A draftPage is one draft beside its conversation.
type draftPage struct {
	drafts.Whole
	Gmail   string        // where Gmail shows the conversation; empty if it does not
	Shown   string        // the text of the draft
	Checks  int           // the facts in it that a person checks
	Changes []drafts.Line // what the person has changed in Gmail
}

func (h *Handler) oneDraft(ctx context.Context, r *http.Request) (*view, error) {
	found, err := drafts.Find(ctx, h.app, r.PathValue("mailbox"), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	page := new(draftPage)
	if page.Whole, err = drafts.NewWhole(ctx, h.app, found); err != nil {
		return nil, err
	}
	page.Gmail, page.Shown = h.atGmail(page.Mailbox, page.ID), page.Text
	if page.AtGmail != nil {
		page.Shown = page.AtGmail.Text
		if page.AtGmail.Touched {
			page.Changes = drafts.Changes(page.Text, page.Shown)
		}
	}
	page.Checks = drafts.Checks(page.Shown)
	return &view{name: "draft", title: cmp.Or(page.Subject, "Without a subject"), data: page}, nil
}

// MayRework reports whether the draft may be written again.
func (p *draftPage) MayRework() bool { return p.Ready() && p.Reworks < replies.MaxReworks }

// shownDraft returns the draft of a form, and the turn at which it was shown.
func (h *Handler) shownDraft(r *http.Request) (replies.Reply, int64, error) {
	turn, err := strconv.ParseInt(r.PostFormValue("turn"), 10, 64)
	if err != nil || turn < 1 {
		return replies.Reply{}, 0, usage.Errorf("The form does not say which draft was shown: go back, and reload the page.")
	}
	found, err := drafts.Find(r.Context(), h.app, r.PathValue("mailbox"), r.PathValue("id"))
	return found, turn, err
}

// reworkDraft has a draft written again, as a sentence says.
func (h *Handler) reworkDraft(w http.ResponseWriter, r *http.Request) {
	found, turn, err := h.shownDraft(r)
	if err == nil {
		err = h.app.ReworkDraft(r.Context(), found, turn, by(r), r.PostFormValue("sentence"))
	}
	h.done(w, r, "rework-draft", err)
}

// discardDraft ends a draft.
func (h *Handler) discardDraft(w http.ResponseWriter, r *http.Request) {
	found, turn, err := h.shownDraft(r)
	var fate drafting.Fate
	if err == nil {
		fate, err = h.app.DiscardDraft(r.Context(), found, turn, by(r))
	}
	h.done(w, r, "discard-draft-"+string(fate), err)
}

// sendDraft sends a draft as it was shown.
func (h *Handler) sendDraft(w http.ResponseWriter, r *http.Request) {
	found, turn, err := h.shownDraft(r)
	if err == nil {
		err = h.app.SendDraft(r.Context(), found, turn, r.PostFormValue("sha256"), by(r))
	}
	h.done(w, r, "send-draft", err)
}

// askDraft has a draft written of an answer to the conversation of a message.
func (h *Handler) askDraft(w http.ResponseWriter, r *http.Request) {
	account, m, err := h.storedMessage(r.Context(), r)
	if err == nil {
		err = h.app.AskDraft(r.Context(), account.ID, m.ProviderThreadID, by(r))
	}
	h.done(w, r, "ask-draft", err)
}
