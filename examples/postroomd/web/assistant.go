package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	texts "github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/rules/backtest"
)

const (
	// maxTalk is how long a model may take: an answer, and two corrections.
	maxTalk = 5 * time.Minute
	// maxTry is how long a proposal is tried on stored mail while its page is made, and triedSince how much older than
	// the newest that mail may be.
	maxTry     = 3 * time.Second
	triedSince = 90 * 24 * time.Hour
)

// An assistantPage lists the sessions in which the rules of a mailbox are written with the model.
type assistantPage struct {
	Mailbox   string
	Mailboxes []mailstore.Account
	Sessions  []texts.ChatSession
	HasModel  bool
}

func (h *Handler) assistant(ctx context.Context, u *url.URL) (*view, error) {
	account, err := h.mailbox(ctx, u.Query().Get("mailbox"))
	if err != nil {
		return nil, err
	}
	page := &assistantPage{Mailbox: account.Email, HasModel: h.app.Env.Config.LLM.Enabled()}
	if page.Mailboxes, err = h.accounts(ctx); err != nil {
		return nil, err
	}
	page.Sessions, err = texts.NewChatSessions(ctx, h.app, account.ID, texts.RequestsPage)
	return &view{name: "assistant", title: "Assistant", data: page}, err
}

// A talkPage is a session, with what its latest proposal would change.
type talkPage struct {
	ID, Mailbox string
	Said        []texts.ChatMessage
	HasModel    bool
	Program     string        // that has begun it by a proposal of its own; empty for a person
	Open        *app.Proposed // nil: nothing can be accepted
	Overtaken   string        // why the latest proposal cannot be; empty if there is none
	Lines       []differenceLine
	Tried       *backtest.Report // nil if it took too long
}

func (h *Handler) talk(ctx context.Context, r *http.Request) (*view, error) {
	talk, err := h.app.ResumeTalk(ctx, r.PathValue("session"))
	if err != nil {
		return nil, err
	}
	said, err := talk.Messages(ctx)
	if err != nil {
		return nil, err
	}
	page := &talkPage{ID: talk.Session.ID, Mailbox: talk.Account.Email, HasModel: h.app.Env.Config.LLM.Enabled()}
	if len(said) > 0 && said[0].Role == llm.RoleAssistant {
		page.Program = talk.Session.By
	}
	latest := 0
	for _, m := range said {
		page.Said = append(page.Said, texts.NewChatMessage(m))
		if m.Proposal != nil && m.Proposal.AcceptedAt.IsZero() {
			latest = m.Number
		}
	}
	if latest > 0 {
		err = h.open(ctx, page, talk, latest)
	}
	return &view{name: "talk", title: "Assistant", data: page}, err
}

// open shows what the proposal of a message would change.
func (h *Handler) open(ctx context.Context, page *talkPage, talk *app.RulesTalk, number int) (err error) {
	page.Open, err = talk.Open(ctx, number)
	if refused, ok := errors.AsType[usage.Error](err); ok {
		page.Overtaken = refused.Error()
		return nil
	}
	if err != nil {
		return err
	}
	for _, text := range page.Open.Rules {
		for line := range strings.Lines(text) {
			line = strings.TrimRight(line, "\n")
			page.Lines = append(page.Lines, differenceLine{signs[line[:min(1, len(line))]], line})
		}
	}
	try := func(ctx context.Context, since time.Time) (*backtest.Report, error) {
		return talk.Try(ctx, page.Open, since)
	}
	page.Tried, err = h.tryNewest(ctx, talk.Account.ID, try)
	return err
}

// begin begins a session with what the form says.
func (h *Handler) begin(w http.ResponseWriter, r *http.Request) {
	account, err := h.mailbox(r.Context(), r.PostFormValue("mailbox"))
	if err != nil {
		h.failed(w, r, err)
		return
	}
	talk, err := h.app.BeginTalk(r.Context(), account)
	h.say(w, r, talk, err)
}

func (h *Handler) goOn(w http.ResponseWriter, r *http.Request) {
	talk, err := h.app.ResumeTalk(r.Context(), r.PathValue("session"))
	h.say(w, r, talk, err)
}

// say tells the model the text of the form, and goes to the session.
func (h *Handler) say(w http.ResponseWriter, r *http.Request, talk *app.RulesTalk, err error) {
	if err == nil {
		// The server's own limits are for pages.
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(maxTalk + time.Minute))
		ctx, cancel := context.WithTimeout(r.Context(), maxTalk)
		defer cancel()
		_, _, err = talk.Say(ctx, by(r), r.PostFormValue("text"))
	}
	if err != nil {
		h.failed(w, r, unanswered(err))
		return
	}
	r.PostForm.Set("from", "/assistant/"+talk.Session.ID)
	back(w, r, "")
}

// unanswered says in words that the model was not reached; what was said is kept.
func unanswered(err error) error {
	if _, wrong := errors.AsType[usage.Error](err); wrong || errors.Is(err, postroom.ErrNotFound) {
		return err
	}
	return usage.Errorf("The model has not answered: %v. What you said is kept: say it again, in the same session.", err)
}

func (h *Handler) accept(w http.ResponseWriter, r *http.Request) {
	talk, err := h.app.ResumeTalk(r.Context(), r.PathValue("session"))
	if err == nil {
		number, wrong := strconv.Atoi(r.PostFormValue("number"))
		if wrong != nil {
			err = postroom.ErrNotFound
		} else {
			_, _, err = talk.Accept(r.Context(), by(r), number)
		}
	}
	h.done(w, r, "accept-rules", err)
}

// drop deletes a session, so that its proposal waits no longer.
func (h *Handler) drop(w http.ResponseWriter, r *http.Request) {
	talk, err := h.app.ResumeTalk(r.Context(), r.PathValue("session"))
	if err == nil {
		err = talk.Drop(r.Context())
	}
	h.done(w, r, "drop-talk", err)
}

// ofSession is about the mailboxes that read the rules of a session.
func (h *Handler) ofSession(r *http.Request) ([]string, error) {
	talk, err := h.app.ResumeTalk(r.Context(), r.PathValue("session"))
	if err != nil {
		return nil, err
	}
	return h.ruleReaders(r.Context(), talk.Session.AccountID)
}
