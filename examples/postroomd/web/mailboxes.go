package web

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	texts "github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/examples/postroomd/web/access"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/llm/guidance"
	"github.com/postroom-go/postroom/queue"
)

// A mailboxesPage lists the mailboxes.
type mailboxesPage struct {
	List  []texts.Mailbox
	HowTo string // how to add a mailbox
	Units int    // the quota of a minute; 0: none
}

func (h *Handler) mailboxes(ctx context.Context, _ *url.URL) (*view, error) {
	list, err := texts.NewMailboxes(ctx, h.app, time.Now())
	if err != nil {
		return nil, err
	}
	person := access.From(ctx)
	list = slices.DeleteFunc(list, func(m texts.Mailbox) bool { return !person.May(access.See, m.Email) })
	page := &mailboxesPage{list, h.app.Env.HowToAddMailbox(), h.app.Env.Config.Gmail.UnitsPerMinute}
	return &view{name: "mailboxes", title: "Mailboxes", data: page}, nil
}

func (h *Handler) pauseMailbox(w http.ResponseWriter, r *http.Request) {
	h.done(w, r, "pause-mailbox", h.app.PauseMailbox(r.Context(), r.PathValue("id"), by(r), whyOf(r)))
}

func (h *Handler) resumeMailbox(w http.ResponseWriter, r *http.Request) {
	h.done(w, r, "resume-mailbox", h.app.ResumeMailbox(r.Context(), r.PathValue("id")))
}

// removal asks whether a mailbox is to be removed.
func (h *Handler) removal(ctx context.Context, r *http.Request) (*view, error) {
	account, err := h.app.Mail.Account(ctx, r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	messages, err := h.app.CountMail(ctx, account.ID)
	data := struct {
		mailstore.Account
		Messages int
	}{account, messages}
	return &view{name: "removal", title: "Remove " + account.Email + "?", data: data}, err
}

// removeMailbox removes a mailbox whose address the person has typed.
func (h *Handler) removeMailbox(w http.ResponseWriter, r *http.Request) {
	account, err := h.app.Mail.Account(r.Context(), r.PathValue("id"))
	if err == nil && !strings.EqualFold(strings.TrimSpace(r.PostFormValue("address")), account.Email) {
		err = usage.Errorf("Nothing was removed: type %s to remove it.", account.Email)
	}
	if err == nil {
		err = h.app.RemoveAccount(r.Context(), account.ID)
	}
	h.done(w, r, "remove-mailbox", err)
}

// A labelsPage lists the labels of a mailbox.
type labelsPage struct {
	Mailbox   string
	Mailboxes []mailstore.Account
	List      []postroom.Label
}

func (h *Handler) labels(ctx context.Context, u *url.URL) (*view, error) {
	page := new(labelsPage)
	v := &view{name: "labels", title: "Labels", data: page}
	var err error
	if page.Mailboxes, err = h.accounts(ctx); err != nil || len(page.Mailboxes) == 0 {
		return v, err
	}
	account, err := h.mailbox(ctx, u.Query().Get("mailbox"))
	if err != nil {
		return nil, err
	}
	page.Mailbox = account.Email
	page.List, err = h.ownLabels(ctx, account.Email)
	return v, err
}

func (h *Handler) describeLabel(w http.ResponseWriter, r *http.Request) {
	account, err := h.app.Mail.AccountByEmail(r.Context(), r.PathValue("mailbox"))
	if err == nil {
		err = h.app.DescribeLabel(r.Context(), account.ID, r.PathValue("id"), r.PostFormValue("description"),
			r.PostFormValue("model") != "")
	}
	h.done(w, r, "describe-label", err)
}

// A modelsPage is what models are told, and what they cost.
type modelsPage struct {
	Names        []string
	Instructions []texts.Instruction
	Cost         *texts.Cost
}

func (h *Handler) models(ctx context.Context, _ *url.URL) (*view, error) {
	page := &modelsPage{Names: h.app.Models.Names()}
	var err error
	if page.Instructions, err = texts.NewInstructions(ctx, h.app); err != nil {
		return nil, err
	}
	page.Cost, err = texts.NewCost(ctx, h.app, time.Now())
	return &view{name: "models", title: "Models", data: page}, err
}

func (h *Handler) setInstruction(enabled bool) http.HandlerFunc {
	what := map[bool]string{true: "enable-instruction", false: "disable-instruction"}[enabled]
	return func(w http.ResponseWriter, r *http.Request) {
		h.done(w, r, what, h.app.DB.Write(r.Context(), func(ctx context.Context, tx queue.Tx) error {
			_, err := h.app.Models.Guidance.Patch(ctx, tx, r.PathValue("id"), guidance.Patch{Enabled: &enabled})
			return err
		}))
	}
}

// audit compares everything with the log, if the address asks for that.
func (h *Handler) audit(ctx context.Context, u *url.URL) (*view, error) {
	v := &view{name: "audit", title: "Audit"}
	if u.Query().Get("verify") == "" {
		return v, nil
	}
	found, err := h.app.Ledger.VerifyAudit(ctx, nil)
	if err != nil {
		return nil, err
	}
	report := texts.NewAudit(&found)
	v.data = &report
	return v, nil
}

func (h *Handler) exportAudit(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/jsonl")
	w.Header().Set("Content-Disposition", `attachment; filename="audit.jsonl"`)
	if err := texts.ExportAudit(r.Context(), h.app, w); err != nil {
		h.app.Log.WarnContext(r.Context(), "the log was not exported to its end", "error", err)
	}
}
