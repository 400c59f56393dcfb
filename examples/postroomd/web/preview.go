package web

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/web/ruleform"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/rules"
)

// foundMail is what the rule of a form finds.
type foundMail struct {
	app.RulePreview
	Faults  []string // why nothing can be looked for
	Streams bool     // a script shows it, and more of it as it is found
}

// previewRule shows the form of the address with what its rule finds. The parameter "part" asks for that alone, each
// time when there is more, with a NUL after it; "count", to wait until all is found.
func (h *Handler) previewRule(w http.ResponseWriter, r *http.Request) {
	ctx, query := r.Context(), r.URL.Query()
	account, err := h.mailbox(ctx, query.Get("mailbox"))
	if err != nil {
		h.failed(w, r, err)
		return
	}
	form := ruleform.New()
	if query.Has("tree") {
		if form, err = ruleform.Read(query); err != nil {
			h.failed(w, r, err)
			return
		}
	}
	select { // the next key ends the request that it waits for
	case h.previews <- struct{}{}:
		defer func() { <-h.previews }()
	case <-ctx.Done():
		return
	}
	if query.Has("part") {
		err = h.streamPreview(w, r, account, form)
	} else {
		err = h.showPreview(w, r, account, form)
	}
	if err != nil {
		h.failed(w, r, err)
	}
}

// showPreview serves the page of the form. Without "count" it waits for what is found at first.
func (h *Handler) showPreview(
	w http.ResponseWriter, r *http.Request, account mailstore.Account, f ruleform.Form,
) error {
	page, err := h.ruleFormPage(r.Context(), account, f, "")
	if err != nil {
		return err
	}
	for found, err := range h.find(r.Context(), account, f) {
		if err != nil {
			return err
		}
		if page.Found = found; !r.URL.Query().Has("count") {
			break
		}
	}
	h.show(func(context.Context, *url.URL) (*view, error) { return page.view(), nil }).ServeHTTP(w, r)
	return nil
}

// streamPreview sends what is found, until all is, or the reader has gone.
func (h *Handler) streamPreview(
	w http.ResponseWriter, r *http.Request, account mailstore.Account, f ruleform.Form,
) error {
	page := &ruleFormPage{Mailbox: account.Email, Form: f}
	frame, err := h.frame(r.Context(), inZone(r), page.view())
	if err != nil {
		return err
	}
	begun, control := false, http.NewResponseController(w)
	for found, err := range h.find(r.Context(), account, f) {
		if err != nil && begun {
			return nil // what was sent stays
		}
		if err != nil {
			return err
		}
		found.Streams, page.Found = true, found
		part, err := frame.execute("found")
		if err != nil {
			return err
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("X-Accel-Buffering", "no")
		begun = true
		_, err = w.Write(append(part, 0)) //nolint:gosec // made by a template
		if errors.Join(err, control.Flush()) != nil {
			return nil // the reader has gone
		}
	}
	return nil
}

// Rest are the marked messages that are not among the hits.
func (f *foundMail) Rest() []app.MarkedMessage {
	return slices.DeleteFunc(slices.Clone(f.Marked), func(m app.MarkedMessage) bool {
		return slices.ContainsFunc(f.Hits, func(hit app.RuleHit) bool { return hit.Message.ID == m.ID })
	})
}

// find yields what the rule of a form finds. A rule with faults finds nothing, and that is no error.
func (h *Handler) find(ctx context.Context, account mailstore.Account, f ruleform.Form) iter.Seq2[*foundMail, error] {
	return func(yield func(*foundMail, error) bool) {
		rule, err := h.formedRule(ctx, account, f)
		if err != nil {
			yield(nil, err)
			return
		}
		marked := make([]string, len(f.Marks))
		for i, mark := range f.Marks {
			marked[i] = mark.ID
		}
		for found, err := range h.app.PreviewRule(ctx, account, rule, marked...) {
			if errors.Is(err, rules.ErrInvalidRule) {
				yield(&foundMail{Faults: faultsOf(f, err)}, nil)
				return
			}
			if !yield(&foundMail{RulePreview: found}, err) || err != nil {
				return
			}
		}
	}
}

// formedRule is the stored rule that a form changes, or a new one, with the condition of the form.
func (h *Handler) formedRule(ctx context.Context, account mailstore.Account, f ruleform.Form) (rules.Rule, error) {
	rule := rules.NewRule("new", f.Condition, postroom.Archive, nil)
	if !f.Known {
		return rule, nil
	}
	stored, err := h.app.Rules.List(ctx)
	i := slices.IndexFunc(stored, func(r rules.Rule) bool {
		return r.Name == f.Name && (r.AccountID == "" || r.AccountID == account.ID)
	})
	if i >= 0 {
		rule = stored[i]
		rule.Condition = f.Condition
	}
	return rule, err
}

// faultsOf are the faults of the condition of a form; the error's own text if it has none.
func faultsOf(f ruleform.Form, err error) (list []string) {
	for _, fault := range f.Condition.Faults() {
		if text := fault.Text(); errors.Is(fault, rules.ErrMissingField) {
			list = append(list, strings.ReplaceAll(fault.Detail, "_", " ")+".")
		} else {
			list = append(list, text)
		}
	}
	if len(list) == 0 {
		list = []string{err.Error()}
	}
	return list
}
