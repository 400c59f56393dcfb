package gmailapi

import (
	"context"
	"errors"
	"fmt"

	api "google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom"
)

// Insert puts a message in the form of RFC 5322 into the mailbox with the labels, as if it had arrived now. It is not
// sent, and Gmail does not look whether it is spam.
//
// As with [Client.Send], an error may not say that nothing was inserted: look with [Client.FindInserted].
func (c *Client) Insert(ctx context.Context, raw []byte, labels ...string) (MessageRef, error) {
	var m *api.Message
	err := c.doUpload(ctx, MethodInsert, "insert message", raw, func(ctx context.Context) (err error) {
		reader, options := media(raw)
		m, err = c.service.Users.Messages.Insert(c.user, &api.Message{LabelIds: labels}).
			InternalDateSource("receivedTime").Media(reader, options...).Context(ctx).Do()
		return err
	})
	return refOf(m), err
}

// FindInserted looks for a message by its Message-ID, without angle brackets: by Gmail's search, and in the history
// since the history id, which has no delay, among messages in the inbox.
func (c *Client) FindInserted(ctx context.Context, messageID string, since uint64) (found MessageRef, ok bool,
	err error) {
	const op = "find inserted message"
	if !CanBeFound(messageID) {
		return found, false, &Error{Op: op, Class: ClassInvalid,
			Err: fmt.Errorf("%q is not a message id without angle brackets", messageID)}
	}
	candidates, err := c.search(ctx, "rfc822msgid:"+messageID, true)
	if err == nil && since > 0 {
		var came []MessageRef
		came, err = c.AddedSince(ctx, since, postroom.LabelInbox)
		candidates = append(candidates, came...)
	}
	if err != nil {
		return found, false, err
	}
	for _, candidate := range candidates {
		header, err := c.Header(ctx, candidate.ID)
		switch {
		case errors.Is(err, postroom.ErrMessageGone):
		case err != nil:
			return found, false, err
		case header.MessageID == messageID:
			return MessageRef{ID: candidate.ID, ThreadID: header.threadID}, true, nil
		}
	}
	return found, false, nil
}
