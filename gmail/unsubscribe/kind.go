package unsubscribe

import (
	"context"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
)

// Kind returns the kind of action that leaves the list of its message. It is dangerous: who is subscribed again has to
// ask the list, so a person is asked before.
func (l *Leaver) Kind() postroom.Kind {
	return postroom.Kind{
		Type:    ActionType,
		Summary: "leave the mailing list by the one click that it offers (RFC 8058)",
		Danger:  postroom.Dangerous,
		Handler: l.handle,
	}
}

// handle leaves the list of an action's message.
func (l *Leaver) handle(ctx context.Context, _ postroom.Run, a postroom.Action) (postroom.Outcome, error) {
	msg, err := l.cfg.Messages.Message(ctx, a.AccountID, a.MessageID)
	if err != nil {
		return postroom.Outcome{}, err
	}
	if msg == nil {
		return postroom.Outcome{}, queue.Fatal(ErrNotOffered)
	}
	receipt, err := l.Leave(ctx, l.Read(msg))
	if err != nil {
		return postroom.Outcome{}, err
	}
	return postroom.Outcome{Undo: postroom.Parameters{"host": receipt.Host, "status": receipt.Status}}, nil
}
