package api

import (
	"net/http"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/enrichment"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/mailindex"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
)

// onPage is the number of things on a page.
const onPage = 50

// maxSearch bounds a search, in bytes.
const maxSearch = 1000

// A mailAPI searches the stored mail, and says why a message is where it is.
type mailAPI struct {
	app *app.App
	of  mailboxes
}

func (a mailAPI) routes() []webapi.Route {
	const one = "/mail/{mailbox}/{id}"
	return []webapi.Route{
		webapi.Handle(webapi.Route{Method: http.MethodGet, Path: "/mail", Scope: webapi.See, Account: a.of.byQuery,
			Summary: "Search the stored mail of a mailbox, newest first, 50 a page"}, a.search),
		webapi.Handle(webapi.Route{Method: http.MethodGet, Path: one, Scope: webapi.See, Account: a.of.byPath,
			Summary: "Show a message as text, with its header"}, a.show),
		webapi.Handle(webapi.Route{Method: http.MethodGet, Path: one + "/history", Scope: webapi.See, Account: a.of.byPath,
			Summary: "List what happened to a message, oldest first"}, a.history),
		webapi.Handle(webapi.Route{Method: http.MethodGet, Path: one + "/explanation", Scope: webapi.See,
			Account: a.of.byPath, Summary: "Explain why something was done with a message, and what the rules would do now"}, a.explain),
	}
}

type mailQuery struct {
	Mailbox string `jsonschema:"address of the mailbox; may be left out where there is one"       query:"mailbox"`
	Query   string `jsonschema:"as in Gmail's search box, such as from:ada@example.org is:unread" query:"q"`
	Cursor  string `jsonschema:"next of the page before"                                          query:"cursor"`
	Spam    bool   `jsonschema:"also search spam and trash"                                       query:"spam"`

	Topic    string `jsonschema:"only mail of the category, as it is known to mean"          query:"topic"`
	Priority string `jsonschema:"only mail of the level of importance, as it is known to be" query:"priority"`
}

func (a mailAPI) search(r *http.Request, in mailQuery) (v view.MailPage, err error) {
	if len(in.Query) > maxSearch {
		return v, usage.Errorf("q is too long: it has at most %d bytes", maxSearch)
	}
	account, err := a.of.one(r, in.Mailbox)
	if err != nil {
		return v, err
	}
	found, err := a.app.SearchMail(r.Context(), account.ID, mailindex.Search{Query: in.Query, SpamAndTrash: in.Spam,
		Limit: onPage, Cursor: in.Cursor, Also: enrichment.Meant(in.Topic, in.Priority)})
	if err != nil {
		return v, err
	}
	names, err := a.app.LabelNames(r.Context())
	if err != nil {
		return v, err
	}
	return view.NewFoundMail(r.Context(), a.app, found, names)
}

// A mailWithHeader is a message with its header.
type mailWithHeader struct {
	view.WholeMail
	Mailbox string            `json:"mailbox"`
	Header  []postroom.Header `json:"header"`
}

func (a mailAPI) show(r *http.Request, _ webapi.None) (v mailWithHeader, err error) {
	m, err := a.message(r)
	if err != nil {
		return v, err
	}
	names, err := a.app.LabelNames(r.Context())
	return mailWithHeader{view.NewWholeMail(m, nil, names), r.PathValue("mailbox"), m.Headers}, err
}

type history struct {
	Events []view.Event `json:"events"`
}

func (a mailAPI) history(r *http.Request, _ webapi.None) (v history, err error) {
	m, err := a.message(r)
	if err == nil {
		v.Events, err = view.NewHistory(r.Context(), a.app, m)
	}
	return v, err
}

func (a mailAPI) explain(r *http.Request, _ webapi.None) (*view.Explanation, error) {
	m, err := a.message(r)
	if err != nil {
		return nil, err
	}
	return view.NewExplanation(r.Context(), a.app, m)
}

// message returns the message of the path, by its id at Gmail or ours.
func (a mailAPI) message(r *http.Request) (*postroom.Message, error) {
	account, err := a.of.ofPath(r)
	if err != nil {
		return nil, err
	}
	m, err := a.app.FindMessage(r.Context(), account, r.PathValue("id"))
	return m, notFound(err)
}
