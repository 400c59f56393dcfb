package gmail

import (
	"context"
	"errors"
	"net/http"

	api "google.golang.org/api/gmail/v1"
)

// profile reads the profile. QUIRK: servers that speak only a part of Gmail's API answer getProfile with 404 or 501. The history
// id is then that of the newest message: what has changed since is read again, and nothing is missed. An empty mailbox has
// none.
func (j *jobs) profile(ctx context.Context, client *Client, account Account) (Profile, error) {
	p, err := client.Profile(ctx)
	fault, ok := errors.AsType[*Error](err)
	if !ok || fault.Status != http.StatusNotFound && fault.Status != http.StatusNotImplemented {
		return p, err
	}
	newest, err := client.ListMessages(ctx, MessageList{IncludeSpamTrash: true, Max: 1})
	if err == nil && len(newest.IDs) > 0 {
		p.HistoryID, err = client.historyIDOf(ctx, newest.IDs[0])
	}
	if err != nil {
		return Profile{}, err
	}
	j.Logger.WarnContext(ctx, "the server has no getProfile; the history is read from the newest message on",
		"account", account.Email, "history_id", p.HistoryID, "error", fault)
	return p, nil
}

// historyIDOf reads the history id of the last change of a message.
func (c *Client) historyIDOf(ctx context.Context, id string) (historyID uint64, err error) {
	err = c.do(ctx, MethodGetMessage, "get message "+id, ClassGone, func(ctx context.Context) error {
		var m *api.Message
		m, err := c.service.Users.Messages.Get(c.user, id).Context(ctx).Format("minimal").Do()
		if err == nil {
			historyID = m.HistoryId
		}
		return err
	})
	return historyID, err
}
