package api

import (
	"cmp"
	"fmt"
	"net/http"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/view/calls"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
	"github.com/postroom-go/postroom/llm"
)

// A modelCallsAPI lists the calls of models.
type modelCallsAPI struct {
	app *app.App
	of  mailboxes
}

func (a modelCallsAPI) routes() []webapi.Route {
	return []webapi.Route{
		webapi.Handle(webapi.Route{Method: http.MethodGet, Path: "/models/calls", Scope: webapi.See, Account: a.of.byQuery,
			Summary: "List the calls of models and the answers that were given again, newest first, 50 a page"}, a.list),
		webapi.Handle(webapi.Route{Method: http.MethodGet, Path: "/models/calls/{id}", Scope: webapi.See, Account: a.byCall,
			Summary: "Show a call of a model with its answer, or from which call an answer was reused and why"}, a.show),
	}
}

type modelCallQuery struct {
	Mailbox string `jsonschema:"the address of a mailbox; all, if left out" query:"mailbox"`
	Model   string `jsonschema:"provider::model; all, if left out"          query:"model"`
	Before  string `jsonschema:"next of the page before"                    query:"before"`
}

func (a modelCallsAPI) list(r *http.Request, in modelCallQuery) (v calls.Page, err error) {
	account, err := a.of.byQuery(r)
	if err != nil {
		return v, err
	}
	return calls.NewPage(r.Context(), a.app, llm.CallFilter{AccountID: cmp.Or(webapi.CallerOf(r).AccountID, account),
		Model: in.Model, Before: in.Before})
}

func (a modelCallsAPI) byCall(r *http.Request) (string, error) {
	c, err := a.app.Models.Records.Call(r.Context(), r.PathValue("id"))
	return c.AccountID, err
}

// show shows a call. One that is of no mailbox is for those who see all.
func (a modelCallsAPI) show(r *http.Request, _ webapi.None) (none calls.Call, err error) {
	account, err := a.byCall(r)
	if err != nil {
		return none, err
	}
	if own := webapi.CallerOf(r).AccountID; own != "" && own != account {
		return none, fmt.Errorf("call %q: %w", r.PathValue("id"), postroom.ErrNotFound)
	}
	return calls.New(r.Context(), a.app, r.PathValue("id"))
}
