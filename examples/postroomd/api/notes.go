package api

import (
	"cmp"
	"net/http"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/notes"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
)

// A notesAPI lists the notes that were written about mail.
type notesAPI struct {
	app *app.App
	of  mailboxes
}

func (a notesAPI) routes() []webapi.Route {
	return []webapi.Route{
		webapi.Handle(webapi.Route{Method: http.MethodGet, Path: "/notes", Scope: webapi.See, Account: a.of.byQuery,
			Summary: "List the notes about mail, the latest first, 50 a page"}, a.list),
		webapi.Handle(webapi.Route{Method: http.MethodGet, Path: "/notes/{id}", Scope: webapi.See, Account: a.byNote,
			Summary: "Show a note"}, a.show),
	}
}

type noteQuery struct {
	Mailbox string `jsonschema:"the address of a mailbox; all, if left out"     query:"mailbox"`
	Message string `jsonschema:"the id of a message; those of all, if left out" query:"message"`
	Before  string `jsonschema:"next of the page before"                        query:"before"`
}

func (a notesAPI) list(r *http.Request, in noteQuery) (v view.Notes, err error) {
	account, err := a.of.byQuery(r)
	if err != nil {
		return v, err
	}
	account = cmp.Or(webapi.CallerOf(r).AccountID, account)
	return view.NewNotes(r.Context(), a.app,
		notes.Filter{AccountID: account, MessageID: in.Message, Before: in.Before, Limit: onPage})
}

func (a notesAPI) show(r *http.Request, _ webapi.None) (view.Note, error) {
	v, err := view.NewNote(r.Context(), a.app, r.PathValue("id"))
	return v, noTask(err)
}

// byNote returns the account of the note of the path.
func (a notesAPI) byNote(r *http.Request) (string, error) {
	note, err := a.app.Notes.Note(r.Context(), r.PathValue("id"))
	return note.AccountID, noTask(err)
}
