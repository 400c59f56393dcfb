package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/postroom-go/postroom/examples/postroomd/absence"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/mailstore"
)

// An awayPage asks for the text and the end of an absence, and shows then whom it would have answered.
type awayPage struct {
	mailstore.Account
	Wanted  absence.Wanted
	Days    string
	Text    string // as it would be sent
	Preview *absence.Preview
	Fault   string
}

// away shows the form of an absence; with its values, whom it would have answered.
func (h *Handler) away(ctx context.Context, r *http.Request) (*view, error) {
	account, err := h.app.Mail.Account(ctx, r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	page := &awayPage{Account: account, Days: r.URL.Query().Get("days")}
	v := &view{name: "away", title: "Away: " + account.Email, data: page}
	if !r.URL.Query().Has("until") {
		return v, nil
	}
	if page.Wanted, err = wantedIn(r.URL.Query()); err == nil {
		err = page.look(ctx, h, by(r))
	}
	if _, wrong := errors.AsType[usage.Error](err); wrong {
		page.Fault, err = err.Error(), nil
	}
	return v, err
}

func (p *awayPage) look(ctx context.Context, h *Handler, who string) error {
	a, err := absence.Read(h.app, p.Account, p.Wanted, who)
	if err != nil {
		return err
	}
	preview, err := absence.NewPreview(ctx, h.app, a)
	p.Text, p.Preview = a.Text, &preview
	return err
}

// wantedIn reads the values of the form.
func wantedIn(form url.Values) (w absence.Wanted, err error) {
	w = absence.Wanted{From: form.Get("from_day"), Until: form.Get("until"), Text: form.Get("text"),
		Audience: form.Get("audience")}
	if days := strings.TrimSpace(form.Get("days")); days != "" {
		if w.Days, err = strconv.Atoi(days); err != nil {
			return w, usage.Errorf("the days are %q; write a number, or nothing", days)
		}
	}
	return w, nil
}

func (h *Handler) setAway(w http.ResponseWriter, r *http.Request) {
	account, err := h.app.Mail.Account(r.Context(), r.PathValue("id"))
	if err != nil {
		h.failed(w, r, err)
		return
	}
	_ = r.PostFormValue("until") // reads the form
	wanted, err := wantedIn(r.PostForm)
	if err == nil {
		a, fault := absence.Read(h.app, account, wanted, by(r))
		if err = fault; err == nil {
			_, err = absence.Set(r.Context(), h.app, account, a)
		}
	}
	h.done(w, r, "away", err)
}

func (h *Handler) endAway(w http.ResponseWriter, r *http.Request) {
	account, err := h.app.Mail.Account(r.Context(), r.PathValue("id"))
	if err == nil {
		_, err = absence.End(r.Context(), h.app, account.ID, by(r))
	}
	h.done(w, r, "back", err)
}
