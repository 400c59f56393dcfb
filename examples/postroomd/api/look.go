package api

import (
	"fmt"
	"net/http"

	"github.com/postroom-go/postroom/examples/postroomd/firstlook"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
)

// lastLook shows the latest report about a mailbox.
func (a mailboxesAPI) lastLook(r *http.Request, _ webapi.None) (v firstlook.Report, err error) {
	account, err := a.of.ofPath(r)
	if err != nil {
		return v, err
	}
	v, err = firstlook.Read(r.Context(), a.app, account)
	if firstlook.IsMissing(err) {
		err = webapi.WithStatus(http.StatusNotFound, fmt.Errorf("nobody has looked at %s yet: POST to look", account.Email))
	}
	return v, err
}

// look has a mailbox looked at.
func (a mailboxesAPI) look(r *http.Request, _ webapi.None) (v started, err error) {
	account, err := a.of.ofPath(r)
	if err != nil {
		return v, err
	}
	v.JobID, err = firstlook.Start(r.Context(), a.app, account)
	return v, err
}
