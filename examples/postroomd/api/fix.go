package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/fixing"
	"github.com/postroom-go/postroom/examples/postroomd/ruledraft"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
	"github.com/postroom-go/postroom/rules/backtest"
)

// A fixAPI changes rules by a person's word about one message.
type fixAPI struct {
	app *app.App
	of  mailboxes
}

func (a fixAPI) routes() []webapi.Route {
	const one = "/mail/{mailbox}/{id}/fix"
	return []webapi.Route{
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: one + "/preview", Scope: webapi.Own, Account: a.of.byPath,
			Takes: longestBacktest, Summary: "Show how the rules would change so that a message gets what it should have got"},
			a.preview),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: one, Scope: webapi.Own, Account: a.of.byPath,
			Summary: "Save the change of the rules that a preview has shown, if it still is that"}, a.save),
	}
}

// A fixQuery is what should have been done with a message, and how the rules are to be changed for that.
type fixQuery struct {
	Way    string `json:"way,omitempty"    jsonschema:"rule (a new one before the rule that decides; the default), change (the deciding rule does this with all that it takes), except (the deciding rule leaves such mail alone) or test"`
	Rule   string `json:"rule,omitempty"   jsonschema:"the deciding rule that is meant; left out: the first of deciders"`
	About  string `json:"about,omitempty"  jsonschema:"what mail is like the message in: list, sender or domain; left out: its list, or else its sender"`
	Action string `json:"action,omitempty" jsonschema:"what should have been done, such as archive; an exception needs none"`
	Label  string `json:"label,omitempty"  jsonschema:"the name of the label, for an action that has one"`
	Test   bool   `json:"test,omitempty"   jsonschema:"also add a test that says so to the rules"`
}

func (q fixQuery) order() fixing.Order {
	return fixing.Order{Way: fixing.Way(q.Way), Rule: q.Rule, About: ruledraft.About(q.About),
		Action: postroom.ActionType(q.Action), Label: q.Label, Test: q.Test}
}

// A fixPreview is what the rules do with a message, and what would change.
type fixPreview struct {
	*fixing.Case

	Proposal *fixing.Proposal `json:"proposal"`
	// Backtest is what the changed rules would have done with the mail of 90 days; left out where no rule changes.
	Backtest *backtest.Report `json:"backtest,omitempty"`
	Risks    []string         `json:"risks,omitempty"` // what of that cannot be taken back
}

func (a fixAPI) preview(r *http.Request, in fixQuery) (v fixPreview, err error) {
	account, m, err := a.message(r)
	if err != nil {
		return v, err
	}
	if v.Case, err = fixing.Open(r.Context(), a.app, account, m); err != nil {
		return v, err
	}
	if v.Proposal, err = v.Propose(r.Context(), in.order()); err != nil || !v.Proposal.Decides {
		return v, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), longestBacktest)
	defer cancel()
	v.Backtest, err = v.Proposal.Try(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return v, usage.Errorf(
			"there is more mail than can be tried while a program waits: run 'postroomd mail fix --dry-run'")
	}
	if err == nil {
		v.Risks = v.Proposal.Dangerous(v.Backtest)
	}
	return v, err
}

type fixBody struct {
	fixQuery
	Digest string `json:"digest" jsonschema:"that of the proposal of the preview"`
}

// A fixDone is what was saved, as a new version of the rules.
type fixDone struct{ *fixing.Proposal }

func (a fixAPI) save(r *http.Request, in fixBody) (v fixDone, err error) {
	if in.Digest == "" {
		return v, usage.Errorf("give digest as fix/preview has answered it")
	}
	account, m, err := a.message(r)
	if err != nil {
		return v, err
	}
	v.Proposal, err = fixing.Save(r.Context(), a.app, account, m, in.order(), in.Digest, webapi.CallerOf(r).Name)
	return v, err
}

// message is the message of the path, to a token that may write the rules of its mailbox.
func (a fixAPI) message(r *http.Request) (account mailstore.Account, m *postroom.Message, err error) {
	if account, err = a.of.ofPath(r); err != nil {
		return account, nil, err
	}
	if err = mayWriteRules(a.app, r, account); err != nil {
		return account, nil, err
	}
	m, err = a.app.FindMessage(r.Context(), account, r.PathValue("id"))
	return account, m, notFound(err)
}
