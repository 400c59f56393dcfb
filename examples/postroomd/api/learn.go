package api

import (
	"net/http"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/learning"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
)

// A learnAPI lists the rules that are learned from corrections, and takes answers.
type learnAPI struct {
	app *app.App
	of  mailboxes
}

func (a learnAPI) routes() []webapi.Route {
	return []webapi.Route{
		webapi.Handle(webapi.Route{Method: http.MethodGet, Path: "/learn", Scope: webapi.See, Account: a.of.byQuery,
			Summary: "List the learned rules of a mailbox that wait for a person or are in use, with what taught them"}, a.list),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: "/learn/answer", Scope: webapi.Own, Account: a.of.byBody,
			Summary: "Accept or dismiss a learned rule, or remove one that is in use"}, a.answer),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: "/learn/run", Scope: webapi.Own, Account: a.of.byBody,
			Summary: "Learn now, and not only once a week"}, a.run),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: "/learn/bulk", Scope: webapi.Own, Account: a.of.byBody,
			Summary: "Say whether corrections that many messages had at once are a person's"}, a.bulk),
		webapi.Handle(webapi.Route{Method: http.MethodGet, Path: "/learn/calibration", Scope: webapi.See,
			Account: a.of.byQuery, Summary: "Compare how sure models were with what people said about what they decided, in ten bins"}, a.calibration),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: "/learn/teach", Scope: webapi.Own, Account: a.of.byBody,
			Summary: "Have a rule proposed from one message: such mail is always treated so, or never touched"}, a.teach),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: "/learn/right", Scope: webapi.Own, Account: a.of.byBody,
			Summary: "Say that a rule, or the models, that warn or ask after corrections are right again"}, a.right),
	}
}

type learnedList struct{ learning.Listing }

func (a learnAPI) list(r *http.Request, in subscriptionsQuery) (v learnedList, err error) {
	account, err := a.of.one(r, in.Mailbox)
	if err != nil {
		return v, err
	}
	v.Listing, err = learning.List(r.Context(), a.app, account)
	return v, err
}

type learnAnswer struct {
	Mailbox string          `json:"mailbox,omitempty" jsonschema:"address of the mailbox; may be left out where there is one"`
	ID      string          `json:"id"                jsonschema:"of the learned rule"`
	Answer  learning.Answer `json:"answer"            jsonschema:"accept, dismiss, or remove"`
}

func (a learnAPI) answer(r *http.Request, in learnAnswer) (v learning.Rule, err error) {
	account, err := a.of.one(r, in.Mailbox)
	if err != nil {
		return v, err
	}
	if err := mayWriteRules(a.app, r, account); err != nil {
		return v, err
	}
	return learning.Give(r.Context(), a.app, account, in.Answer, in.ID, webapi.CallerOf(r).Name)
}

type calibration struct{ learning.Calibration }

func (a learnAPI) calibration(r *http.Request, in subscriptionsQuery) (v calibration, err error) {
	account, err := a.of.one(r, in.Mailbox)
	if err != nil {
		return v, err
	}
	v.Calibration, err = learning.Calibrate(r.Context(), a.app, []mailstore.Account{account}, time.Now())
	return v, err
}

type wish struct {
	Mailbox string              `json:"mailbox,omitempty" jsonschema:"address of the mailbox; may be left out where there is one"`
	Message string              `json:"message"           jsonschema:"id of the message"`
	Lesson  learning.Lesson     `json:"lesson"            jsonschema:"always, or never, which leaves such mail alone"`
	Action  postroom.ActionType `json:"action,omitempty"  jsonschema:"what is always done; what became of the message, if left out"`
	Label   string              `json:"label,omitempty"   jsonschema:"name of the label of the action"`
}

type taught struct{ learning.Taught }

func (a learnAPI) teach(r *http.Request, in wish) (v taught, err error) {
	account, err := a.of.one(r, in.Mailbox)
	if err != nil {
		return v, err
	}
	if err := mayWriteRules(a.app, r, account); err != nil {
		return v, err
	}
	v.Taught, err = learning.Teach(r.Context(), a.app, account, learning.Wish{Message: in.Message, Lesson: in.Lesson,
		Action: in.Action, Label: in.Label}, webapi.CallerOf(r).Name)
	return v, err
}

type rightAgain struct {
	Mailbox string `json:"mailbox,omitempty" jsonschema:"address of the mailbox; may be left out where there is one"`
	Rule    string `json:"rule"              jsonschema:"id or name of the rule, or models"`
}

type driftEnded struct{ learning.Drift }

func (a learnAPI) right(r *http.Request, in rightAgain) (v driftEnded, err error) {
	account, err := a.of.one(r, in.Mailbox)
	if err != nil {
		return v, err
	}
	v.Drift, err = learning.RightAgain(r.Context(), a.app, account, in.Rule, webapi.CallerOf(r).Name)
	return v, err
}

type learnQuery struct {
	Mailbox string `json:"mailbox,omitempty" jsonschema:"address of the mailbox; may be left out where there is one"`
}

// A learnReport says what a run has found.
type learnReport struct {
	Votes    int `json:"votes"`    // conversations that taught something
	Bulk     int `json:"bulk"`     // corrections in bulk that do not count yet
	Low      int `json:"low"`      // rules that are not proven yet
	Proposed int `json:"proposed"` // new rules
	Waiting  int `json:"waiting"`  // rules that are proposed in a later week
	Applied  int `json:"applied"`
	Gone     int `json:"gone"` // rules that are proven no more
}

func (a learnAPI) run(r *http.Request, in learnQuery) (v learnReport, err error) {
	account, err := a.of.one(r, in.Mailbox)
	if err != nil {
		return v, err
	}
	if err := mayWriteRules(a.app, r, account); err != nil { // a run applies rules that were in shadow
		return v, err
	}
	report, err := learning.Run(r.Context(), a.app, account)
	return learnReport(report), err
}

type bulkAnswer struct {
	Mailbox string `json:"mailbox,omitempty" jsonschema:"address of the mailbox; may be left out where there is one"`
	Count   bool   `json:"count"             jsonschema:"whether they count from now on; otherwise they never do"`
	Shown   int    `json:"shown"             jsonschema:"how many were listed; if there are others by now, nothing is answered"`
}

type bulkAnswered struct {
	Corrections int `json:"corrections"`
}

func (a learnAPI) bulk(r *http.Request, in bulkAnswer) (v bulkAnswered, err error) {
	account, err := a.of.one(r, in.Mailbox)
	if err != nil {
		return v, err
	}
	v.Corrections, err = learning.CountBulk(r.Context(), a.app, account, in.Shown, in.Count)
	return v, err
}
