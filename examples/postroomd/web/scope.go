package web

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/postroom-go/postroom"
	texts "github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/examples/postroomd/web/access"
	"github.com/postroom-go/postroom/gmail/mailstore"
)

// A scope returns the addresses of the mailboxes that a request is about. It is asked for people who do not have all.
type scope func(r *http.Request) ([]string, error)

func ofNothing(*http.Request) ([]string, error)    { return nil, nil }
func ofEverything(*http.Request) ([]string, error) { return []string{access.Everything}, nil }
func ofPath(r *http.Request) ([]string, error)     { return []string{r.PathValue("mailbox")}, nil }

// ofList is about the mailbox that the address or the form names. Without one it is made to name the first of the
// person's.
func (h *Handler) ofList(r *http.Request) ([]string, error) {
	if r.Method == http.MethodPost {
		mailbox, err := h.named(r.Context(), r.PostForm)
		r.Form = r.PostForm
		return []string{mailbox}, err
	}
	return h.ofAddress(r.Context(), r.URL)
}

func (h *Handler) ofAddress(ctx context.Context, u *url.URL) ([]string, error) {
	query := u.Query()
	mailbox, err := h.named(ctx, query)
	u.RawQuery = query.Encode()
	return []string{mailbox}, err
}

// named is the mailbox that a list names, and from then on does.
func (h *Handler) named(ctx context.Context, values url.Values) (string, error) {
	if mailbox := values.Get("mailbox"); mailbox != "" {
		return mailbox, nil
	}
	own, err := h.accounts(ctx)
	if err != nil || len(own) == 0 {
		return access.Everything, err // there is nothing of theirs to see
	}
	values.Set("mailbox", own[0].Email)
	return own[0].Email, nil
}

func (h *Handler) ofEvents(r *http.Request) ([]string, error) {
	query := r.URL.Query()
	page, err := url.ParseRequestURI(query.Get("page"))
	if err != nil {
		return nil, nil //nolint:nilerr // events refuses it
	}
	mailboxes, err := h.ofAddress(r.Context(), page)
	query.Set("page", page.String())
	r.URL.RawQuery = query.Encode()
	return mailboxes, err
}

func (h *Handler) ofAccount(r *http.Request) ([]string, error) {
	return h.email(r.Context(), r.PathValue("id"))
}

func (h *Handler) ofAction(r *http.Request) ([]string, error) {
	action, err := h.app.Ledger.Action(r.Context(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return h.email(r.Context(), action.AccountID)
}

func (h *Handler) ofReminder(r *http.Request) ([]string, error) {
	reminder, err := h.app.Reminders.Reminder(r.Context(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return h.email(r.Context(), reminder.UserID)
}

// ofAnswers is about the mailboxes of all requests that the form names, and that of its filter, if it has one.
func (h *Handler) ofAnswers(r *http.Request) (mailboxes []string, err error) {
	if r.PostFormValue("digest") != "" {
		if mailboxes, err = h.ofList(r); err != nil {
			return nil, err
		}
	}
	named := slices.Concat(r.PostForm["approve"], r.PostForm["reject"], r.PostForm["pick"], r.PostForm["shown"])
	if len(named) > texts.MaxBatch {
		return []string{access.Everything}, nil // so many are not answered
	}
	for _, shown := range named {
		request, err := texts.ShownRequest(r.Context(), h.app, shown)
		if errors.Is(err, texts.ErrShown) {
			continue // it is not answered either
		}
		if err != nil {
			return nil, err
		}
		action, err := h.app.Ledger.Action(r.Context(), request.ActionID)
		if err != nil {
			return nil, err
		}
		of, err := h.email(r.Context(), action.AccountID)
		if err != nil {
			return nil, err
		}
		mailboxes = append(mailboxes, of...)
	}
	return mailboxes, nil
}

// ofRule is about the mailbox of a rule. One of all mailboxes is seen by everybody, and changed by who has all.
func (h *Handler) ofRule(r *http.Request) ([]string, error) {
	rule, err := h.app.Rules.Get(r.Context(), r.PathValue("id"))
	switch {
	case err != nil:
		return nil, err
	case rule.AccountID != "":
		return h.email(r.Context(), rule.AccountID)
	case r.Method == http.MethodPost:
		return []string{access.Everything}, nil
	}
	return nil, nil
}

func (h *Handler) ofVersion(r *http.Request) ([]string, error) {
	number, err := strconv.ParseInt(r.PathValue("number"), 10, 64)
	if err != nil {
		return nil, postroom.ErrNotFound
	}
	version, err := h.app.Rules.Version(r.Context(), number)
	if err != nil {
		return nil, err
	}
	return h.ruleReaders(r.Context(), version.AccountID)
}

// ofRulesText is about all mailboxes that read the rules of the named one.
func (h *Handler) ofRulesText(r *http.Request) ([]string, error) {
	named, err := h.ofList(r)
	if err != nil {
		return nil, err
	}
	account, err := h.app.Mail.AccountByEmail(r.Context(), named[0])
	if err != nil {
		return nil, err
	}
	readers, err := h.ruleReaders(r.Context(), account.ID)
	return append(readers, named...), err
}

// ofRulesPath is about all mailboxes that read the rules of the one of the path.
func (h *Handler) ofRulesPath(r *http.Request) ([]string, error) {
	named := r.PathValue("mailbox")
	account, err := h.app.Mail.AccountByEmail(r.Context(), named)
	if errors.Is(err, postroom.ErrNotFound) {
		return []string{named}, nil // who may not see it does not learn that
	}
	if err != nil {
		return nil, err
	}
	readers, err := h.ruleReaders(r.Context(), account.ID)
	return append(readers, named), err
}

func (h *Handler) ruleReaders(ctx context.Context, accountID string) ([]string, error) {
	if accountID == "" {
		return []string{access.Everything}, nil
	}
	readers, err := h.app.RuleEditor.Readers(ctx, accountID)
	if err != nil {
		return nil, err
	}
	list := make([]string, len(readers))
	for i, reader := range readers {
		list[i] = reader.Email()
	}
	return list, nil
}

// email is the address of an account. One that is gone is for those who have all.
func (h *Handler) email(ctx context.Context, id string) ([]string, error) {
	all, err := texts.Mailboxes(ctx, h.app)
	return []string{cmp.Or(all[id], access.Everything)}, err
}

// accounts are the mailboxes that the person of the context may see.
func (h *Handler) accounts(ctx context.Context) ([]mailstore.Account, error) {
	person := access.From(ctx)
	all, err := h.app.Mail.Accounts(ctx)
	return slices.DeleteFunc(all, func(a mailstore.Account) bool { return !person.May(access.See, a.Email) }), err
}
