package web

import (
	"context"
	"net/http"
	"strconv"

	"github.com/postroom-go/postroom/examples/postroomd/learning"
	"github.com/postroom-go/postroom/gmail/mailstore"
)

// learned is what was learned in a mailbox; nil where nothing is.
func (h *Handler) learned(ctx context.Context, account mailstore.Account) (*learning.Listing, error) {
	if h.app.Lessons == nil {
		return nil, nil //nolint:nilnil // nothing is learned here, which is no error
	}
	l, err := learning.List(ctx, h.app, account)
	return &l, err
}

// answerLearned accepts, dismisses or removes a learned rule.
func (h *Handler) answerLearned(w http.ResponseWriter, r *http.Request) {
	answer := learning.Answer(r.PostFormValue("answer"))
	account, err := h.mailbox(r.Context(), r.PostFormValue("mailbox"))
	if err == nil {
		_, err = learning.Give(r.Context(), h.app, account, answer, r.PostFormValue("rule"), by(r))
	}
	h.done(w, r, string(answer)+"-learned", err)
}

// learnNow learns without waiting for the week to pass.
func (h *Handler) learnNow(w http.ResponseWriter, r *http.Request) {
	account, err := h.mailbox(r.Context(), r.PostFormValue("mailbox"))
	if err == nil {
		_, err = learning.Run(r.Context(), h.app, account)
	}
	h.done(w, r, "learn-now", err)
}

// countBulk says whether corrections that were made at once are the person's.
func (h *Handler) countBulk(w http.ResponseWriter, r *http.Request) {
	account, err := h.mailbox(r.Context(), r.PostFormValue("mailbox"))
	if err == nil {
		shown, _ := strconv.Atoi(r.PostFormValue("shown")) // none was shown without a number
		_, err = learning.CountBulk(r.Context(), h.app, account, shown, r.PostFormValue("count") == "yes")
	}
	h.done(w, r, "count-bulk", err)
}

// rightAgain ends that a rule, or the models, of a mailbox warn or ask.
func (h *Handler) rightAgain(w http.ResponseWriter, r *http.Request) {
	account, err := h.app.Mail.Account(r.Context(), r.PathValue("id"))
	if err == nil {
		_, err = learning.RightAgain(r.Context(), h.app, account, r.PostFormValue("rule"), by(r))
	}
	h.done(w, r, "right-again", err)
}
