package gmailapi

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	api "google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom"
)

// A MessageRef names a message at Gmail.
type MessageRef struct {
	ID       string
	ThreadID string
}

func refOf(m *api.Message) MessageRef {
	if m == nil {
		return MessageRef{}
	}
	return MessageRef{ID: m.Id, ThreadID: m.ThreadId}
}

// Send sends a message in the form of RFC 5322, as it is, in the thread if one is named. Gmail puts it there only if it
// also answers a message of the thread (In-Reply-To, References) and has the thread's subject.
//
// An error of class [ClassNetwork], [ClassServer] or [ClassAnswer] does not say that nothing was sent. Look with
// [Client.FindSent] before you send again; the job outbound.send does all that.
func (c *Client) Send(ctx context.Context, raw []byte, threadID string) (MessageRef, error) {
	var m *api.Message
	err := c.doUpload(ctx, MethodSend, "send message", raw, func(ctx context.Context) (err error) {
		reader, options := media(raw)
		m, err = c.service.Users.Messages.Send(c.user, &api.Message{ThreadId: threadID}).Media(reader,
			options...).Context(ctx).Do()
		return err
	})
	return refOf(m), err
}

// CanBeFound reports whether a search finds messages by the Message-ID.
func CanBeFound(id string) bool { return id != "" && !strings.ContainsAny(id, " \"<>(){}") }

// FindSent looks for a message in the sent mail by its Message-ID, without angle brackets. It uses Gmail's search,
// which may find a message only some time after it was sent. With a history id from before the sending it then also
// reads the history, which has no such delay, as far as Gmail still has it. It makes one call, or a few with a
// history id.
//
// If it does not find the message, and one that it may have been is gone from the mailbox, the error matches
// [postroom.ErrMessageGone]: it cannot be told any more whether the message was sent.
func (c *Client) FindSent(ctx context.Context, messageID string, since uint64) (found MessageRef, ok bool, err error) {
	const op = "find sent message"
	if !CanBeFound(messageID) {
		fault := fmt.Errorf("%q is not a message id without angle brackets", messageID)
		return MessageRef{}, false, &Error{Op: op, Class: ClassInvalid, Err: fault}
	}
	candidates, err := c.maybeSent(ctx, messageID, since)
	if err != nil {
		return MessageRef{}, false, err
	}
	gone := false
	for _, candidate := range candidates {
		header, err := c.Header(ctx, candidate.ID)
		switch {
		case errors.Is(err, postroom.ErrMessageGone):
			gone = true // and its Message-ID with it
		case err != nil:
			return MessageRef{}, false, err
		case header.MessageID == messageID && slices.Contains(header.LabelIDs, postroom.LabelSent):
			return MessageRef{ID: candidate.ID, ThreadID: header.threadID}, true, nil
		}
	}
	if gone {
		fault := errors.New("a message that was sent since is no longer in the mailbox, and may have been this one")
		return MessageRef{}, false, &Error{Op: op, Class: ClassGone, Err: fault,
			Hint: "ask the recipients before you send it again"}
	}
	return MessageRef{}, false, nil
}

// maybeSent returns the messages of which one may be the one that was sent, if it was.
func (c *Client) maybeSent(ctx context.Context, messageID string, since uint64) ([]MessageRef, error) {
	candidates, err := c.search(ctx, "rfc822msgid:"+messageID, true)
	if err != nil || since == 0 {
		return candidates, err
	}
	sent, err := c.AddedSince(ctx, since, postroom.LabelSent)
	return append(candidates, sent...), err
}

// FindDraft is FindSent for a draft.
func (c *Client) FindDraft(ctx context.Context, messageID string, since uint64) (DraftRef, bool, error) {
	page, err := c.ListDrafts(ctx, "rfc822msgid:"+messageID, "")
	if err != nil || len(page.Drafts) > 0 {
		return firstDraft(page), err == nil, err
	}
	if since == 0 {
		return DraftRef{}, false, nil
	}
	came, err := c.AddedSince(ctx, since, postroom.LabelDraft)
	for _, m := range came {
		header, err := c.Header(ctx, m.ID)
		if errors.Is(err, postroom.ErrMessageGone) || err == nil && header.MessageID != messageID {
			continue
		}
		if err != nil {
			return DraftRef{}, false, err
		}
		return c.draftOfMessage(ctx, m.ID)
	}
	return DraftRef{}, false, err
}

func firstDraft(page DraftPage) DraftRef {
	if len(page.Drafts) == 0 {
		return DraftRef{}
	}
	return page.Drafts[0]
}

// draftOfMessage finds the draft that is the message at present.
func (c *Client) draftOfMessage(ctx context.Context, id string) (DraftRef, bool, error) {
	for token := ""; ; {
		page, err := c.ListDrafts(ctx, "", token)
		if err != nil {
			return DraftRef{}, false, err
		}
		for _, d := range page.Drafts {
			if d.Message.ID == id {
				return d, true, nil
			}
		}
		if token = page.NextPageToken; token == "" {
			return DraftRef{}, false, nil
		}
	}
}

// search returns the messages that a search finds on its first page.
func (c *Client) search(ctx context.Context, query string, spamTrash bool) (found []MessageRef, err error) {
	err = c.do(ctx, MethodListMessages, "search messages", ClassNotFound, func(ctx context.Context) error {
		answer, err := c.service.Users.Messages.List(c.user).Q(query).IncludeSpamTrash(spamTrash).Context(ctx).Do()
		if err != nil {
			return err
		}
		for _, m := range answer.Messages {
			found = append(found, refOf(m))
		}
		return nil
	})
	return found, err
}

// AddedSince returns the messages with the label that came after the history id, or all that came if the label is
// empty; none where Gmail has forgotten.
func (c *Client) AddedSince(ctx context.Context, since uint64, label string) (came []MessageRef, err error) {
	for token := ""; ; {
		var answer *api.ListHistoryResponse
		err := c.do(ctx, MethodListHistory, "list history", ClassHistoryExpired, func(ctx context.Context) (err error) {
			call := c.service.Users.History.List(c.user).StartHistoryId(since).HistoryTypes("messageAdded")
			if label != "" {
				call.LabelId(label)
			}
			if token != "" {
				call.PageToken(token)
			}
			answer, err = call.MaxResults(historyPageSize).Context(ctx).Do()
			return err
		})
		switch {
		case ClassOf(err) == ClassHistoryExpired:
			return came, nil
		case err != nil:
			return nil, err
		}
		for _, record := range answer.History {
			for _, added := range record.MessagesAdded {
				came = append(came, refOf(added.Message))
			}
		}
		if token = answer.NextPageToken; token == "" {
			return came, nil
		}
	}
}

// A MessageHeader has the fields that identify a message.
type MessageHeader struct {
	MessageID string // without angle brackets
	threadID  string
	LabelIDs  []string
}

// Header returns the header of a message, without its body.
func (c *Client) Header(ctx context.Context, id string) (h MessageHeader, err error) {
	err = c.do(ctx, MethodGetMessage, "get header of message "+id, ClassGone, func(ctx context.Context) error {
		m, err := c.service.Users.Messages.Get(c.user, id).Format("metadata").MetadataHeaders("Message-ID").Context(ctx).Do()
		if err != nil {
			return err
		}
		h = headerOf(m)
		return nil
	})
	return h, err
}

func headerOf(m *api.Message) MessageHeader {
	h := MessageHeader{threadID: m.ThreadId, LabelIDs: m.LabelIds}
	if m.Payload == nil {
		return h
	}
	for _, f := range m.Payload.Headers {
		if strings.EqualFold(f.Name, "Message-ID") {
			h.MessageID = strings.Trim(strings.TrimSpace(f.Value), "<>")
			break
		}
	}
	return h
}

// A SendAs is an address that the mailbox may send from.
type SendAs struct {
	Email     string
	Name      string // may be empty
	ReplyTo   string // where answers go; empty: to Email
	Signature string // HTML; may be empty
	Primary   bool   // the mailbox's own address
}

// ListSendAs lists the addresses that the mailbox may send from, those that have not been verified left out.
func (c *Client) ListSendAs(ctx context.Context) (addresses []SendAs, err error) {
	err = c.do(ctx, MethodListSendAs, "list the addresses to send from", ClassNotFound, func(ctx context.Context) error {
		answer, err := c.service.Users.Settings.SendAs.List(c.user).Context(ctx).Do()
		if err != nil {
			return err
		}
		for _, a := range answer.SendAs {
			if a.IsPrimary || a.VerificationStatus == "accepted" {
				addresses = append(addresses, SendAs{Email: a.SendAsEmail, Name: a.DisplayName, ReplyTo: a.ReplyToAddress,
					Signature: a.Signature, Primary: a.IsPrimary})
			}
		}
		return nil
	})
	return addresses, err
}

// A StoredAttachment is a file of a message at Gmail.
type StoredAttachment struct {
	// ID is for [Client.GetAttachment]. Gmail gives another one each time: do not store it. Empty if the file is so
	// small that Gmail does not store it separately; [Client.GetRaw] has it.
	ID          string
	PartID      string // within the message
	Filename    string
	ContentType string
	Size        int64
}

// ListAttachments lists the files of a message: the parts that have a name.
func (c *Client) ListAttachments(ctx context.Context, messageID string) (files []StoredAttachment, err error) {
	err = c.do(ctx, MethodGetMessage, "list attachments of message "+messageID, ClassGone,
		func(ctx context.Context) error {
			m, err := c.service.Users.Messages.Get(c.user, messageID).Format("full").Context(ctx).Do()
			if err == nil {
				files = filesOf(m.Payload, nil)
			}
			return err
		})
	return files, err
}

func filesOf(part *api.MessagePart, files []StoredAttachment) []StoredAttachment {
	if part == nil {
		return files
	}
	if part.Filename != "" && part.Body != nil {
		files = append(files, StoredAttachment{
			ID: part.Body.AttachmentId, PartID: part.PartId, Filename: part.Filename, ContentType: part.MimeType,
			Size: part.Body.Size,
		})
	}
	for _, p := range part.Parts {
		files = filesOf(p, files)
	}
	return files
}

// GetAttachment fetches the content of a file of a message, by an id of [Client.ListAttachments].
func (c *Client) GetAttachment(ctx context.Context, messageID, attachmentID string) (content []byte, err error) {
	op := "get attachment of message " + messageID
	if attachmentID == "" {
		return nil, &Error{Op: op, Class: ClassInvalid,
			Err: errors.New("the id is empty: Gmail keeps the file within the message; use GetRaw")}
	}
	err = c.do(ctx, MethodGetAttachment, op, ClassGone, func(ctx context.Context) error {
		body, err := c.service.Users.Messages.Attachments.Get(c.user, messageID, attachmentID).Context(ctx).Do()
		if err != nil {
			return err
		}
		content, err = base64.RawURLEncoding.DecodeString(strings.TrimRight(body.Data, "="))
		return err
	})
	return content, err
}
