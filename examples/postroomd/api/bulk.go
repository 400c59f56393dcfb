package api

import (
	"net/http"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/bulk"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
)

// A bulkAPI does one thing to all mail that a search finds.
type bulkAPI struct {
	app *app.App
	of  mailboxes
}

func (a bulkAPI) routes() []webapi.Route { //nolint:dupl // a table of other routes
	return []webapi.Route{
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: "/mail/act/preview", Scope: webapi.See,
			Account: a.of.byBody, Summary: "Say what doing one thing to all mail that a search finds would do"}, a.preview),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: "/mail/act", Scope: webapi.Approve, Account: a.of.byBody,
			Summary: "Do what a preview has shown, if it still is that, as one batch that can be taken back"}, a.act),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: "/mail/ask/preview", Scope: webapi.See,
			Account: a.of.byBody, Summary: "Say about which mail that a search finds the model would be asked again"},
			a.previewAsking),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: "/mail/ask", Scope: webapi.Approve, Account: a.of.byBody,
			Summary: "Ask the model again about what a preview has shown; what it wants goes through the gate"}, a.ask),
	}
}

// A bulkQuery is what is to be done, and to which mail.
type bulkQuery struct {
	Mailbox string `json:"mailbox,omitempty" jsonschema:"address of the mailbox; may be left out where there is one"`
	Query   string `json:"q"                 jsonschema:"as in Gmail's search box; not empty"`
	Spam    bool   `json:"spam,omitempty"    jsonschema:"also search spam and trash"`
	Kind    string `json:"kind"              jsonschema:"the kind of action, such as archive"`
	Label   string `json:"label,omitempty"   jsonschema:"the name of the label, for a kind that has one"`
	Again   bool   `json:"again,omitempty"   jsonschema:"also do it to what was changed by hand since, or undone"`
}

func (a bulkAPI) request(r *http.Request, q bulkQuery) (bulk.Request, error) {
	account, err := a.of.one(r, q.Mailbox)
	return bulk.Request{Account: account, Query: q.Query, Spam: q.Spam, Kind: postroom.ActionType(q.Kind), Label: q.Label,
		Again: q.Again, By: webapi.CallerOf(r).Name}, err
}

// A bulkPreview is what would be done.
type bulkPreview struct{ *bulk.Preview }

func (a bulkAPI) preview(r *http.Request, in bulkQuery) (v bulkPreview, err error) {
	request, err := a.request(r, in)
	if err != nil {
		return v, err
	}
	v.Preview, err = bulk.Plan(r.Context(), a.app, request)
	return v, err
}

type bulkBody struct {
	bulkQuery
	Digest string `json:"digest" jsonschema:"that of the preview"`
}

// A bulkDone is what will be carried out, as one batch.
type bulkDone struct{ bulk.Done }

func (a bulkAPI) act(r *http.Request, in bulkBody) (v bulkDone, err error) {
	if in.Digest == "" {
		return v, usage.Errorf("give digest as mail/act/preview has answered it")
	}
	request, err := a.request(r, in.bulkQuery)
	if err != nil {
		return v, err
	}
	v.Done, err = bulk.Act(r.Context(), a.app, request, in.Digest, func(int, int) {})
	return v, err
}

// An askQuery is the mail that the model is to be asked about again.
type askQuery struct {
	Mailbox string `json:"mailbox,omitempty" jsonschema:"address of the mailbox; may be left out where there is one"`
	Query   string `json:"q"                 jsonschema:"as in Gmail's search box; not empty"`
	Spam    bool   `json:"spam,omitempty"    jsonschema:"also search spam and trash"`
}

func (q askQuery) bulk() bulkQuery {
	return bulkQuery{Mailbox: q.Mailbox, Query: q.Query, Spam: q.Spam}
}

func (a bulkAPI) previewAsking(r *http.Request, in askQuery) (v bulkPreview, err error) {
	request, err := a.request(r, in.bulk())
	if err != nil {
		return v, err
	}
	v.Preview, err = bulk.PlanAsking(r.Context(), a.app, request)
	return v, err
}

type askBody struct {
	askQuery
	Digest string `json:"digest" jsonschema:"that of the preview"`
}

func (a bulkAPI) ask(r *http.Request, in askBody) (v bulk.Asked, err error) {
	if in.Digest == "" {
		return v, usage.Errorf("give digest as mail/ask/preview has answered it")
	}
	request, err := a.request(r, in.bulk())
	if err != nil {
		return v, err
	}
	return bulk.Ask(r.Context(), a.app, request, in.Digest)
}
