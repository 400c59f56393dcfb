package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/reminding"
	"github.com/postroom-go/postroom/examples/postroomd/ruledraft"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	texts "github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/gmail/tasks"
	"github.com/postroom-go/postroom/safety"
)

// A waitingPage lists what waits for a person.
type waitingPage struct {
	*texts.Requests
	Tasks     texts.Tasks          // on the first page
	Reminders []reminding.Reminder // on the first page
	Mailbox   string               // of a new reminder; empty: there is none yet
	Filter    *filterForm
	Older     string // the query of the next page; empty on the last one
	Later     bool   // it is not the first page

	MoreReminders bool // than are listed
}

func (h *Handler) waiting(ctx context.Context, u *url.URL) (*view, error) {
	filter, err := h.filter(ctx, u.Query(), time.Now())
	if err != nil {
		return nil, err
	}
	filter.ledger.States, filter.ledger.Since = nil, time.Time{} // all of them wait
	list, err := texts.NewRequests(ctx, h.app, filter.ledger, filter.Filtered())
	if err != nil {
		return nil, err
	}
	page := &waitingPage{Requests: list, Filter: filter, Later: filter.ledger.Before != ""}
	if list.Next != "" {
		page.Older = filter.Older(list.Next)
	}
	if !page.Later {
		err = h.addToDo(ctx, page, filter.ledger.AccountID)
	}
	return &view{name: "waiting", title: "Waiting", live: true, data: page}, err
}

// toDoShown bounds the tasks, and the reminders, beside the requests.
const toDoShown = 20

// addToDo adds the tasks and the reminders of an account; an empty one is all that the person has.
func (h *Handler) addToDo(ctx context.Context, page *waitingPage, accountID string) (err error) {
	page.Tasks, err = texts.NewTasks(ctx, h.app, tasks.Filter{AccountID: accountID, OpenOnly: true, Limit: toDoShown})
	if err != nil {
		return err
	}
	list, err := reminding.List(ctx, h.app, reminding.Filter{AccountID: accountID, Limit: toDoShown})
	if err != nil {
		return err
	}
	page.Reminders, page.MoreReminders = list.ByTime(), list.Next != ""
	accounts, err := h.accounts(ctx)
	for _, a := range accounts {
		if a.ID == accountID || page.Mailbox == "" {
			page.Mailbox = a.Email
		}
	}
	return err
}

// addReminder makes a reminder of a mailbox.
func (h *Handler) addReminder(w http.ResponseWriter, r *http.Request) {
	account, err := h.mailbox(r.Context(), r.PostForm.Get("mailbox"))
	if err == nil {
		_, err = reminding.Add(r.Context(), h.app, reminding.Request{Account: account, Text: r.PostForm.Get("text"),
			At: r.PostForm.Get("at"), Zone: zoneNamed(r)})
	}
	h.done(w, r, "add-reminder", err)
}

// zoneNamed is the time zone of a person's browser; empty if it is not known.
func zoneNamed(r *http.Request) string { return inZone(r).Query().Get(zoneParam) }

// snoozeReminder has a reminder come at another time.
func (h *Handler) snoozeReminder(w http.ResponseWriter, r *http.Request) {
	_, err := reminding.Snooze(r.Context(), h.app, r.PathValue("id"), r.PostFormValue("until"), zoneNamed(r))
	h.done(w, r, "snooze-reminder", err)
}

// cancelReminder ends a reminder.
func (h *Handler) cancelReminder(w http.ResponseWriter, r *http.Request) {
	_, err := reminding.Cancel(r.Context(), h.app, r.PathValue("id"))
	h.done(w, r, "cancel-reminder", err)
}

// closeTask says that a task is done.
func (h *Handler) closeTask(w http.ResponseWriter, r *http.Request) {
	_, err := h.app.Tasks.Close(r.Context(), r.PathValue("id"), by(r))
	h.done(w, r, "close-task", err)
}

// A requestPage is what waits about one message.
type requestPage struct {
	*texts.WholeRequest
	Gmail  string                // where Gmail shows the message; empty if it does not
	Others []postroom.ActionType // what may be done instead
	Labels []postroom.Label      // for what is done instead
	Always *ruleLike             // a rule that always does this; nil if none is drafted
	Again  bool                  // the model that wants this may be asked once more
}

func (h *Handler) request(ctx context.Context, r *http.Request) (*view, error) {
	v, err := texts.NewWholeRequest(ctx, h.app, r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	page := &requestPage{WholeRequest: v}
	if v.Mail != nil {
		page.Gmail = h.atGmail(v.Mailbox, v.Mail.ID)
		if page.Labels, err = h.ownLabels(ctx, v.Mailbox); err != nil {
			return nil, err
		}
		page.Others, page.Again = h.app.InsteadKinds(), h.app.Env.Config.LLM.Enabled() && v.MayAskAgain()
		if page.Always, err = h.always(ctx, page); err != nil {
			return nil, err
		}
	}
	return &view{name: "request", title: "May it " + v.Would + "?", data: page}, nil
}

// A ruleLike is what a rule drafted from the message of a request would do.
type ruleLike struct {
	Action postroom.ActionType
	Label  string
}

// always returns the rule that does to all such mail what a request asks for; nil if a draft cannot.
func (h *Handler) always(ctx context.Context, page *requestPage) (*ruleLike, error) {
	action, err := h.app.Ledger.Action(ctx, page.ID)
	if err != nil || !slices.Contains(ruledraft.Actions, action.Type) {
		return nil, err
	}
	like := &ruleLike{Action: action.Type}
	if id, labeled := action.Parameters.Text(postroom.ParamLabel); labeled {
		i := slices.IndexFunc(page.Labels, func(l postroom.Label) bool { return l.ID == id })
		if i < 0 {
			return nil, nil //nolint:nilnil // documented
		}
		like.Label = page.Labels[i].Name
	}
	return like, nil
}

// atGmail is the address at which Gmail shows a message of a mailbox; empty in a demo.
func (h *Handler) atGmail(mailbox, id string) string {
	if h.app.Env.Demo {
		return ""
	}
	return gmailapi.PageOf(mailbox, id)
}

// outgoing serves the exact bytes of what an action sends, as a file.
func (h *Handler) outgoing(w http.ResponseWriter, r *http.Request) {
	v, err := texts.NewWholeRequest(r.Context(), h.app, r.PathValue("id"))
	switch {
	case err != nil:
		h.failed(w, r, err)
	case v.Sends == nil:
		h.problem(w, r, http.StatusNotFound, "Not found", "It sends no message.")
	default:
		w.Header().Set("Content-Type", "message/rfc822")
		w.Header().Set("Content-Disposition", `attachment; filename="message.eml"`)
		w.Header().Set("Content-Security-Policy", "default-src 'none'; sandbox")
		_, _ = w.Write([]byte(v.Raw)) //nolint:gosec // a download, which no browser shows
	}
}

// answer answers the requests that a form names, as they were shown: one ("approve" or "reject"), those that are
// ticked ("pick"), or all of a filter, if they still are what was counted ("digest").
func (h *Handler) answer(w http.ResponseWriter, r *http.Request) {
	one, approves := r.PostFormValue("approve"), true
	if one == "" {
		one, approves = r.PostFormValue("reject"), false
	}
	if one != "" {
		err := h.answerOne(r, one, approves, false)
		h.done(w, r, verb(approves), err)
		return
	}
	approves = r.PostFormValue("do") == "approve"
	picked := r.PostForm["pick"]
	if digest := r.PostFormValue("digest"); digest != "" {
		var err error
		if picked, err = h.allOf(r, digest); err != nil {
			h.failed(w, r, err)
			return
		}
	}
	if len(picked) == 0 || len(picked) > texts.MaxBatch {
		h.failed(w, r, usage.Errorf("Nothing is ticked: go back, and tick what is meant."))
		return
	}
	answered := 0
	for _, shown := range picked {
		err := h.answerOne(r, shown, approves, true)
		if _, wrong := errors.AsType[usage.Error](err); wrong || errors.Is(err, texts.ErrShown) {
			continue // it was answered meanwhile, or is not what was shown; the others are
		}
		if err != nil {
			h.failed(w, r, err)
			return
		}
		answered++
	}
	back(w, r, verb(approves)+"-all", answered, len(picked))
}

func verb(approves bool) string {
	if approves {
		return "approve"
	}
	return "reject"
}

// allOf returns the requests of the filter that the form has, if they are what the digest was made of.
func (h *Handler) allOf(r *http.Request, digest string) ([]string, error) {
	filter, err := h.filter(r.Context(), r.PostForm, time.Now())
	if err != nil {
		return nil, err
	}
	all, err := texts.AllRequests(r.Context(), h.app, filter.ledger)
	switch {
	case err != nil:
		return nil, err
	case all == nil || all.Digest != digest:
		return nil, usage.Errorf("What waits is not what was counted: go back, reload the page, and look again.")
	}
	return all.Shown, nil
}

// answerOne answers a request as it was shown. One that sends, or cannot be taken back, is not answered with others.
func (h *Handler) answerOne(r *http.Request, shown string, approves, together bool) error {
	request, err := texts.ShownRequest(r.Context(), h.app, shown)
	if err != nil {
		return err
	}
	if together {
		action, err := h.app.Ledger.Action(r.Context(), request.ActionID)
		if err != nil {
			return err
		}
		if !h.app.AnsweredTogether(action.Type) {
			return usage.Errorf("what sends or cannot be taken back is answered on its own page")
		}
	}
	if approves {
		return h.app.ApproveShown(r.Context(), request, by(r))
	}
	return h.app.RejectShown(r.Context(), request, by(r), whyOf(r))
}

func (h *Handler) ownLabels(ctx context.Context, mailbox string) ([]postroom.Label, error) {
	account, err := h.app.Mail.AccountByEmail(ctx, mailbox)
	if err != nil {
		return nil, err
	}
	list, err := h.app.Mail.Labels(ctx, account.ID)
	return slices.DeleteFunc(list, func(l postroom.Label) bool { return l.Type != postroom.LabelUser }), err
}

// instead rejects a request, and does another thing.
func (h *Handler) instead(w http.ResponseWriter, r *http.Request) {
	request, err := texts.ShownRequest(r.Context(), h.app, r.PostFormValue("shown"))
	if err == nil {
		err = h.app.RejectFor(r.Context(), request, by(r), whyOf(r), postroom.ActionType(r.PostFormValue("kind")),
			r.PostFormValue("label"))
	}
	h.done(w, r, "instead", err)
}

// editSent changes the subject and the text of what is sent, and goes back to the request about it.
func (h *Handler) editSent(w http.ResponseWriter, r *http.Request) {
	request, err := texts.ShownRequest(r.Context(), h.app, r.PostFormValue("shown"))
	if err == nil {
		edit := outbox.Edit{Subject: new(r.PostFormValue("subject")), Text: new(r.PostFormValue("text"))}
		_, err = h.app.EditShown(r.Context(), request, by(r), edit)
	}
	h.done(w, r, "edit", err)
}

// askAgain rejects a request, and asks its model once more.
func (h *Handler) askAgain(w http.ResponseWriter, r *http.Request) {
	request, err := texts.ShownRequest(r.Context(), h.app, r.PostFormValue("shown"))
	if err == nil {
		err = h.app.RejectAndAskAgain(r.Context(), request, by(r), whyOf(r))
	}
	h.done(w, r, "ask-again", err)
}

// renew asks again about what has expired.
func (h *Handler) renew(w http.ResponseWriter, r *http.Request) {
	err := h.app.RenewRequest(r.Context(), r.PathValue("id"))
	if errors.Is(err, safety.ErrAltered) {
		err = usage.Errorf("%w: reject it", err)
	}
	h.done(w, r, "renew", err)
}
