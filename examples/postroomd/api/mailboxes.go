package api

import (
	"context"
	"net/http"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/examples/postroomd/view/labels"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
	"github.com/postroom-go/postroom/rules"
)

// A mailboxesAPI shows mailboxes and labels, and starts work on them.
type mailboxesAPI struct {
	app *app.App
	of  mailboxes
}

func (a mailboxesAPI) routes() []webapi.Route {
	const one = "/mailboxes/{mailbox}"
	start := func(path, summary string, work app.Work) webapi.Route {
		return webapi.Handle(webapi.Route{Method: http.MethodPost, Path: one + path, Scope: webapi.Own, Account: a.of.byPath,
			NoBody: true, Summary: summary},
			func(r *http.Request, _ webapi.None) (started, error) { return a.start(r, work) })
	}
	return []webapi.Route{
		webapi.Handle(webapi.Route{Method: http.MethodGet, Path: "/mailboxes", Scope: webapi.See, Account: a.of.byQuery,
			Summary: "List the mailboxes: how far each is taken in, and what holds it"}, a.list),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: "/mailboxes", Scope: webapi.Own,
			Summary: "Sign in to a mailbox, and add it if it is new: returns where a browser on this machine asks the person"},
			a.signIn),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: one + "/pause", Scope: webapi.Own, Account: a.of.byPath,
			NoBody: true, Summary: "Stop the jobs of a mailbox until it is resumed"}, a.pause),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: one + "/resume", Scope: webapi.Own, Account: a.of.byPath,
			NoBody: true, Summary: "Let the jobs of a mailbox run again"}, a.resume),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: one + "/signout", Scope: webapi.Own, Account: a.of.byPath,
			NoBody: true, Takes: app.MaxSignOut,
			Summary: "Sign out: take back at Google what was granted, and stop the jobs until a sign-in"},
			a.signOut),
		webapi.Handle(webapi.Route{Method: http.MethodDelete, Path: one, Scope: webapi.Own, Account: a.of.byPath,
			Summary: "Remove a mailbox: what is stored of it here; what was done stays on record"}, a.remove),
		webapi.Handle(webapi.Route{Method: http.MethodGet, Path: one + "/look", Scope: webapi.See, Account: a.of.byPath,
			Summary: "Show what the newest mail of a mailbox is, and which rules would sort it"}, a.lastLook),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: one + "/look", Scope: webapi.Approve, Account: a.of.byPath,
			NoBody: true, Summary: "Look at the newest mail of a mailbox; nothing is applied"}, a.look),
		start("/sync", "Read what is new at Gmail now", app.WorkSync),
		start("/labels/sync", "Read the labels from Gmail now", app.WorkLabels),
		start("/reconcile", "Compare the stored mail with Gmail now", app.WorkReconcile),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: "/mail/{mailbox}/{id}/decide", Scope: webapi.Own,
			Account: a.of.byPath, NoBody: true,
			Summary: "Decide about a message again by the rules in use; what a person has changed since is left alone"}, a.decide),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: "/mail/{mailbox}/{id}/ask", Scope: webapi.Approve,
			Account: a.of.byPath, NoBody: true,
			Summary: "Ask the model about a message again; what it wants goes through the gate"}, a.ask),
		webapi.Handle(webapi.Route{Method: http.MethodGet, Path: one + "/labels", Scope: webapi.See, Account: a.of.byPath,
			Summary: "List the labels of a mailbox, as they were at the last sync"}, a.labels),
		webapi.Handle(webapi.Route{Method: http.MethodPatch, Path: one + "/labels/{label}", Scope: webapi.Own,
			Account: a.of.byPath, Summary: "Describe a label to a model, and say whether it may use the label"}, a.describe),
	}
}

type mailboxQuery struct {
	Mailbox string `jsonschema:"only this one, by its address" query:"mailbox"`
}

type mailboxList struct {
	Mailboxes []view.AccountStatus `json:"mailboxes"`
}

func (a mailboxesAPI) list(r *http.Request, in mailboxQuery) (v mailboxList, err error) {
	s, err := view.NewStatus(r.Context(), a.app)
	if err != nil {
		return v, err
	}
	v.Mailboxes = []view.AccountStatus{}
	for _, m := range s.Accounts {
		of := webapi.CallerOf(r).AccountID
		if (of == "" || of == m.ID) && (in.Mailbox == "" || in.Mailbox == m.Email) {
			v.Mailboxes = append(v.Mailboxes, m)
		}
	}
	return v, nil
}

// A mailbox is the state of a mailbox after a change.
type mailbox struct {
	Email string                 `json:"email"`
	State mailstore.AccountState `json:"state"`
}

type pauseBody struct {
	Why string `json:"why,omitempty"`
}

func (a mailboxesAPI) pause(r *http.Request, in pauseBody) (mailbox, error) {
	return a.change(r, func(ctx context.Context, id, by string) error {
		return a.app.PauseMailbox(ctx, id, by, in.Why)
	})
}

func (a mailboxesAPI) resume(r *http.Request, _ webapi.None) (mailbox, error) {
	return a.change(r, a.app.ResumeMailbox)
}

func (a mailboxesAPI) change(r *http.Request, change func(ctx context.Context, accountID, by string) error) (
	v mailbox, err error) {
	account, err := a.of.ofPath(r)
	if err != nil {
		return v, err
	}
	if err := change(r.Context(), account.ID, webapi.CallerOf(r).Name); err != nil {
		return v, err
	}
	account, err = a.app.Mail.Account(r.Context(), account.ID)
	return mailbox{account.Email, account.State}, err
}

type signInBody struct {
	Email string `json:"email" jsonschema:"the address of the mailbox"`
}

// A signingIn is a mailbox whose person is asked.
type signingIn struct {
	Email string `json:"email"`
	// Address is that of Google's page, which waits for five minutes.
	Address string `json:"address" jsonschema:"of Google's page, for a browser on this machine"`
}

func (a mailboxesAPI) signIn(r *http.Request, in signInBody) (v signingIn, err error) {
	v.Email = in.Email
	v.Address, err = a.app.BeginSignIn(r.Context(), in.Email, webapi.CallerOf(r).Name)
	return v, err
}

// A removedMailbox is a mailbox that is not here any more.
type removedMailbox struct {
	Email string `json:"email"`
}

func (a mailboxesAPI) remove(r *http.Request, _ webapi.None) (v removedMailbox, err error) {
	account, err := a.of.ofPath(r)
	if err == nil {
		err = a.app.RemoveAccount(r.Context(), account.ID, webapi.CallerOf(r).Name)
	}
	return removedMailbox{account.Email}, err
}

type signOutBody struct {
	// Anyway forgets the grant here even if Google does not take it back.
	Anyway bool `json:"anyway,omitempty" jsonschema:"forget it here even if Google does not take it back"`
}

// A signedOut is a mailbox that nobody is signed in to any more.
type signedOut struct {
	mailbox

	// Revoked reports whether Google has taken back what was granted.
	Revoked bool `json:"revoked"`
}

func (a mailboxesAPI) signOut(r *http.Request, in signOutBody) (v signedOut, err error) {
	account, err := a.of.ofPath(r)
	if err != nil {
		return v, err
	}
	v.Revoked, err = a.app.SignOutMailbox(r.Context(), account.Email, webapi.CallerOf(r).Name, in.Anyway)
	if err != nil {
		return v, err
	}
	account, err = a.app.Mail.Account(r.Context(), account.ID)
	v.mailbox = mailbox{account.Email, account.State}
	return v, err
}

// A started is a job that will run.
type started struct {
	JobID string `json:"job_id"`
	// Already reports that the job was there before: it has not ended, and no other was enqueued.
	Already bool `json:"already"`
}

func (a mailboxesAPI) start(r *http.Request, work app.Work) (v started, err error) {
	account, err := a.of.ofPath(r)
	if err != nil {
		return v, err
	}
	result, err := a.app.StartWork(r.Context(), account.ID, work, webapi.CallerOf(r).Name)
	return started{result.ID, result.Duplicate}, err
}

// A decided is what the rules in use have made of a message.
type decided struct {
	Batch     string         `json:"batch"` // its name, to take it back
	Matched   bool           `json:"matched"`
	Actions   map[string]int `json:"actions"`
	AlreadySo int            `json:"already_so"`
	LeftAlone int            `json:"left_alone"`
	Waiting   int            `json:"waiting"`
}

func (a mailboxesAPI) decide(r *http.Request, _ webapi.None) (v decided, err error) {
	m, err := mailAPI(a).message(r)
	if err != nil {
		return v, err
	}
	one := func(yield func(*postroom.Message, error) bool) { yield(m, nil) }
	done, err := rules.Apply(r.Context(), rules.ApplyConfig{Engine: a.app.Engine, Messages: one, Labels: a.app.Mail,
		Ledger: a.app.Ledger, People: a.app.Undoer, DryRun: a.app.Env.Config.Safety.DryRun})
	return decided{done.Batch, done.Matched > 0, done.Actions, done.AlreadySo, done.LeftAlone, done.Waiting}, err
}

func (a mailboxesAPI) ask(r *http.Request, _ webapi.None) (v webapi.None, err error) {
	m, err := mailAPI(a).message(r)
	if err != nil {
		return v, err
	}
	return v, a.app.DecideAgain(r.Context(), m, webapi.CallerOf(r).Name)
}

func (a mailboxesAPI) labels(r *http.Request, _ webapi.None) (v labels.LabelList, err error) {
	account, err := a.of.ofPath(r)
	if err != nil {
		return v, err
	}
	return labels.Of(r.Context(), a.app, account.ID)
}

type describeBody struct {
	Description *string `json:"description"`
	ForModels   *bool   `json:"for_models"`
}

func (a mailboxesAPI) describe(r *http.Request, in describeBody) (v labels.Label, err error) {
	account, err := a.of.ofPath(r)
	if err != nil {
		return v, err
	}
	l, err := a.app.DescribeLabel(r.Context(), account.ID, r.PathValue("label"),
		app.LabelPatch{Description: in.Description, ForModels: in.ForModels}, webapi.CallerOf(r).Name)
	return labels.New(l), err
}
