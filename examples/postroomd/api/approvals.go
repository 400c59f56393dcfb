package api

import (
	"errors"
	"net/http"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
	"github.com/postroom-go/postroom/safety"
)

// An approvalsAPI shows requests with their mailboxes and messages, in place of those of package webapi, and answers
// them in the ways that only the daemon has.
type approvalsAPI struct {
	app *app.App
	of  mailboxes
}

func (a approvalsAPI) routes() []webapi.Route {
	return []webapi.Route{
		webapi.Handle(webapi.Route{Method: http.MethodGet, Path: "/approvals", Scope: webapi.See, Account: webapi.ByQuery,
			Summary: "List the requests for approval that wait, newest first"}, a.list),
		webapi.Handle(webapi.Route{Method: http.MethodGet, Path: "/approvals/{id}", Scope: webapi.See, Account: a.of.byAction,
			Summary: "Show a request with its mail, what it would do and the message that would be sent"}, a.show),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: "/approvals/{id}/ask", Scope: webapi.Approve,
			Account: a.of.byAction, Needs: needsShown,
			Summary: "Reject the request that was shown, and ask its model once more, which is told why"}, a.ask),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: "/approvals/{id}/instead", Scope: webapi.Approve,
			Account: a.of.byAction, Needs: needsShown,
			Summary: "Reject the request that was shown, and do another thing that can be taken back"}, a.instead),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: "/approvals/{id}/renew", Scope: webapi.Approve,
			Account: a.of.byAction, NoBody: true, Summary: "Ask again about an action whose request has expired"}, a.renew),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: "/approvals/{id}/edit", Scope: webapi.Approve,
			Account: a.of.byAction, Needs: needsEdit,
			Summary: "Edit the message that would be sent, and show the request that waits then"}, a.edit),
	}
}

const (
	needsShown = "it needs request_id and digest, as the request was shown, and may have why"
	needsEdit  = "it needs request_id and digest, as the request was shown, and subject, text or both"
)

// An approval is a request in a list.
type approval struct {
	webapi.Request
	Mailbox string     `json:"mailbox"`
	Would   string     `json:"would"`            // what the action would do, as after "It would"
	Access  string     `json:"access,omitempty"` // why it cannot be done by the server's machine, and what to do
	Mail    *view.Mail `json:"mail,omitempty"`   // absent: the message is no longer here
}

// A wholeApproval is a request with all that a person would look at before an answer.
type wholeApproval struct {
	webapi.Request
	Mailbox    string            `json:"mailbox"`
	Would      string            `json:"would"`
	Access     string            `json:"access,omitempty"` // why it cannot be done by the server's machine, and what to do
	Forever    bool              `json:"forever"`          // it cannot be taken back
	Mail       *view.WholeMail   `json:"mail,omitempty"`
	Change     *view.LabelChange `json:"change,omitempty"`
	Recipients []view.Recipient  `json:"recipients,omitempty"`
	Note       string            `json:"note,omitempty"`    // the text that was written for the message, which may be edited
	Edited     *view.Edit        `json:"edited,omitempty"`  // absent: nobody has edited the message
	Refused    string            `json:"refused,omitempty"` // why it must not send
}

// An editBody names the request that was shown, and has what is sent instead.
type editBody struct {
	RequestID string  `json:"request_id"`
	Digest    string  `json:"digest"`
	Subject   *string `json:"subject"` // absent: it stays
	Text      *string `json:"text"`    // absent: it stays
}

func (a approvalsAPI) list(r *http.Request, in webapi.RequestFilter) ([]approval, error) {
	ctx := r.Context()
	f, err := in.Ledger(r)
	if err != nil {
		return nil, err
	}
	waiting, err := a.app.Ledger.Approvals(ctx, f)
	if err != nil {
		return nil, err
	}
	names, err := a.app.LabelNames(ctx)
	if err != nil {
		return nil, err
	}
	addresses, err := view.Mailboxes(ctx, a.app)
	if err != nil {
		return nil, err
	}
	lacking, err := view.LackingAccess(ctx, a.app)
	if err != nil {
		return nil, err
	}
	list := make([]approval, len(waiting))
	for i, w := range waiting {
		list[i] = approval{Request: webapi.NewRequest(w, nil, names.Name), Mailbox: addresses[w.Action.AccountID],
			Would: view.InWords(w.Action, names), Access: lacking[w.Action.AccountID]}
		if list[i].Mail, err = view.StoredMail(ctx, a.app, w.Action, names); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (a approvalsAPI) show(r *http.Request, _ webapi.None) (v wholeApproval, err error) {
	ctx, id := r.Context(), r.PathValue("id")
	if _, err := a.app.Ledger.Action(ctx, id); err != nil { // its whole id is required
		return v, err
	}
	if _, err := a.app.WaitingRequest(ctx, id); err != nil {
		return v, conflict(err)
	}
	whole, err := view.NewWholeRequest(ctx, a.app, id) // it composes what is sent, which the digest covers
	if err != nil {
		return v, conflict(err)
	}
	names, err := a.app.LabelNames(ctx)
	if err != nil {
		return v, err
	}
	v = wholeApproval{Request: webapi.NewRequest(whole.Waiting, nil, names.Name), Mailbox: whole.Mailbox,
		Would: whole.Would, Access: whole.Access, Forever: whole.Forever, Mail: whole.Mail, Change: whole.Change,
		Recipients: whole.Recipients, Note: whole.Note, Edited: whole.Edited, Refused: whole.Refused}
	v.Message = whole.Sends
	return v, nil
}

// ask rejects a request, and asks its model once more.
func (a approvalsAPI) ask(r *http.Request, in webapi.AnswerBody) (v webapi.Answer, err error) {
	shown, err := shownRequest(r, in.RequestID, in.Digest)
	if err != nil {
		return v, err
	}
	if err := a.app.RejectAndAskAgain(r.Context(), shown, webapi.CallerOf(r).Name, in.Why); err != nil {
		return v, err
	}
	return a.answered(r)
}

// An insteadBody names the request that was shown, and what to do in its place.
type insteadBody struct {
	webapi.AnswerBody
	Kind  string `json:"kind"            jsonschema:"the kind of action, such as archive"`
	Label string `json:"label,omitempty" jsonschema:"the id of the label, for a kind that has one"`
}

// instead rejects a request, and does another thing.
func (a approvalsAPI) instead(r *http.Request, in insteadBody) (v webapi.Answer, err error) {
	shown, err := shownRequest(r, in.RequestID, in.Digest)
	if err != nil {
		return v, err
	}
	err = a.app.RejectFor(r.Context(), shown, webapi.CallerOf(r).Name, in.Why, postroom.ActionType(in.Kind), in.Label)
	if err != nil {
		return v, err
	}
	return a.answered(r)
}

// renew asks again about what has expired.
func (a approvalsAPI) renew(r *http.Request, _ webapi.None) (v webapi.Answer, err error) {
	if err := a.app.RenewRequest(r.Context(), r.PathValue("id")); err != nil {
		return v, err
	}
	return a.answered(r)
}

// shownRequest returns the request about the action of the path, as the caller was shown it.
func shownRequest(r *http.Request, id, digest string) (safety.Approval, error) {
	if id == "" || digest == "" {
		return safety.Approval{}, webapi.WithStatus(http.StatusBadRequest, errors.New(needsShown))
	}
	return safety.Approval{ID: id, ActionID: r.PathValue("id"), Digest: digest}, nil
}

// answered returns what has become of the action of the path.
func (a approvalsAPI) answered(r *http.Request) (webapi.Answer, error) {
	action, err := a.app.Ledger.Action(r.Context(), r.PathValue("id"))
	return webapi.Answer{ID: action.ID, State: action.State}, err
}

// edit changes what is sent, and shows the request that waits then, for an answer.
func (a approvalsAPI) edit(r *http.Request, body editBody) (v wholeApproval, err error) {
	if body.RequestID == "" || body.Digest == "" || body.Subject == nil && body.Text == nil {
		return v, webapi.WithStatus(http.StatusBadRequest, errors.New(needsEdit))
	}
	shown := safety.Approval{ID: body.RequestID, ActionID: r.PathValue("id"), Digest: body.Digest}
	_, err = a.app.EditShown(r.Context(), shown, webapi.CallerOf(r).Name, outbox.Edit{Subject: body.Subject,
		Text: body.Text})
	for _, known := range []error{safety.ErrState, safety.ErrApprovalVoid, safety.ErrApprovalExpired,
		safety.ErrNotApprover} {
		if errors.Is(err, known) {
			return v, errors.Unwrap(err) // its status is that of an answer
		}
	}
	if err != nil {
		return v, err
	}
	return a.show(r, webapi.None{})
}
