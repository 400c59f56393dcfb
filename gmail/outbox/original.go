package outbox

import (
	"context"
	"errors"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/mime"
)

// An original is the message that another is about, as it came.
type original struct {
	raw     []byte
	parsed  *mime.Message
	message *postroom.Message // as a sync would store it
}

// fetch reads the original from Gmail: the message of the decision.
func (o *Outbox) fetch(ctx context.Context, client *gmailapi.Client, a postroom.Action) (*original, error) {
	id, err := o.Store.Copies().ProviderID(ctx, a.AccountID, a.MessageID)
	if errors.Is(err, postroom.ErrNotFound) {
		err = &gmailapi.Error{Op: "find message", Class: gmailapi.ClassNotFound, Err: err}
	}
	if err == nil {
		err = mailstore.CheckProviderID(a, id)
	}
	if err != nil {
		return nil, err
	}
	return readOriginal(ctx, client, a, id, o.MailLimits)
}

// readOriginal reads the message of an action from Gmail, by Gmail's id.
func readOriginal(ctx context.Context, client *gmailapi.Client, a postroom.Action, id string,
	limits *mime.Limits) (*original, error) {
	m, err := client.GetRaw(ctx, id)
	if err != nil {
		return nil, err
	}
	raw, err := m.Bytes()
	if err != nil {
		return nil, &gmailapi.Error{Op: "read the original " + id, Class: gmailapi.ClassAnswer, Err: err}
	}
	parsed, err := mime.ParseBytes(raw, limits)
	if err != nil {
		return nil, err
	}
	m.ID = id
	msg := mailstore.NewMessage(a.AccountID, m, parsed)
	msg.ID = a.MessageID
	return &original{raw: raw, parsed: parsed, message: msg}, nil
}

// ReadMessage reads the message of an action from Gmail, by Gmail's id: what a sync would store.
func ReadMessage(ctx context.Context, client *gmailapi.Client, a postroom.Action, id string,
	limits *mime.Limits) (*postroom.Message, error) {
	o, err := readOriginal(ctx, client, a, id, limits)
	if err != nil {
		return nil, err
	}
	return o.message, nil
}
