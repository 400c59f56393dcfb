package api

import (
	"net/http"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/mailarchive"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
)

// An archiveAPI shows the archive of a mailbox, and has it copied and verified now.
type archiveAPI struct {
	app *app.App
	of  mailboxes
}

func (a archiveAPI) routes() []webapi.Route {
	const one = "/mailboxes/{mailbox}/archive"
	return []webapi.Route{
		webapi.Handle(webapi.Route{Method: http.MethodGet, Path: one, Scope: webapi.See, Account: a.of.byPath,
			Summary: "Show the archive of a mailbox: how much is copied, by months, the last copy, and what is wrong"},
			a.show),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: one + "/run", Scope: webapi.Own, Account: a.of.byPath,
			NoBody: true, Summary: "Copy what is new in a mailbox into its archive now"}, a.run),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: one + "/verify", Scope: webapi.Own, Account: a.of.byPath,
			NoBody: true, Summary: "Read copies of a mailbox now, a fiftieth or all, and note those that are not right"},
			a.verify),
	}
}

func (a archiveAPI) show(r *http.Request, _ webapi.None) (v mailarchive.View, err error) {
	account, err := a.of.ofPath(r)
	if err != nil {
		return v, err
	}
	return a.app.Archive.ViewOf(r.Context(), account)
}

func (a archiveAPI) run(r *http.Request, _ webapi.None) (started, error) {
	return mailboxesAPI(a).start(r, app.WorkArchive)
}

type archiveVerifyBody struct {
	All bool `json:"all,omitempty" jsonschema:"read all copies; otherwise those that were read longest ago"`
}

func (a archiveAPI) verify(r *http.Request, in archiveVerifyBody) (started, error) {
	work := app.WorkVerify
	if in.All {
		work = app.WorkVerifyEach
	}
	return mailboxesAPI(a).start(r, work)
}
