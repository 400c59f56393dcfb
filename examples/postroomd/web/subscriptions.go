package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/postroom-go/postroom/examples/postroomd/subscriptions"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/unsubscribe"
)

// A subscriptionsPage lists the mailing lists that are hardly read, and those that were left.
type subscriptionsPage struct {
	subscriptions.LeftPage

	Suggested []subscriptions.Subscription // on the first page of those that were left
	Still     []subscriptions.Left         // of Left, those that send though they were left
	Older     string                       // the query of the next page; empty on the last one
	Later     bool                         // it is not the first page
	Mailbox   string
	Mailboxes []mailstore.Account
	HowTo     string // how to add a mailbox, while there is none
	Demo      bool   // which reaches nobody
}

func (h *Handler) subscriptions(ctx context.Context, u *url.URL) (*view, error) {
	if err := subscriptions.Check(h.app); err != nil {
		return nil, err
	}
	before := u.Query().Get("before")
	page := &subscriptionsPage{Later: before != "", Demo: h.app.Env.Demo}
	v := &view{name: "subscriptions", title: "Subscriptions", data: page}
	var err error
	if page.Mailboxes, err = h.accounts(ctx); err != nil {
		return nil, err
	}
	if len(page.Mailboxes) == 0 {
		page.HowTo = h.app.Env.HowToAddMailbox()
		return v, nil
	}
	account, err := h.mailbox(ctx, u.Query().Get("mailbox"))
	if err != nil {
		return nil, err
	}
	page.Mailbox = account.Email
	if !page.Later {
		if page.Suggested, err = subscriptions.Suggested(ctx, h.app, account); err != nil {
			return nil, err
		}
	}
	page.LeftPage, err = subscriptions.NewLeft(ctx, h.app, account, before)
	page.Still = subscriptions.StillComes(page.Left)
	if page.Next != "" {
		page.Older = "?" + url.Values{"mailbox": {page.Mailbox}, "before": {page.Next}}.Encode()
	}
	return v, err
}

// Archive is the query of the page that archives the mail of a sender which is in the inbox.
func (p *subscriptionsPage) Archive(sender string) string {
	return "?" + url.Values{"mailbox": {p.Mailbox}, "q": {"in:inbox from:" + sender}, "kind": {"archive"}}.Encode()
}

// A leavePage shows how lists would be left.
type leavePage struct {
	*subscriptions.Preview
	Mailbox string
	Demo    bool // which reaches nobody
}

// Mails reports whether a list is left by a mail.
func (p *leavePage) Mails(way unsubscribe.Way) bool { return way == unsubscribe.ByMail }

// leaveRequest reads which lists a form means.
func (h *Handler) leaveRequest(ctx context.Context, form url.Values, by string) (r subscriptions.Request, err error) {
	r = subscriptions.Request{Senders: form["sender"], By: by, Batch: form.Get("batch")}
	r.Account, err = h.mailbox(ctx, form.Get("mailbox"))
	return r, err
}

// leavePreview shows how lists would be left. It does nothing.
func (h *Handler) leavePreview(ctx context.Context, u *url.URL) (*view, error) {
	r, err := h.leaveRequest(ctx, u.Query(), "")
	if err != nil {
		return nil, err
	}
	p, err := subscriptions.Plan(ctx, h.app, r)
	if err != nil {
		return nil, err
	}
	return &view{name: "leave", title: "Leave these lists", data: &leavePage{p, r.Account.Email, h.app.Env.Demo}}, nil
}

// leaveLists leaves the lists that were shown, if that is still how.
func (h *Handler) leaveLists(w http.ResponseWriter, r *http.Request) {
	request, err := h.leaveRequest(r.Context(), r.PostForm, by(r))
	var done subscriptions.Done
	if err == nil {
		done, err = subscriptions.Act(context.WithoutCancel(r.Context()), h.app, request, r.PostForm.Get("digest"))
	}
	if errors.Is(err, subscriptions.ErrChanged) {
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
	r.PostForm.Set("from", "/subscriptions?"+url.Values{"mailbox": {request.Account.Email}}.Encode())
	back(w, r, "leave-lists", done.Recorded, asked)
}

// blockList writes a rule against the list of a sender.
func (h *Handler) blockList(w http.ResponseWriter, r *http.Request) {
	account, err := h.mailbox(r.Context(), r.PostForm.Get("mailbox"))
	if err == nil {
		sender, id, _ := strings.Cut(r.PostForm.Get("block"), " ")
		_, err = subscriptions.Block(r.Context(), h.app, account, subscriptions.List{Sender: sender, ID: id}, by(r))
	}
	h.done(w, r, "block-list", err)
}
