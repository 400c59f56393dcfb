package gmailapi

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"html"
	"strings"
	"time"

	api "google.golang.org/api/gmail/v1"
	"google.golang.org/api/googleapi"
)

// endOfTime is the last second of the year 9999; a later date is not believed.
const endOfTime = 253402300799

// A RawMessage is a message as Gmail stores it: the bytes that arrived, and Gmail's data about them.
type RawMessage struct {
	ID         string
	ThreadID   string
	LabelIDs   []string
	Snippet    string    // plain text, without HTML entities
	HistoryID  uint64    // of the message's latest change
	ReceivedAt time.Time // Gmail's internalDate; zero when it is missing or cannot be read
	// Encoded is the message in base64url as it came over the wire; see [RawMessage.Bytes].
	Encoded string
}

// GetRaw fetches one message.
func (c *Client) GetRaw(ctx context.Context, id string) (*RawMessage, error) {
	m, err := c.getRaw(ctx, id)
	if ClassOf(err) == ClassAnswer {
		// QUIRK: internalDate is a number in a string, and an answer in which it is not one fails to decode as a whole.
		// The mail matters more than its date: ask again for all but that.
		m, err = c.getRaw(ctx, id, "id", "threadId", "labelIds", "snippet", "historyId", "raw")
	}
	if err != nil {
		return nil, err
	}
	raw := &RawMessage{
		ID: m.Id, ThreadID: m.ThreadId, LabelIDs: m.LabelIds, HistoryID: m.HistoryId,
		Snippet: html.UnescapeString(m.Snippet), Encoded: m.Raw,
	}
	if m.InternalDate > 0 && m.InternalDate/1000 < endOfTime {
		raw.ReceivedAt = time.UnixMilli(m.InternalDate).UTC()
	}
	return raw, nil
}

func (c *Client) getRaw(ctx context.Context, id string, fields ...googleapi.Field) (*api.Message, error) {
	var m *api.Message
	err := c.do(ctx, MethodGetMessage, "get message "+id, ClassGone, func(ctx context.Context) (err error) {
		call := c.service.Users.Messages.Get(c.user, id).Format("raw").Context(ctx)
		if len(fields) > 0 {
			call.Fields(fields...)
		}
		m, err = call.Do()
		return err
	})
	return m, err
}

// Bytes decodes the message: base64 of either alphabet, padded or not.
func (m *RawMessage) Bytes() ([]byte, error) {
	if m.Encoded == "" {
		return nil, errors.New("gmail: the answer holds no message")
	}
	text := strings.TrimRight(m.Encoded, "=")
	encoding := base64.RawURLEncoding
	if strings.ContainsAny(text, "+/") {
		encoding = base64.RawStdEncoding
	}
	raw, err := encoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("gmail: the message is not base64: %w", err)
	}
	return raw, nil
}
