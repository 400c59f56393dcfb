package api

import (
	"cmp"
	"context"
	"errors"
	"net/http"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
	"github.com/postroom-go/postroom/gmail/tasks"
)

// A tasksAPI lists what is to be done about mail, and closes it.
type tasksAPI struct {
	app *app.App
	of  mailboxes
}

func (a tasksAPI) routes() []webapi.Route {
	return []webapi.Route{
		webapi.Handle(webapi.Route{Method: http.MethodGet, Path: "/tasks", Scope: webapi.See, Account: a.of.byQuery,
			Summary: "List the open tasks, the latest first, 50 a page"}, a.list),
		webapi.Handle(webapi.Route{Method: http.MethodGet, Path: "/tasks/{id}", Scope: webapi.See, Account: a.byTask,
			Summary: "Show a task"}, a.show),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: "/tasks/{id}/close", Scope: webapi.Approve,
			Account: a.byTask, NoBody: true, Summary: "Say that a task is done"}, a.close),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: "/tasks/{id}/reopen", Scope: webapi.Approve,
			Account: a.byTask, NoBody: true, Summary: "Say that a task is not done yet"}, a.reopen),
	}
}

type taskQuery struct {
	Mailbox string `jsonschema:"the address of a mailbox; all, if left out" query:"mailbox"`
	All     bool   `jsonschema:"also those that are closed"                 query:"all"`
	Before  string `jsonschema:"next of the page before"                    query:"before"`
}

func (a tasksAPI) list(r *http.Request, in taskQuery) (v view.Tasks, err error) {
	account, err := a.of.byQuery(r)
	if err != nil {
		return v, err
	}
	account = cmp.Or(webapi.CallerOf(r).AccountID, account)
	return view.NewTasks(r.Context(), a.app,
		tasks.Filter{AccountID: account, OpenOnly: !in.All, Before: in.Before, Limit: onPage})
}

func (a tasksAPI) show(r *http.Request, _ webapi.None) (view.Task, error) {
	v, err := view.NewTask(r.Context(), a.app, r.PathValue("id"))
	return v, noTask(err)
}

func (a tasksAPI) close(r *http.Request, _ webapi.None) (view.Task, error) {
	return a.change(r, func(ctx context.Context, id string) error {
		_, err := a.app.Tasks.Close(ctx, id, webapi.CallerOf(r).Name)
		return err
	})
}

func (a tasksAPI) reopen(r *http.Request, _ webapi.None) (view.Task, error) {
	return a.change(r, func(ctx context.Context, id string) error {
		_, err := a.app.Tasks.Reopen(ctx, id)
		return err
	})
}

func (a tasksAPI) change(r *http.Request, change func(context.Context, string) error) (v view.Task, err error) {
	if err := change(r.Context(), r.PathValue("id")); err != nil {
		return v, noTask(err)
	}
	return a.show(r, webapi.None{})
}

// byTask returns the account of the task of the path.
func (a tasksAPI) byTask(r *http.Request) (string, error) {
	task, err := a.app.Tasks.Task(r.Context(), r.PathValue("id"))
	return task.AccountID, noTask(err)
}

func noTask(err error) error {
	if errors.Is(err, postroom.ErrNotFound) {
		return webapi.WithStatus(http.StatusNotFound, err)
	}
	return err
}
