package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/tokens"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/mailstore"
)

// A settingsPage lists all settings, without secrets, and the tokens of programs that are valid.
type settingsPage struct {
	Sections  []section
	Tokens    []tokens.Token
	Mailboxes []mailstore.Account

	New    tokens.Token // that the form makes
	Days   string       // after which it ends
	Fault  string       // why it was not made
	Secret string       // of the token that was made: it is shown once
}

// A section has the settings whose names begin alike.
type section struct {
	Name   string
	Values []config.Value
}

func (h *Handler) settings(ctx context.Context, _ *url.URL) (*view, error) {
	return h.settingsView(ctx, &settingsPage{New: tokens.Token{Scope: tokens.See}, Days: strconv.Itoa(tokens.MostDays)})
}

func (h *Handler) settingsView(ctx context.Context, page *settingsPage) (*view, error) {
	for _, v := range h.app.Env.Values {
		name, key, _ := strings.Cut(v.Key, ".")
		if n := len(page.Sections); n == 0 || page.Sections[n-1].Name != name {
			page.Sections = append(page.Sections, section{Name: name})
		}
		of := &page.Sections[len(page.Sections)-1]
		of.Values = append(of.Values, config.Value{Key: key, Value: v.Value, From: v.From})
	}
	var err error
	if page.Mailboxes, err = h.accounts(ctx); err != nil {
		return nil, err
	}
	all, err := tokens.New(h.app.DB).List(ctx)
	now := time.Now()
	page.Tokens = slices.DeleteFunc(all, func(t tokens.Token) bool { return !t.Valid(now) })
	return &view{name: "settings", title: "Settings", data: page}, err
}

// addToken makes the token of the form. The answer is the page with its secret, and no redirect: an address that had
// the secret would be kept by the browser.
func (h *Handler) addToken(w http.ResponseWriter, r *http.Request) {
	ctx, now := r.Context(), time.Now()
	page := &settingsPage{Days: r.PostFormValue("days"), New: tokens.Token{
		Name: strings.TrimSpace(r.PostFormValue("name")), Scope: tokens.Scope(r.PostFormValue("scope")),
		Mailboxes: r.PostForm["box"]}}
	status, err := http.StatusOK, h.makeToken(ctx, page, now)
	if fault, wrong := errors.AsType[usage.Error](err); wrong {
		status, err, page.Fault = http.StatusUnprocessableEntity, nil, fault.Error()
	}
	var v *view
	if err == nil {
		v, err = h.settingsView(ctx, page)
	}
	if err != nil {
		h.failed(w, r, err)
		return
	}
	h.page(w, r, &url.URL{Path: r.URL.Path}, status, v)
}

func (h *Handler) makeToken(ctx context.Context, page *settingsPage, now time.Time) error {
	days, err := strconv.Atoi(page.Days)
	if err != nil || days < 1 || days > tokens.MostDays {
		return usage.Errorf("It ends after 1 to %d days.", tokens.MostDays)
	}
	for _, address := range page.New.Mailboxes {
		if _, err := h.app.Mail.AccountByEmail(ctx, address); err != nil {
			return err
		}
	}
	page.New.ExpiresAt = now.Add(time.Duration(days) * 24 * time.Hour)
	page.Secret, err = tokens.New(h.app.DB).Add(ctx, page.New)
	return err
}

func (h *Handler) revokeToken(w http.ResponseWriter, r *http.Request) {
	h.done(w, r, "revoke-token", tokens.New(h.app.DB).Revoke(r.Context(), r.PathValue("name")))
}
