package api

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/examples/postroomd/view/drafts"
	"github.com/postroom-go/postroom/gmail/drafting"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
	"github.com/postroom-go/postroom/gmail/replies"
)

// A draftsAPI shows drafts of answers, and takes a person's word about them.
type draftsAPI struct {
	app *app.App
	of  mailboxes
}

const (
	needsTurn     = "it needs turn, as the draft was shown"
	needsHash     = "it needs turn, as the draft was shown, and sha256, that of at_gmail"
	needsSentence = "it needs turn, as the draft was shown, and sentence, which says what should be different"
)

func (a draftsAPI) routes() []webapi.Route {
	const one = "/drafts/{mailbox}/{id}"
	return []webapi.Route{
		webapi.Handle(webapi.Route{Method: http.MethodGet, Path: "/drafts", Scope: webapi.See, Account: a.of.byQuery,
			Summary: "List the open drafts of answers, the latest change first, 50 a page"}, a.list),
		webapi.Handle(webapi.Route{Method: http.MethodGet, Path: one, Scope: webapi.See, Account: a.of.byPath,
			Summary: "Show the draft of a thread with its conversation, history and texts, and as it is at Gmail"}, a.show),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: one + "/rework", Scope: webapi.Approve,
			Account: a.of.byPath, Needs: needsSentence, Summary: "Have the draft that was shown written again"}, a.rework),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: one + "/discard", Scope: webapi.Approve,
			Account: a.of.byPath, Needs: needsTurn,
			Summary: "End the draft that was shown; it is deleted at Gmail unless a person has changed it"}, a.discard),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: one + "/send", Scope: webapi.Approve,
			Account: a.of.byPath, Needs: needsHash, Summary: "Send the draft, once, as it was shown"}, a.send),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: "/mail/{mailbox}/{id}/draft", Scope: webapi.Approve,
			Account: a.of.byPath, NoBody: true,
			Summary: "Have a draft written of an answer to the conversation of a message"}, a.ask),
	}
}

type draftQuery struct {
	Mailbox string `jsonschema:"the address of a mailbox; all, if left out"        query:"mailbox"`
	State   string `jsonschema:"pending, drafted and so on; if left out, all open" query:"state"`
	All     bool   `jsonschema:"also those that have ended"                        query:"all"`
	Before  string `jsonschema:"next of the page before"                           query:"before"`
}

func (a draftsAPI) list(r *http.Request, in draftQuery) (v drafts.Page, err error) {
	account, err := a.of.byQuery(r)
	if err != nil {
		return v, err
	}
	f := replies.Filter{AccountID: cmp.Or(webapi.CallerOf(r).AccountID, account), States: drafts.Open(), Before: in.Before,
		Limit: onPage}
	switch state := replies.State(in.State); {
	case in.State != "" && !slices.Contains(drafts.States(), state):
		return v, usage.Errorf("state is %s; the states are %v", in.State, drafts.States())
	case in.State != "":
		f.States = []replies.State{state}
	case in.All:
		f.States = nil
	}
	return drafts.NewPage(r.Context(), a.app, f)
}

func (a draftsAPI) show(r *http.Request, _ webapi.None) (v drafts.Whole, err error) {
	found, err := a.find(r)
	if err != nil {
		return v, err
	}
	return drafts.NewWhole(r.Context(), a.app, found)
}

// A turnBody names the draft that was shown.
type turnBody struct {
	Turn int64 `json:"turn"`
}

// A reworkBody names the draft that was shown, and says what should be different.
type reworkBody struct {
	turnBody
	Sentence string `json:"sentence"`
}

func (a draftsAPI) rework(r *http.Request, in reworkBody) (v drafts.Whole, err error) {
	if in.Turn < 1 || in.Sentence == "" {
		return v, webapi.WithStatus(http.StatusBadRequest, errors.New(needsSentence))
	}
	found, err := a.find(r)
	if err != nil {
		return v, err
	}
	if err := a.app.ReworkDraft(r.Context(), found, in.Turn, webapi.CallerOf(r).Name, in.Sentence); err != nil {
		return v, draftRefused(err)
	}
	return a.show(r, webapi.None{})
}

// A discarded is a draft that has ended, and what has become of it at Gmail.
type discarded struct {
	drafts.Draft
	AtGmail drafting.Fate `json:"at_gmail" jsonschema:"deleted, kept since a person has changed it, or none"`
}

func (a draftsAPI) discard(r *http.Request, in turnBody) (v discarded, err error) {
	if in.Turn < 1 {
		return v, webapi.WithStatus(http.StatusBadRequest, errors.New(needsTurn))
	}
	found, err := a.find(r)
	if err != nil {
		return v, err
	}
	if v.AtGmail, err = a.app.DiscardDraft(r.Context(), found, in.Turn, webapi.CallerOf(r).Name); err != nil {
		return v, draftRefused(err)
	}
	whole, err := a.show(r, webapi.None{})
	v.Draft = whole.Draft
	return v, err
}

// A sendBody names the draft that was shown, and what it was at Gmail.
type sendBody struct {
	turnBody
	SHA256 string `json:"sha256"`
}

func (a draftsAPI) send(r *http.Request, in sendBody) (v drafts.Whole, err error) {
	if in.Turn < 1 || in.SHA256 == "" {
		return v, webapi.WithStatus(http.StatusBadRequest, errors.New(needsHash))
	}
	found, err := a.find(r)
	if err != nil {
		return v, err
	}
	if err := a.app.SendDraft(r.Context(), found, in.Turn, in.SHA256, webapi.CallerOf(r).Name); err != nil {
		return v, draftRefused(err)
	}
	return a.show(r, webapi.None{})
}

func (a draftsAPI) ask(r *http.Request, _ webapi.None) (v drafts.Draft, err error) {
	m, err := mailAPI(a).message(r)
	if err != nil {
		return v, err
	}
	err = a.app.AskDraft(r.Context(), m.AccountID, m.ProviderThreadID, webapi.CallerOf(r).Name)
	if err != nil {
		return v, draftRefused(err)
	}
	found, err := a.app.Replies.Reply(r.Context(), m.AccountID, m.ProviderThreadID)
	if err != nil {
		return v, err
	}
	whole, err := drafts.NewWhole(r.Context(), a.app, found)
	return whole.Draft, err
}

func (a draftsAPI) find(r *http.Request) (replies.Reply, error) {
	found, err := drafts.Find(r.Context(), a.app, r.PathValue("mailbox"), r.PathValue("id"))
	if errors.Is(err, postroom.ErrNotFound) {
		err = webapi.WithStatus(http.StatusNotFound, fmt.Errorf("there is no draft %s: GET drafts?all=true lists them",
			r.PathValue("id")))
	}
	return found, err
}

// draftRefused gives what the state of a draft does not permit, and what a stop holds, the status of a conflict.
func draftRefused(err error) error {
	_, state := errors.AsType[*drafting.StateError](err)
	if state || errors.Is(err, postroom.ErrHeld) {
		err = webapi.WithStatus(http.StatusConflict, err)
	}
	return err
}
