package api

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/subscriptions"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
)

// A subscriptionsAPI leaves mailing lists by a person's word.
type subscriptionsAPI struct {
	app *app.App
	of  mailboxes
}

func (a subscriptionsAPI) routes() []webapi.Route { //nolint:dupl // a table of other routes
	return []webapi.Route{
		webapi.Handle(webapi.Route{Method: http.MethodGet, Path: "/subscriptions", Scope: webapi.See, Account: a.of.byQuery,
			Summary: "List the mailing lists that are hardly read, and those that were left with what came of it"}, a.list),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: "/subscriptions/preview", Scope: webapi.See,
			Account: a.of.byBody, Summary: "Say how the lists of senders would be left"}, a.preview),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: "/subscriptions/leave", Scope: webapi.Approve,
			Account: a.of.byBody, Summary: "Leave the lists that a preview has shown, if it still is that, as one batch"}, a.leave),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: "/subscriptions/block", Scope: webapi.Own,
			Account: a.of.byBody, Summary: "Write a rule that archives the mail of a sender's list from now on"}, a.block),
	}
}

type subscriptionsQuery struct {
	Mailbox string `jsonschema:"address of the mailbox; may be left out where there is one" query:"mailbox"`
	Before  string `jsonschema:"next of the page before: only left goes on"                 query:"before"`
}

// A subscriptionsList is what is hardly read, and what was left.
type subscriptionsList struct {
	Suggested []subscriptions.Subscription `json:"suggested"`
	subscriptions.LeftPage
}

func (a subscriptionsAPI) list(r *http.Request, in subscriptionsQuery) (v subscriptionsList, err error) {
	account, err := a.of.one(r, in.Mailbox)
	if err != nil {
		return v, err
	}
	v.Suggested = []subscriptions.Subscription{}
	if in.Before == "" {
		if v.Suggested, err = subscriptions.Suggested(r.Context(), a.app, account); err != nil {
			return v, err
		}
	}
	v.LeftPage, err = subscriptions.NewLeft(r.Context(), a.app, account, in.Before)
	return v, err
}

// A leaveQuery names the lists that are to be left.
type leaveQuery struct {
	Mailbox string   `json:"mailbox,omitempty" jsonschema:"address of the mailbox; may be left out where there is one"`
	Senders []string `json:"senders"           jsonschema:"the addresses whose lists are meant, at most 100"`
}

func (a subscriptionsAPI) request(r *http.Request, q leaveQuery) (subscriptions.Request, error) {
	account, err := a.of.one(r, q.Mailbox)
	return subscriptions.Request{Account: account, Senders: q.Senders, By: webapi.CallerOf(r).Name}, err
}

// A leavePreview is how lists would be left.
type leavePreview struct{ *subscriptions.Preview }

func (a subscriptionsAPI) preview(r *http.Request, in leaveQuery) (v leavePreview, err error) {
	request, err := a.request(r, in)
	if err != nil {
		return v, err
	}
	v.Preview, err = subscriptions.Plan(r.Context(), a.app, request)
	return v, err
}

type leaveBody struct {
	leaveQuery
	Digest string `json:"digest" jsonschema:"that of the preview"`
}

// A leaveDone is what will be carried out.
type leaveDone struct{ subscriptions.Done }

func (a subscriptionsAPI) leave(r *http.Request, in leaveBody) (v leaveDone, err error) {
	if in.Digest == "" {
		return v, usage.Errorf("give digest as subscriptions/preview has answered it")
	}
	request, err := a.request(r, in.leaveQuery)
	if err != nil {
		return v, err
	}
	v.Done, err = subscriptions.Act(r.Context(), a.app, request, in.Digest)
	return v, err
}

type blockBody struct {
	Mailbox string `json:"mailbox,omitempty" jsonschema:"address of the mailbox; may be left out where there is one"`
	Sender  string `json:"sender"            jsonschema:"the address whose list is meant"`
	ListID  string `json:"list_id,omitempty" jsonschema:"the list; may be left out where all mail of the sender is of one"`
}

// A blocked is the rule that keeps a list away.
type blocked struct {
	Rule string `json:"rule"`
}

func (a subscriptionsAPI) block(r *http.Request, in blockBody) (v blocked, err error) {
	account, err := a.of.one(r, in.Mailbox)
	if err != nil {
		return v, err
	}
	if err := mayWriteRules(a.app, r, account); err != nil {
		return v, err
	}
	list := subscriptions.List{Sender: in.Sender, ID: in.ListID}
	v.Rule, err = subscriptions.Block(r.Context(), a.app, account, list, webapi.CallerOf(r).Name)
	return v, err
}

// mayWriteRules refuses a token that is not for all mailboxes which read the rules of an account: each change of the
// file stores the rules of all of them.
func mayWriteRules(h *app.App, r *http.Request, account mailstore.Account) error {
	token := TokenOf(r)
	if token.Mailboxes == nil {
		return nil
	}
	readers, err := h.RuleEditor.Readers(r.Context(), account.ID)
	if err != nil {
		return err
	}
	for _, reader := range readers {
		if !slices.ContainsFunc(token.Mailboxes, func(m string) bool { return strings.EqualFold(m, reader.Email()) }) {
			return webapi.WithStatus(http.StatusForbidden, fmt.Errorf("the rules of %s are those of other mailboxes too, and "+
				"the token %s is for %s: use a token of all of them, or give the mailbox rules of its own in paths.mailbox_rules",
				account.Email, token.Name, strings.Join(token.Mailboxes, ", ")))
		}
	}
	return nil
}
