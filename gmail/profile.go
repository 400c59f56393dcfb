package gmail

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/mailname"
)

// profile reads the profile. QUIRK: servers that implement only a part of Gmail's API answer getProfile with 404, 405
// or 501. The history id is then that of the newest message: later changes are read again, and nothing is missed. An
// empty mailbox has none.
//
// An account that is synced for the first time must be the mailbox of its address: the token of another mailbox would
// store one person's mail under another's name.
func (j *jobs) profile(ctx context.Context, client *gmailapi.Client, account mailstore.Account) (gmailapi.Profile,
	error) {
	p, err := client.Profile(ctx)
	switch {
	case err == nil:
		return p, isMailbox(account, p)
	case !hasNoProfile(err):
		return p, err
	}
	fault := err
	newest, err := client.ListMessages(ctx, gmailapi.MessageList{IncludeSpamTrash: true, Max: 1})
	if err == nil && len(newest.IDs) > 0 {
		var state gmailapi.MessageState
		state, err = client.State(ctx, newest.IDs[0])
		p.HistoryID = state.HistoryID
	}
	if err != nil {
		return gmailapi.Profile{}, err
	}
	j.Logger.WarnContext(ctx, "the server has no getProfile; the history is read from the newest message on",
		"account", account.Email, "history_id", p.HistoryID, "error", fault)
	return p, nil
}

func hasNoProfile(err error) bool {
	fault, ok := errors.AsType[*gmailapi.Error](err)
	return ok && slices.Contains([]int{http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented},
		fault.Status)
}

// checkMailbox returns the error of isMailbox if that is still to be checked, or that of the call.
func checkMailbox(ctx context.Context, client *gmailapi.Client, account mailstore.Account) error {
	if account.HistoryID != 0 {
		return nil
	}
	p, err := client.Profile(ctx)
	if hasNoProfile(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return isMailbox(account, p)
}

// isMailbox returns an error if an account that has never been synced has got the profile of another mailbox. Later an
// administrator may give the mailbox another address, and it is still the same.
func isMailbox(a mailstore.Account, p gmailapi.Profile) error {
	if a.HistoryID != 0 || p.Email == "" || mailname.Mailbox(p.Email) == mailname.Mailbox(a.Email) {
		return nil
	}
	return &gmailapi.Error{
		Op: "open mailbox " + a.Email, Class: gmailapi.ClassForbidden,
		Err:  fmt.Errorf("the access that is configured for it leads to the mailbox %s", p.Email),
		Hint: "configure the token or the sign-in of the right mailbox, or the account's address",
	}
}
