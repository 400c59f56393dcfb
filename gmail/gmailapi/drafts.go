package gmailapi

import (
	"context"

	api "google.golang.org/api/gmail/v1"
)

// A DraftRef names a draft at Gmail and its present message: each update replaces the message.
type DraftRef struct {
	ID      string
	Message MessageRef
}

func draftOf(d *api.Draft) DraftRef {
	if d == nil {
		return DraftRef{}
	}
	return DraftRef{ID: d.Id, Message: refOf(d.Message)}
}

// CreateDraft creates a draft, in the thread if one is named; see [Client.Send] for the other conditions of a thread.
// A draft may lack recipients. As with Send, the draft may have been made despite an error; the Drafts of package
// gmail make each once.
func (c *Client) CreateDraft(ctx context.Context, raw []byte, threadID string) (DraftRef, error) {
	var d *api.Draft
	err := c.doUpload(ctx, MethodCreateDraft, "create draft", raw, func(ctx context.Context) (err error) {
		reader, options := media(raw)
		request := &api.Draft{Message: &api.Message{ThreadId: threadID}}
		d, err = c.service.Users.Drafts.Create(c.user, request).Media(reader, options...).Context(ctx).Do()
		return err
	})
	return draftOf(d), err
}

// UpdateDraft replaces the message of a draft. It may be repeated. A draft that is no more, because it was sent or
// deleted, is [ClassGone].
func (c *Client) UpdateDraft(ctx context.Context, id string, raw []byte, threadID string) (DraftRef, error) {
	var d *api.Draft
	err := c.doUpload(ctx, MethodUpdateDraft, "update draft "+id, raw, func(ctx context.Context) (err error) {
		reader, options := media(raw)
		request := &api.Draft{Message: &api.Message{ThreadId: threadID}}
		d, err = c.service.Users.Drafts.Update(c.user, id, request).Media(reader, options...).Context(ctx).Do()
		return err
	})
	return draftOf(d), gone(err)
}

// GetDraft reads which message a draft is, and the Message-ID that it has, without angle brackets; empty if none. A
// draft that is no more is [ClassGone].
func (c *Client) GetDraft(ctx context.Context, id string) (draft DraftRef, messageID string, err error) {
	err = c.do(ctx, MethodGetDraft, "get draft "+id, ClassGone, func(ctx context.Context) error {
		d, err := c.service.Users.Drafts.Get(c.user, id).Format("metadata").Context(ctx).Do()
		if err != nil {
			return err
		}
		if draft = draftOf(d); d.Message != nil {
			messageID = headerOf(d.Message).MessageID
		}
		return nil
	})
	return draft, messageID, err
}

// A DraftPage is one page of drafts.
type DraftPage struct {
	Drafts        []DraftRef
	NextPageToken string // empty on the last page
}

// ListDrafts lists the drafts that a search finds, as in Gmail's search box; an empty query lists all.
func (c *Client) ListDrafts(ctx context.Context, query, pageToken string) (DraftPage, error) {
	var page DraftPage
	err := c.do(ctx, MethodListDrafts, "list drafts", ClassNotFound, func(ctx context.Context) error {
		call := c.service.Users.Drafts.List(c.user).Q(query).Context(ctx)
		if pageToken != "" {
			call.PageToken(pageToken)
		}
		answer, err := call.Do()
		if err != nil {
			return err
		}
		for _, d := range answer.Drafts {
			page.Drafts = append(page.Drafts, draftOf(d))
		}
		page.NextPageToken = answer.NextPageToken
		return nil
	})
	return page, err
}

// SendDraft sends a draft as it is at Gmail, with a person's changes. The draft is gone then. As with [Client.Send],
// the draft may have been sent despite an error. A draft that no longer exists is [ClassGone].
func (c *Client) SendDraft(ctx context.Context, id string) (MessageRef, error) {
	var m *api.Message
	err := c.do(ctx, MethodSendDraft, "send draft "+id, ClassGone, func(ctx context.Context) (err error) {
		m, err = c.service.Users.Drafts.Send(c.user, &api.Draft{Id: id}).Context(ctx).Do()
		return err
	})
	return refOf(m), err
}

// DeleteDraft deletes a draft for ever. A draft that is no more is [ClassGone].
func (c *Client) DeleteDraft(ctx context.Context, id string) error {
	return c.do(ctx, MethodDeleteDraft, "delete draft "+id, ClassGone, func(ctx context.Context) error {
		return c.service.Users.Drafts.Delete(c.user, id).Context(ctx).Do()
	})
}

// gone turns the 404 of an upload into that of a message.
func gone(err error) error {
	if e, ok := err.(*Error); ok && e.Class == ClassNotFound { //nolint:errorlint // do returns it bare
		e.Class = ClassGone
	}
	return err
}
