package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/mailstore"
)

// findExplained finds the message by its own id, or by that of one of its actions, and prints the latter.
func findExplained(ctx context.Context, h *app.App, said io.Writer, address, id string) (*postroom.Message, error) {
	account, err := command.Mailbox(ctx, h, address)
	var m *postroom.Message
	if err == nil {
		m, err = h.FindMessage(ctx, account, id)
	}
	if _, ok := errors.AsType[usage.Error](err); !ok || address != "" && account.ID == "" {
		return m, err
	}
	actionID, failed := h.FindAction(ctx, id)
	switch {
	case failed != nil:
		return nil, failed
	case actionID == "" && account.ID != "":
		return nil,
			usage.Errorf(
				"%s has no message %s, and no action of its messages has that id; see 'postroomd mail list' and 'postroomd actions'", account.Email, id)
	case actionID == "":
		return nil, err // Name the mailbox
	}
	return messageOfAction(ctx, h, said, account, actionID)
}

// messageOfAction returns the message of an action in the mailbox, or in any if none is given.
func messageOfAction(ctx context.Context, h *app.App, said io.Writer, account mailstore.Account,
	actionID string) (*postroom.Message, error) {
	a, err := h.Ledger.Action(ctx, actionID)
	if err != nil {
		return nil, err
	}
	if account.ID != "" && account.ID != a.AccountID {
		return nil, usage.Errorf("%s is an action of another mailbox than %s", actionID, account.Email)
	}
	m, err := h.Mail.Message(ctx, a.AccountID, a.MessageID)
	switch {
	case errors.Is(err, postroom.ErrNotFound):
		return nil, usage.Errorf("%s is an action whose message %s is no longer stored", actionID, a.MessageID)
	case err != nil:
		return nil, err
	}
	_, err = fmt.Fprintf(said, "action %s is of message %s\n", actionID, m.ProviderID)
	return m, err
}
