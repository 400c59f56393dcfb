package pipeline

import (
	"context"
	"errors"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
)

// Preview returns the message that an action sends, whose bytes are fixed from then on; nil if the action sends none.
// A message that must not be sent is an error of gmailapi.ClassRefused.
func (p *Pipeline) Preview(ctx context.Context, a postroom.Action) (*outbox.Preview, error) {
	if !p.sends(a) {
		return nil, nil //nolint:nilnil // most actions send nothing
	}
	preview, err := p.Outbox.Preview(ctx, a)
	if err != nil {
		return nil, err
	}
	return &preview, nil
}

func (p *Pipeline) sends(a postroom.Action) bool {
	kind, _ := p.cfg.Kinds.Kind(a.Type)
	return p.Outbox != nil && kind.Job == string(outbox.JobSend)
}

// ErrSendsNothing is the error of an edit of an action that sends no message.
var ErrSendsNothing = errors.New("it sends no message")

// Edit changes what a waiting action sends, on the word of a person who was shown the request as shown. That request
// ends, and Edit returns the one in its place, which waits: nothing is approved yet. The errors are those of
// [safety.Editor] and [outbox.Outbox.Edit], and [ErrSendsNothing].
func (p *Pipeline) Edit(ctx context.Context, shown safety.Approval, by string, edit outbox.Edit) (
	next safety.Approval, err error) {
	a, err := p.Ledger.Action(ctx, shown.ActionID)
	if err != nil {
		return next, err
	}
	if !p.sends(a) {
		return next, fmt.Errorf("action %s: %s: %w", a.ID, a.Type, ErrSendsNothing)
	}
	editor := safety.NewEditor(p.Ledger)
	if a, err = editor.Action(ctx, shown, by); err != nil {
		return next, err
	}
	_, err = p.Outbox.Edit(ctx, a, edit, func(ctx context.Context, tx queue.Tx, sha256 string) (err error) {
		next, err = editor.Edit(ctx, tx, shown, by, sha256)
		return err
	})
	if gmailapi.ClassOf(err) == gmailapi.ClassRefused {
		if _, late := editor.Action(ctx, shown, by); late != nil { // somebody else was faster
			err = late
		}
	}
	return next, err
}

// FreezeContent composes the message of an action that waits for approval, so that the approval covers its bytes. Call
// it before an approval whose message was not shown.
func (p *Pipeline) FreezeContent(ctx context.Context, actionID string) error {
	a, err := p.Ledger.Action(ctx, actionID)
	if err != nil || a.State != postroom.ActionPendingApproval {
		return err
	}
	_, err = p.Preview(ctx, a)
	return err
}
