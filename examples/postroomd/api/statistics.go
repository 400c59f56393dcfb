package api

import (
	"cmp"
	"net/http"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/statistics"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
)

// A statisticsAPI shows what was counted.
type statisticsAPI struct {
	app *app.App
	of  mailboxes
}

func (a statisticsAPI) routes() []webapi.Route {
	return []webapi.Route{
		webapi.Handle(webapi.Route{Method: http.MethodGet, Path: "/statistics", Scope: webapi.See, Account: a.of.byQuery,
			Summary: "Show what was counted: mail by sender and category, what people did, accuracy and times"}, a.show),
	}
}

type statisticsQuery struct {
	Mailbox string `jsonschema:"the address of a mailbox; all, if left out"                              query:"mailbox"`
	From    string `jsonschema:"the first day in UTC, such as 2026-01-01; the first of all, if left out" query:"from"`
	To      string `jsonschema:"the last day; today, if left out"                                        query:"to"`
	Senders int    `jsonschema:"how many senders, 1 to 1000; 20, if left out"                            query:"senders"`
}

// defaultSenders is how many senders are shown if nobody says.
const defaultSenders = 20

func (a statisticsAPI) show(r *http.Request, in statisticsQuery) (v statistics.View, err error) {
	account, err := a.of.byQuery(r)
	if err != nil {
		return v, err
	}
	return statistics.Read(r.Context(), a.app, statistics.Request{From: in.From, To: in.To,
		Senders: cmp.Or(in.Senders, defaultSenders), AccountID: cmp.Or(webapi.CallerOf(r).AccountID, account)})
}
