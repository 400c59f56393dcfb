package api

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/editor"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// A rulesTextAPI reads and replaces the rules of a mailbox as one text, and goes back to versions of them.
type rulesTextAPI struct {
	app *app.App
	of  mailboxes
}

func (a rulesTextAPI) routes() []webapi.Route {
	const path = "/mailboxes/{mailbox}/rules"
	return []webapi.Route{
		webapi.Handle(webapi.Route{Method: http.MethodGet, Path: path, Scope: webapi.Own, Account: a.readers,
			Summary: "Show the rules of a mailbox as the text of a rules file"}, a.show),
		webapi.Handle(webapi.Route{Method: http.MethodPut, Path: path, Scope: webapi.Own, Account: a.readers,
			Summary: "Replace the rules of a mailbox by the text of a rules file"}, a.replace),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: path + "/import", Scope: webapi.Own, Account: a.readers,
			Summary: "Make rules of Gmail's filters or a Sieve script, beside those that are there; nothing is saved"}, a.imports),
		webapi.Handle(webapi.Route{Method: http.MethodGet, Path: path + "/versions", Scope: webapi.See,
			Account: a.of.byPath, Summary: "List the newest versions of the rules of a mailbox"}, a.versions),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: path + "/versions/{number}/restore", Scope: webapi.Own,
			Account: a.readers, Summary: "Go back to a version of the rules; that makes a version"}, a.restore),
	}
}

// readers is the mailbox of the path, or all, if others have the same rules.
func (a rulesTextAPI) readers(r *http.Request) (string, error) {
	account, err := a.of.ofPath(r)
	if err != nil {
		return "", err
	}
	readers, err := a.app.RuleEditor.Readers(r.Context(), account.ID)
	if len(readers) > 1 {
		return webapi.AllAccounts, err
	}
	return account.ID, err
}

// A rulesText is the rules of a mailbox.
type rulesText struct {
	Text   string   `json:"text"             jsonschema:"as YAML; empty if there are no rules"`
	Digest string   `json:"digest"           jsonschema:"of the text, for a change of it"`
	For    []string `json:"for"              jsonschema:"the mailboxes that have these rules"`
	File   string   `json:"file,omitempty"   jsonschema:"the file that is written as well, if one is configured"`
	Failed []string `json:"failed,omitempty" jsonschema:"the tests of the text that fail"`
}

func (a rulesTextAPI) show(r *http.Request, _ webapi.None) (v rulesText, err error) {
	account, err := a.of.ofPath(r)
	if err != nil {
		return v, err
	}
	return a.text(r, account)
}

func (a rulesTextAPI) text(r *http.Request, account mailstore.Account) (v rulesText, err error) {
	ctx, e := r.Context(), a.app.RuleEditor
	if v.Text, err = e.Text(ctx, account.ID); err != nil {
		return v, err
	}
	v.Digest = editor.Digest(v.Text)
	readers, err := e.Readers(ctx, account.ID)
	for _, one := range readers {
		v.For = append(v.For, one.Email())
	}
	if err != nil {
		return v, err
	}
	v.File, err = e.Path(ctx, account.ID)
	return v, err
}

type replaceBody struct {
	Text   string `json:"text"   jsonschema:"the text of a rules file"`
	Digest string `json:"digest" jsonschema:"of the text that it was made from"`
}

func (a rulesTextAPI) replace(r *http.Request, in replaceBody) (v rulesText, err error) {
	account, err := a.of.ofPath(r)
	if err != nil {
		return v, err
	}
	before, err := a.app.RuleEditor.Text(r.Context(), account.ID)
	if err != nil {
		return v, err
	}
	if editor.Digest(before) != in.Digest {
		return v, editor.ErrChanged
	}
	file, err := a.parse(r, account, before, in.Text)
	if err != nil {
		return v, err
	}
	by := webapi.CallerOf(r).Name
	if _, err := a.app.RuleEditor.Save(r.Context(), account.ID, by, before, file); err != nil {
		return v, err
	}
	v, err = a.text(r, account)
	for _, result := range file.Test(file.Tests, a.app.Env.ActionKinds()) {
		if !result.Passed() {
			v.Failed = append(v.Failed, result.String())
		}
	}
	return v, err
}

// parse reads rules. Who has not all mailboxes names no files that were not named before.
func (a rulesTextAPI) parse(r *http.Request, account mailstore.Account, before, text string) (*rulesfile.File, error) {
	path, err := a.app.RuleEditor.Path(r.Context(), account.ID)
	if err != nil {
		return nil, err
	}
	if webapi.CallerOf(r).AccountID != "" {
		return a.app.RuleEditor.ParseChange(path, before, text)
	}
	return a.app.RuleEditor.Parse(path, text)
}

type importBody struct {
	Text string `json:"text" jsonschema:"the XML that Gmail exports its filters as, or a Sieve script"`
}

// An importedText is rules with those that were made of filters.
type importedText struct {
	Text   string   `json:"text"            jsonschema:"the rules of before and the new ones; PUT saves it"`
	Digest string   `json:"digest"          jsonschema:"of the rules of before"`
	Taken  []string `json:"taken"           jsonschema:"the names of the new rules"`
	Known  []string `json:"known,omitempty" jsonschema:"the names of those that were there already"`
	Lost   []lost   `json:"lost,omitempty"  jsonschema:"what rules cannot say"`
}

// A lost is a part of a filter that rules cannot say.
type lost struct {
	Of   string `json:"of"   jsonschema:"the filter: its name, or its number from 1"`
	What string `json:"what"`
}

func (a rulesTextAPI) imports(r *http.Request, in importBody) (v importedText, err error) {
	account, err := a.of.ofPath(r)
	if err != nil {
		return v, err
	}
	added, err := a.app.RuleEditor.Import(r.Context(), account, in.Text, func(before string) (*rulesfile.File, error) {
		return a.parse(r, account, before, before)
	})
	if err != nil {
		return v, err
	}
	v = importedText{Text: added.File.Source, Digest: editor.Digest(added.Before), Taken: added.Taken, Known: added.Known}
	for _, u := range added.Lost {
		v.Lost = append(v.Lost, lost{u.Of, u.String()})
	}
	return v, nil
}

type versionList struct {
	Versions []view.RulesVersion `json:"versions" jsonschema:"the newest first, at most 50"`
}

func (a rulesTextAPI) versions(r *http.Request, _ webapi.None) (v versionList, err error) {
	account, err := a.of.ofPath(r)
	if err != nil {
		return v, err
	}
	v.Versions, err = view.NewRulesVersions(r.Context(), a.app, account.ID, view.RequestsPage)
	return v, err
}

type restoreBody struct {
	Newest int64 `json:"newest" jsonschema:"the newest version that was listed"`
}

func (a rulesTextAPI) restore(r *http.Request, in restoreBody) (v rulesText, err error) {
	account, err := a.of.ofPath(r)
	if err != nil {
		return v, err
	}
	unknown := webapi.WithStatus(http.StatusNotFound,
		errors.New("the rules of "+account.Email+" have no version "+r.PathValue("number")))
	number, err := strconv.ParseInt(r.PathValue("number"), 10, 64)
	if err != nil {
		return v, unknown
	}
	version, err := a.app.Rules.Version(r.Context(), number)
	if errors.Is(err, postroom.ErrNotFound) || err == nil && version.AccountID != account.ID {
		return v, unknown
	}
	if err == nil {
		err = a.app.RuleEditor.CheckNewest(r.Context(), account.ID, in.Newest)
	}
	if err == nil {
		_, _, err = a.app.RuleEditor.Restore(r.Context(), webapi.CallerOf(r).Name, version, false)
	}
	if err != nil {
		return v, err
	}
	return a.text(r, account)
}
