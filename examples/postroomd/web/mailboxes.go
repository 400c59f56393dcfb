package web

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/firstlook"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	texts "github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/examples/postroomd/web/access"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/aging"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules/onboarding"
)

// A mailboxesPage lists the mailboxes.
type mailboxesPage struct {
	List  []listedMailbox
	HowTo string // how to add a mailbox
	Units int    // the quota of a minute; 0: none
}

// A listedMailbox is a mailbox with what is done for it at its time.
type listedMailbox struct {
	texts.Mailbox
	Schedules []queue.StoredSchedule // for who may have them done now
}

func (h *Handler) mailboxes(ctx context.Context, _ *url.URL) (*view, error) {
	list, err := texts.NewMailboxes(ctx, h.app, time.Now())
	if err != nil {
		return nil, err
	}
	person := access.From(ctx)
	list = slices.DeleteFunc(list, func(m texts.Mailbox) bool { return !person.May(access.See, m.Email) })
	entries := make([]listedMailbox, len(list))
	for i, m := range list {
		entries[i].Mailbox = m
		if !person.May(access.Own, m.Email) {
			continue
		}
		if entries[i].Schedules, err = h.app.SchedulesOf(ctx, m.ID); err != nil {
			return nil, err
		}
	}
	page := &mailboxesPage{entries, h.app.Env.HowToAddMailbox(), h.app.Env.Config.Gmail.UnitsPerMinute}
	return &view{name: "mailboxes", title: "Mailboxes", data: page}, nil
}

func (h *Handler) pauseMailbox(w http.ResponseWriter, r *http.Request) {
	h.done(w, r, "pause-mailbox", h.app.PauseMailbox(r.Context(), r.PathValue("id"), by(r), whyOf(r)))
}

func (h *Handler) resumeMailbox(w http.ResponseWriter, r *http.Request) {
	h.done(w, r, "resume-mailbox", h.app.ResumeMailbox(r.Context(), r.PathValue("id"), by(r)))
}

// works describe the jobs of a mailbox that have schedules, by their types.
var works = map[string]string{string(gmail.JobHistorySync): "Read what is new",
	string(gmail.JobLabelsSync): "Read the labels", string(gmail.JobReconcile): "Compare all of it with Gmail",
	string(gmail.JobWatch): "Have Gmail tell what changes",
	string(aging.Job):      "Ask rules about age again"}

func workWords(jobType string) string { return cmp.Or(works[jobType], jobType) }

// doNow has work of a mailbox done now, or what one of its schedules does.
func (h *Handler) doNow(w http.ResponseWriter, r *http.Request) {
	ctx, id := r.Context(), r.PathValue("id")
	var started queue.EnqueueResult
	_, err := h.app.Mail.Account(ctx, id)
	if name := r.PostFormValue("schedule"); err == nil && name != "" {
		started, err = h.fire(ctx, id, name, by(r))
	} else if err == nil {
		started, err = h.app.StartWork(ctx, id, app.Work(r.PostFormValue("do")), by(r))
	}
	h.done(w, r, map[bool]string{true: "done-already", false: "do-now"}[started.Duplicate], err)
}

// fire fires a schedule of a mailbox, and none of others.
func (h *Handler) fire(ctx context.Context, accountID, name, by string) (started queue.EnqueueResult, err error) {
	own, err := h.app.SchedulesOf(ctx, accountID)
	if err != nil {
		return started, err
	}
	if !slices.ContainsFunc(own, func(s queue.StoredSchedule) bool { return s.Name == name }) {
		return started, postroom.ErrNotFound
	}
	return h.app.FireSchedule(ctx, name, by)
}

// removal asks whether a mailbox is to be removed.
func (h *Handler) removal(ctx context.Context, r *http.Request) (*view, error) {
	return h.asksAbout(ctx, r, "removal", "Remove ")
}

// signingOut asks whether to sign out of a mailbox.
func (h *Handler) signingOut(ctx context.Context, r *http.Request) (*view, error) {
	return h.asksAbout(ctx, r, "signout", "Sign out of ")
}

// asksAbout asks whether something is to be done to a mailbox, and says what that means.
func (h *Handler) asksAbout(ctx context.Context, r *http.Request, name, what string) (*view, error) {
	account, err := h.app.Mail.Account(ctx, r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	messages, many, err := texts.CountMail(ctx, h.app, account.ID)
	data := struct {
		mailstore.Account
		Messages int
		Many     bool // there are more than Messages
	}{account, messages, many}
	return &view{name: name, title: what + account.Email + "?", data: data}, err
}

// removeMailbox removes a mailbox whose address the person has typed.
func (h *Handler) removeMailbox(w http.ResponseWriter, r *http.Request) {
	account, err := h.app.Mail.Account(r.Context(), r.PathValue("id"))
	if err == nil && !strings.EqualFold(strings.TrimSpace(r.PostFormValue("address")), account.Email) {
		err = usage.Errorf("Nothing was removed: type %s to remove it.", account.Email)
	}
	if err == nil {
		err = h.app.RemoveAccount(r.Context(), account.ID, by(r))
	}
	h.done(w, r, "remove-mailbox", err)
}

// A labelsPage lists the labels of a mailbox.
type labelsPage struct {
	Mailbox   string
	Account   string // its id
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
	page.Mailbox, page.Account = account.Email, account.ID
	page.List, err = h.ownLabels(ctx, account.Email)
	return v, err
}

func (h *Handler) describeLabel(w http.ResponseWriter, r *http.Request) {
	account, err := h.app.Mail.AccountByEmail(r.Context(), r.PathValue("mailbox"))
	if err == nil {
		patch := app.LabelPatch{Description: new(r.PostFormValue("description")),
			ForModels: new(r.PostFormValue("model") != "")}
		_, err = h.app.DescribeLabel(r.Context(), account.ID, r.PathValue("id"), patch, by(r))
	}
	h.done(w, r, "describe-label", err)
}

// An auditPage has what people have changed, and what the comparison with the log has found.
type auditPage struct {
	*texts.Acts
	Report *texts.Audit // nil: nobody has asked for it
	Later  bool         // it is not the first page of acts
}

// audit compares everything with the log, if the address asks for that.
func (h *Handler) audit(ctx context.Context, u *url.URL) (*view, error) {
	page := &auditPage{Later: u.Query().Has("before")}
	var err error
	if page.Acts, err = texts.NewActs(ctx, h.app, "", u.Query().Get("before")); err != nil {
		return nil, err
	}
	if u.Query().Get("verify") != "" {
		found, err := h.app.Ledger.VerifyAudit(ctx, nil)
		if err != nil {
			return nil, err
		}
		page.Report = new(texts.NewAudit(&found))
	}
	return &view{name: "audit", title: "Audit", data: page}, nil
}

func (h *Handler) exportAudit(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/jsonl")
	w.Header().Set("Content-Disposition", `attachment; filename="audit.jsonl"`)
	if err := texts.ExportAudit(r.Context(), h.app, w); err != nil {
		h.app.Log.WarnContext(r.Context(), "the log was not exported to its end", "error", err)
	}
}

// A lookPage is what the newest mail of a mailbox is.
type lookPage struct {
	firstlook.Report

	ID   string // of the mailbox
	None bool   // nobody has looked at it yet
}

// A lookPart is a list of the page.
type lookPart struct {
	ID, Title string
	List      []onboarding.Sender
}

// Parts are the lists of the page.
func (p *lookPage) Parts() []lookPart {
	return []lookPart{{"senders", "Senders", p.Senders}, {"lists", "Mailing lists", p.Lists}}
}

func (h *Handler) firstLook(ctx context.Context, r *http.Request) (*view, error) {
	account, err := h.app.Mail.Account(ctx, r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	page := &lookPage{ID: account.ID}
	page.Report, err = firstlook.Read(ctx, h.app, account)
	if firstlook.IsMissing(err) {
		page.None, err = true, nil
	}
	return &view{name: "look", title: "First look at " + account.Email, data: page}, err
}

// lookAgain has a mailbox looked at.
func (h *Handler) lookAgain(w http.ResponseWriter, r *http.Request) {
	account, err := h.app.Mail.Account(r.Context(), r.PathValue("id"))
	if err == nil {
		_, err = firstlook.Start(r.Context(), h.app, account)
	}
	h.done(w, r, "look", err)
}
