package api

import (
	"context"
	"net/http"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
)

// A mailboxesAPI shows mailboxes and labels, and starts work on them.
type mailboxesAPI struct {
	app *app.App
	of  mailboxes
}

func (a mailboxesAPI) routes() []webapi.Route {
	const one = "/mailboxes/{mailbox}"
	start := func(path, summary string, job func(accountID string) queue.NewJob) webapi.Route {
		return webapi.Handle(webapi.Route{Method: http.MethodPost, Path: one + path, Scope: webapi.Own, Account: a.of.byPath,
			NoBody: true, Summary: summary},
			func(r *http.Request, _ webapi.None) (started, error) { return a.start(r, job) })
	}
	return []webapi.Route{
		webapi.Handle(webapi.Route{Method: http.MethodGet, Path: "/mailboxes", Scope: webapi.See, Account: a.of.byQuery,
			Summary: "List the mailboxes: how far each is taken in, and what holds it"}, a.list),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: one + "/pause", Scope: webapi.Own, Account: a.of.byPath,
			NoBody: true, Summary: "Stop the jobs of a mailbox until it is resumed"}, a.pause),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: one + "/resume", Scope: webapi.Own, Account: a.of.byPath,
			NoBody: true, Summary: "Let the jobs of a mailbox run again"}, a.resume),
		start("/sync", "Read what is new at Gmail now",
			func(id string) queue.NewJob { return gmail.NewHistorySyncJob(id, 0) }),
		start("/labels/sync", "Read the labels from Gmail now",
			func(id string) queue.NewJob { return gmail.NewLabelsSyncJob(id) }),
		start("/reconcile", "Compare the stored mail with Gmail now", gmail.NewReconcileJob),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: "/mail/{mailbox}/{id}/decide", Scope: webapi.Own,
			Account: a.of.byPath, NoBody: true,
			Summary: "Decide about a message again by the rules in use; what a person has changed since is left alone"}, a.decide),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: "/mail/{mailbox}/{id}/ask", Scope: webapi.Own,
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
	return a.change(r, func(ctx context.Context, tx queue.Tx, id string) error {
		return a.app.Mail.Pause(ctx, tx, a.app.Queue, id, in.Why)
	})
}

func (a mailboxesAPI) resume(r *http.Request, _ webapi.None) (mailbox, error) {
	return a.change(r, func(ctx context.Context, tx queue.Tx, id string) error {
		return a.app.Mail.Resume(ctx, tx, a.app.Queue, id)
	})
}

func (a mailboxesAPI) change(r *http.Request, change func(context.Context, queue.Tx, string) error) (v mailbox,
	err error) {
	account, err := a.of.ofPath(r)
	if err != nil {
		return v, err
	}
	err = a.app.DB.Write(r.Context(), func(ctx context.Context, tx queue.Tx) error { return change(ctx, tx, account.ID) })
	if err != nil {
		return v, err
	}
	account, err = a.app.Mail.Account(r.Context(), account.ID)
	return mailbox{account.Email, account.State}, err
}

// A started is a job that will run.
type started struct {
	JobID string `json:"job_id"`
	// Already reports that the job was there before: it has not ended, and no other was enqueued.
	Already bool `json:"already"`
}

func (a mailboxesAPI) start(r *http.Request, job func(accountID string) queue.NewJob) (v started, err error) {
	account, err := a.of.ofPath(r)
	if err != nil {
		return v, err
	}
	result, err := a.app.Queue.Enqueue(r.Context(), job(account.ID))
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
	return v, a.app.DecideAgain(r.Context(), m)
}

// A label is a label of a mailbox.
type label struct {
	ID          string             `json:"id"`
	Name        string             `json:"name"`
	Type        postroom.LabelType `json:"type"`
	Description string             `json:"description"` // for a model
	ForModels   bool               `json:"for_models"`  // a model may use it
}

func newLabel(l postroom.Label) label {
	return label{l.ID, l.Name, l.Type, l.Description, l.AvailableToClassifier}
}

type labelList struct {
	Labels []label `json:"labels"`
}

func (a mailboxesAPI) labels(r *http.Request, _ webapi.None) (v labelList, err error) {
	account, err := a.of.ofPath(r)
	if err != nil {
		return v, err
	}
	all, err := a.app.Mail.Labels(r.Context(), account.ID)
	v.Labels = []label{}
	for _, l := range all {
		v.Labels = append(v.Labels, newLabel(l))
	}
	return v, err
}

type describeBody struct {
	Description *string `json:"description"`
	ForModels   *bool   `json:"for_models"`
}

func (a mailboxesAPI) describe(r *http.Request, in describeBody) (v label, err error) {
	list, err := a.labels(r, webapi.None{})
	if err != nil {
		return v, err
	}
	account, err := a.of.ofPath(r)
	if err != nil {
		return v, err
	}
	for _, v = range list.Labels {
		if v.ID != r.PathValue("label") {
			continue
		}
		if in.Description != nil {
			v.Description = *in.Description
		}
		if in.ForModels != nil {
			v.ForModels = *in.ForModels
		}
		return v, a.app.DB.Write(r.Context(), func(ctx context.Context, tx queue.Tx) error {
			return a.app.Mail.DescribeLabel(ctx, tx, account.ID, v.ID, v.Description, v.ForModels)
		})
	}
	return label{}, postroom.ErrNotFound
}
