package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/bulk"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
)

// A bulkPage shows what would be done to all that a search finds.
type bulkPage struct {
	*bulk.Preview
	Mailbox string
	Query   string
	Spam    bool
	Again   bool   // what was changed by hand is not left alone
	Back    string // the query of the search
	Whole   string // the query of the preview that does not leave it alone; empty if there is none
}

// bulkRequest reads what a form wants done.
func (h *Handler) bulkRequest(ctx context.Context, form url.Values, by string) (r bulk.Request, err error) {
	r = bulk.Request{Query: form.Get("q"), Spam: form.Get("spam") != "", Label: form.Get("label"),
		Kind: postroom.ActionType(form.Get("kind")), By: by, Batch: form.Get("batch"),
		Again: form.Get("again") != ""}
	r.Account, err = h.mailbox(ctx, form.Get("mailbox"))
	return r, err
}

// bulkPreview shows what would be done. It does nothing.
func (h *Handler) bulkPreview(ctx context.Context, u *url.URL) (*view, error) {
	r, err := h.bulkRequest(ctx, u.Query(), "")
	if err != nil {
		return nil, err
	}
	p, err := bulk.Plan(ctx, h.app, r)
	if err != nil {
		return nil, err
	}
	search := &mailPage{Query: r.Query, Spam: r.Spam, Mailbox: r.Account.Email}
	page := &bulkPage{p, r.Account.Email, r.Query, r.Spam, r.Again, search.at(""), ""}
	if slices.ContainsFunc(p.LeftAlone, func(l bulk.Left) bool { return l.Why == bulk.ByHand }) {
		query := u.Query()
		query.Set("again", "1")
		query.Del(zoneParam)
		page.Whole = "?" + query.Encode()
	}
	return &view{name: "bulk", title: "Do it to all of these", data: page}, nil
}

// bulkAct does what was shown, if it is still that.
func (h *Handler) bulkAct(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		h.failed(w, r, usage.Wrap(err))
		return
	}
	request, err := h.bulkRequest(r.Context(), r.PostForm, by(r))
	var done bulk.Done
	if err == nil {
		// A browser that goes away does not part the batch.
		done, err = bulk.Act(context.WithoutCancel(r.Context()), h.app, request, r.PostForm.Get("digest"), func(int, int) {})
	}
	if errors.Is(err, bulk.ErrChanged) {
		err = usage.Wrap(err)
	}
	if err != nil {
		h.failed(w, r, err)
		return
	}
	asked := done.Recorded
	for _, n := range done.NotDone {
		asked += n
	}
	of := url.Values{"mailbox": {request.Account.Email}, "batch": {done.Batch}}
	r.PostForm.Set("from", "/actions?"+of.Encode())
	back(w, r, "act", done.Recorded, asked)
}

// askPreview shows about which mail of a search the model would be asked again. It asks nothing.
func (h *Handler) askPreview(ctx context.Context, u *url.URL) (*view, error) {
	r, err := h.bulkRequest(ctx, u.Query(), "")
	if err != nil {
		return nil, err
	}
	p, err := bulk.PlanAsking(ctx, h.app, r)
	if err != nil {
		return nil, err
	}
	search := &mailPage{Query: r.Query, Spam: r.Spam, Mailbox: r.Account.Email}
	page := &bulkPage{Preview: p, Mailbox: r.Account.Email, Query: r.Query, Spam: r.Spam, Back: search.at("")}
	return &view{name: "ask", title: "Ask the model about all of these", data: page}, nil
}

// askAll asks the model about what was shown, if it is still that.
func (h *Handler) askAll(w http.ResponseWriter, r *http.Request) {
	request, err := h.bulkRequest(r.Context(), r.PostForm, by(r))
	var done bulk.Asked
	if err == nil {
		done, err = bulk.Ask(context.WithoutCancel(r.Context()), h.app, request, r.PostForm.Get("digest"))
	}
	if errors.Is(err, bulk.ErrChanged) {
		err = usage.Wrap(err)
	}
	if err != nil {
		h.failed(w, r, err)
		return
	}
	search := &mailPage{Query: request.Query, Spam: request.Spam, Mailbox: request.Account.Email}
	r.PostForm.Set("from", "/mail"+search.at(""))
	back(w, r, "ask-all", done.Asked, done.Already)
}
