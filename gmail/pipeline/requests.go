package pipeline

import (
	"context"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/outbox"
)

// Preview returns the message that an action sends, whose bytes are fixed from then on; nil if the action sends none.
// A message that must not be sent is an error of gmailapi.ClassRefused.
func (p *Pipeline) Preview(ctx context.Context, a postroom.Action) (*outbox.Preview, error) {
	if kind, _ := p.cfg.Kinds.Kind(a.Type); p.Outbox == nil || kind.Job != string(outbox.JobSend) {
		return nil, nil //nolint:nilnil // most actions send nothing
	}
	preview, err := p.Outbox.Preview(ctx, a)
	if err != nil {
		return nil, err
	}
	return &preview, nil
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
