package api

import (
	"net/http"
	"slices"
	"time"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
)

// A ruleActivityAPI says what rules have done lately; package webapi lists and changes them.
type ruleActivityAPI struct {
	app *app.App
	of  mailboxes
}

func (a ruleActivityAPI) routes() []webapi.Route {
	return []webapi.Route{webapi.Handle(webapi.Route{Method: http.MethodGet, Path: "/rules/activity", Scope: webapi.See,
		Account: a.of.byQuery, Summary: "Count the hits and undos of each rule within 30 days"}, a.list)}
}

// A ruleActivity is what a rule has done within 30 days.
type ruleActivity struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Hits   int    `json:"hits"`   // its decisions
	Undone int    `json:"undone"` // of its actions
}

type ruleActivityList struct {
	Rules []ruleActivity `json:"rules"`
}

func (a ruleActivityAPI) list(r *http.Request, _ mailboxQuery) (v ruleActivityList, err error) {
	counted, err := a.app.Mail.Accounts(r.Context())
	if err != nil {
		return v, err
	}
	of, err := a.of.byQuery(r)
	if err != nil {
		return v, err
	}
	if caller := webapi.CallerOf(r).AccountID; caller != "" {
		of = caller
	}
	if of != "" {
		counted = slices.DeleteFunc(counted, func(m mailstore.Account) bool { return m.ID != of })
	}
	listed, err := view.NewRules(r.Context(), a.app, of, counted, time.Now())
	v.Rules = []ruleActivity{}
	for _, rule := range listed {
		v.Rules = append(v.Rules, ruleActivity{rule.ID, rule.Name, rule.Hits, rule.Undone})
	}
	return v, err
}
