package api

import (
	"errors"
	"net/http"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/view/drafts"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
	"github.com/postroom-go/postroom/gmail/voice"
)

// A voiceAPI shows how the owners of mailboxes write, and takes what they say about it.
type voiceAPI struct {
	app *app.App
	of  mailboxes
}

func (a voiceAPI) routes() []webapi.Route {
	const one = "/mailboxes/{mailbox}/voice"
	return []webapi.Route{
		webapi.Handle(webapi.Route{Method: http.MethodGet, Path: one, Scope: webapi.See, Account: a.of.byPath,
			Summary: "Show how the owner of a mailbox writes, as the model that writes drafts is told"}, a.show),
		webapi.Handle(webapi.Route{Method: http.MethodPut, Path: one, Scope: webapi.Own, Account: a.of.byPath,
			Summary: "Write how the owner writes; it stays until it is changed again or replaced"}, a.edit),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: one + "/rebuild", Scope: webapi.Own, Account: a.of.byPath,
			Summary: "Have it learned anew from sent mail; what a person has edited only with replace"}, a.rebuild),
	}
}

func (a voiceAPI) show(r *http.Request, _ webapi.None) (v drafts.Voice, err error) {
	account, err := a.app.Mail.AccountByEmail(r.Context(), r.PathValue("mailbox"))
	if err != nil {
		return v, err
	}
	return drafts.NewVoice(r.Context(), a.app, &account)
}

// A voiceBody is what a person has made of the version that was shown.
type voiceBody struct {
	Text    string `json:"text"`
	Version int64  `json:"version"`
}

func (a voiceAPI) edit(r *http.Request, in voiceBody) (v drafts.Voice, err error) {
	account, err := a.app.Mail.AccountByEmail(r.Context(), r.PathValue("mailbox"))
	if err == nil {
		err = a.app.EditVoice(r.Context(), account.ID, in.Version, in.Text, webapi.CallerOf(r).Name)
	}
	if err != nil {
		return v, voiceRefused(err)
	}
	return a.show(r, webapi.None{})
}

// A rebuildBody says whether what a person has edited is replaced, of the version that was shown.
type rebuildBody struct {
	Replace bool  `json:"replace"`
	Version int64 `json:"version,omitempty" jsonschema:"with replace: that which was shown"`
}

func (a voiceAPI) rebuild(r *http.Request, in rebuildBody) (v drafts.Voice, err error) {
	account, err := a.app.Mail.AccountByEmail(r.Context(), r.PathValue("mailbox"))
	if err == nil {
		err = a.app.RebuildVoice(r.Context(), account.ID, in.Version, in.Replace, webapi.CallerOf(r).Name)
	}
	if err != nil {
		return v, voiceRefused(err)
	}
	return a.show(r, webapi.None{})
}

// voiceRefused gives what the profile does not permit the status of a conflict.
func voiceRefused(err error) error {
	if _, refused := errors.AsType[*voice.ProfileError](err); refused {
		err = webapi.WithStatus(http.StatusConflict, err)
	}
	return err
}
