package gmailapi

import (
	"context"

	api "google.golang.org/api/gmail/v1"
)

// Import puts a message in the form of RFC 5322 into the mailbox with the labels, as if it had arrived by mail at the
// time of its field Date: a caller cannot set another time. It is never marked as spam. Gmail may put a Received
// field before the message.
//
// As with [Client.Send], an error may not say that nothing was imported: look with [Client.FindImported].
func (c *Client) Import(ctx context.Context, raw []byte, labels ...string) (MessageRef, error) {
	var m *api.Message
	err := c.doUpload(ctx, MethodImport, "import message", raw, func(ctx context.Context) (err error) {
		reader, options := media(raw)
		m, err = c.service.Users.Messages.Import(c.user, &api.Message{LabelIds: labels}).
			InternalDateSource("dateHeader").NeverMarkSpam(true).Media(reader, options...).Context(ctx).Do()
		return err
	})
	return refOf(m), err
}

// FindImported returns the messages that may be one that was imported: those that Gmail's search finds by the
// Message-ID, without angle brackets, and, since the search is late, those that came after the history id; 0: not
// those. A Message-ID that cannot be searched for finds nothing. The caller compares their content.
func (c *Client) FindImported(ctx context.Context, messageID string, since uint64) (found []MessageRef, err error) {
	if CanBeFound(messageID) {
		if found, err = c.search(ctx, "rfc822msgid:"+messageID, true); err != nil {
			return nil, err
		}
	}
	if since == 0 {
		return found, nil
	}
	came, err := c.AddedSince(ctx, since, "")
	return append(found, came...), err
}
