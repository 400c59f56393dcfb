package api

import (
	"errors"
	"net/http"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/enrichment"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
	"github.com/postroom-go/postroom/llm/enrich"
)

// A meaningAPI says what mail means, and takes what a person says about that.
type meaningAPI struct {
	app *app.App
	of  mailboxes
}

func (a meaningAPI) routes() []webapi.Route {
	const one = "/mail/{mailbox}/{id}/meaning"
	return []webapi.Route{
		webapi.Handle(webapi.Route{Method: http.MethodGet, Path: "/meaning", Scope: webapi.See, Account: a.of.byQuery,
			Summary: "List what is known of the mail of a mailbox, newest first, 50 a page"}, a.list),
		webapi.Handle(webapi.Route{Method: http.MethodGet, Path: "/meaning/events", Scope: webapi.See, Account: a.of.byQuery,
			Summary: "List the appointments to come that the mail of a mailbox names, and which collide"}, a.events),
		webapi.Handle(webapi.Route{Method: http.MethodGet, Path: one, Scope: webapi.See, Account: a.of.byPath,
			Summary: "Show what a message means, by whom and why"}, a.show),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: one, Scope: webapi.Approve, Account: a.of.byPath,
			Summary: "Say whether what was found is right, or what it is instead"}, a.answer),
	}
}

type meaningQuery struct {
	Mailbox  string `jsonschema:"address of the mailbox; may be left out where there is one" query:"mailbox"`
	Unsure   bool   `jsonschema:"only what is unsure, and a person may answer"               query:"unsure"`
	ToDo     bool   `jsonschema:"only mail that asks its reader to do something"             query:"action_items"`
	Events   bool   `jsonschema:"only mail that names an appointment"                        query:"events"`
	Category string `jsonschema:"only mail of the category"                                  query:"category"`
	Priority string `jsonschema:"only mail of the level of importance"                       query:"priority"`
	State    string `jsonschema:"only mail whose enrichment has the state"                   query:"state"`
	Before   string `jsonschema:"next of the page before"                                    query:"before"`
}

func (a meaningAPI) list(r *http.Request, in meaningQuery) (v enrichment.Page, err error) {
	account, err := a.of.one(r, in.Mailbox)
	if err != nil {
		return v, err
	}
	store, err := enrich.NewStore(a.app.DB)
	if err != nil {
		return v, err
	}
	f := enrich.Filter{AccountID: account.ID, Unsure: in.Unsure, HasActionItems: in.ToDo, HasEvent: in.Events,
		Category: in.Category, Level: in.Priority, Limit: onPage}
	if in.State != "" {
		f.States = []enrich.State{enrich.State(in.State)}
	}
	return enrichment.List(r.Context(), store, a.app.Mail, f, in.Before)
}

type appointmentsQuery struct {
	Mailbox string `jsonschema:"address of the mailbox; may be left out where there is one" query:"mailbox"`
}

func (a meaningAPI) events(r *http.Request, in appointmentsQuery) (v enrichment.Appointments, err error) {
	account, err := a.of.one(r, in.Mailbox)
	if err != nil {
		return v, err
	}
	store, err := enrich.NewStore(a.app.DB)
	if err != nil {
		return v, err
	}
	return enrichment.Upcoming(r.Context(), store, a.app.Mail, account.ID, time.Now(), a.app.OwnZone())
}

func (a meaningAPI) show(r *http.Request, _ webapi.None) (v enrichment.View, err error) {
	m, err := mailAPI(a).message(r)
	if err != nil {
		return v, err
	}
	return a.known(r, m)
}

// known returns what is known of a message, or 404.
func (a meaningAPI) known(r *http.Request, m *postroom.Message) (v enrichment.View, err error) {
	store, err := enrich.NewStore(a.app.DB)
	if err != nil {
		return v, err
	}
	found, err := enrichment.Of(r.Context(), store, m)
	switch {
	case err != nil:
		return v, err
	case found == nil:
		return v, notFound(usage.Errorf("nothing is known of message %s", m.ProviderID))
	}
	err = errors.Join(found.AddConflicts(r.Context(), store, a.app.Mail, m, time.Now(), a.app.OwnZone()),
		found.AddNotes(r.Context(), a.app.Ledger, a.app.Notes, m))
	return *found, err
}

type meaningWord struct {
	Stage   string `json:"stage"            jsonschema:"category, importance or calendar"`
	Approve bool   `json:"approve,omitzero" jsonschema:"it is right"`
	Value   string `json:"value,omitempty"  jsonschema:"what it is instead: a category, or a level"`
	Reject  bool   `json:"reject,omitzero"  jsonschema:"it is wrong; the model is asked once more"`
	Why     string `json:"why,omitempty"    jsonschema:"why it is rejected, for the model"`
}

func (a meaningAPI) answer(r *http.Request, in meaningWord) (v enrichment.View, err error) {
	m, err := mailAPI(a).message(r)
	if err != nil {
		return v, err
	}
	said := 0
	for _, is := range []bool{in.Approve, in.Value != "", in.Reject} {
		if is {
			said++
		}
	}
	if said != 1 {
		return v, usage.Errorf("give one of approve, value and reject")
	}
	word := enrich.Word{Stage: enrich.Stage(in.Stage), Approve: in.Approve, Value: in.Value, Why: in.Why,
		By: webapi.CallerOf(r).Name}
	if err := a.app.AnswerMeaning(r.Context(), m, word); err != nil {
		return v, err
	}
	return a.known(r, m)
}
