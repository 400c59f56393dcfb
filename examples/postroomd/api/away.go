package api

import (
	"net/http"

	"github.com/postroom-go/postroom/examples/postroomd/absence"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/gmail/away"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
)

// An awayAPI answers mail while people are away.
type awayAPI struct {
	app *app.App
	of  mailboxes
}

func (a awayAPI) routes() []webapi.Route {
	const one = "/mailboxes/{mailbox}/away"
	return []webapi.Route{
		webapi.Handle(webapi.Route{Method: http.MethodGet, Path: one, Scope: webapi.See, Account: a.of.byPath,
			Summary: "Show whether mail of a mailbox is answered automatically, until when, and how many were answered"}, a.show),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: one + "/preview", Scope: webapi.Own, Account: a.of.byPath,
			Summary: "Show whom it would have answered in the last 14 days; nothing is switched on"}, a.preview),
		webapi.Handle(webapi.Route{Method: http.MethodPut, Path: one, Scope: webapi.Own, Account: a.of.byPath,
			Summary: "Answer mail of a mailbox automatically, once for each sender, until a date"}, a.set),
		webapi.Handle(webapi.Route{Method: http.MethodDelete, Path: one, Scope: webapi.Approve, Account: a.of.byPath,
			NoBody: true, Summary: "Answer no more, before the date"}, a.end),
	}
}

func (a awayAPI) show(r *http.Request, _ webapi.None) (s absence.Status, err error) {
	account, err := a.of.ofPath(r)
	if err != nil {
		return s, err
	}
	return absence.Of(r.Context(), a.app, account)
}

// read reads an absence for the mailbox of the path.
func (a awayAPI) read(r *http.Request, in absence.Wanted) (account mailstore.Account, wanted away.Absence, err error) {
	if account, err = a.of.ofPath(r); err != nil {
		return account, wanted, err
	}
	wanted, err = absence.Read(a.app, account, in, webapi.CallerOf(r).Name)
	return account, wanted, err
}

func (a awayAPI) preview(r *http.Request, in absence.Wanted) (v absence.Preview, err error) {
	_, wanted, err := a.read(r, in)
	if err != nil {
		return v, err
	}
	return absence.NewPreview(r.Context(), a.app, wanted)
}

func (a awayAPI) set(r *http.Request, in absence.Wanted) (s absence.Status, err error) {
	account, wanted, err := a.read(r, in)
	if err != nil {
		return s, err
	}
	return absence.Set(r.Context(), a.app, account, wanted)
}

func (a awayAPI) end(r *http.Request, _ webapi.None) (s absence.Status, err error) {
	account, err := a.of.ofPath(r)
	if err != nil {
		return s, err
	}
	if _, err := absence.End(r.Context(), a.app, account.ID, webapi.CallerOf(r).Name); err != nil {
		return s, err
	}
	return absence.Of(r.Context(), a.app, account)
}
