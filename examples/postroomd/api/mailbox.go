package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
)

// A mailboxes finds the mailbox that a request concerns. Calls of the daemon name it by its address.
type mailboxes struct{ app *app.App }

// byPath returns the account of a path with {mailbox}.
func (m mailboxes) byPath(r *http.Request) (string, error) {
	a, err := m.ofPath(r)
	return a.ID, err
}

func (m mailboxes) ofPath(r *http.Request) (mailstore.Account, error) {
	return m.find(r, r.PathValue("mailbox"))
}

// byQuery returns the account of the parameter mailbox; empty if it is not given.
func (m mailboxes) byQuery(r *http.Request) (string, error) {
	return m.id(r, r.URL.Query().Get("mailbox"))
}

// byBody returns the account of the field mailbox of the body, which stays to be read; empty if it has none.
func (m mailboxes) byBody(r *http.Request) (string, error) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return "", webapi.WithStatus(http.StatusBadRequest, fmt.Errorf("the body cannot be read: %w", err))
	}
	r.Body = io.NopCloser(bytes.NewReader(text))
	var body struct {
		Mailbox string `json:"mailbox"`
	}
	if json.Unmarshal(text, &body) != nil {
		return "", nil //nolint:nilerr // the call says what is wrong with it
	}
	return m.id(r, body.Mailbox)
}

func (m mailboxes) id(r *http.Request, address string) (string, error) {
	if address == "" {
		return "", nil
	}
	a, err := m.find(r, address)
	return a.ID, err
}

func (m mailboxes) find(r *http.Request, address string) (mailstore.Account, error) {
	a, err := m.app.Mail.AccountByEmail(r.Context(), address)
	if errors.Is(err, postroom.ErrNotFound) {
		err = webapi.WithStatus(http.StatusNotFound, fmt.Errorf("there is no mailbox %s", address))
	}
	return a, err
}

// one returns the mailbox of an address; the one that the caller may see, or the only one, for an empty address.
func (m mailboxes) one(r *http.Request, address string) (mailstore.Account, error) {
	if address != "" {
		return m.find(r, address)
	}
	accounts, err := m.app.Mail.Accounts(r.Context())
	if err != nil {
		return mailstore.Account{}, err
	}
	for _, a := range accounts {
		if of := webapi.CallerOf(r).AccountID; a.ID == of || of == "" && len(accounts) == 1 {
			return a, nil
		}
	}
	return mailstore.Account{}, webapi.WithStatus(http.StatusUnprocessableEntity,
		errors.New("name one of the mailboxes by mailbox; GET mailboxes lists them"))
}

// byAction returns the account of the action of a path with {id}.
func (m mailboxes) byAction(r *http.Request) (string, error) {
	a, err := m.app.Ledger.Action(r.Context(), r.PathValue("id"))
	return a.AccountID, err
}
