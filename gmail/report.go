package gmail

import (
	"context"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
)

// labelsChanged stores that a change was made by hand, and reports it to the host.
func (j *jobs) labelsChanged(ctx context.Context, tx queue.Tx, e LabelsEvent) error {
	if e.Change.IsZero() {
		return nil
	}
	err := j.Store.Copies().NoteByHand(ctx, tx, e.MessageID, e.Change)
	if err != nil || j.OnLabelsChanged == nil {
		return err
	}
	if e.ThreadID, err = j.Store.Copies().ProviderThreadID(ctx, tx, e.AccountID, e.MessageID); err != nil {
		return err
	}
	return j.OnLabelsChanged(ctx, tx, e)
}

// acted reports an action that was carried out to the host.
func (j *jobs) acted(ctx context.Context, tx queue.Tx, a postroom.Action) error {
	if j.OnActed == nil {
		return nil
	}
	threadID, err := j.Store.Copies().ProviderThreadID(ctx, tx, a.AccountID, a.MessageID)
	if err != nil {
		return err
	}
	return j.OnActed(ctx, tx, a, threadID)
}

// deleted marks a message as deleted, by Gmail's id, and reports whether it was stored and not deleted before.
func (j *jobs) deleted(ctx context.Context, tx queue.Tx, e DeletedEvent) (bool, error) {
	id, err := j.Store.Copies().MarkDeleted(ctx, tx, e.AccountID, e.ProviderID)
	if err != nil || id == "" {
		return false, err
	}
	e.MessageID = id
	return true, j.messageDeleted(ctx, tx, e)
}

// foundGone marks a message as deleted that Gmail no longer had when it was to be changed.
func (j *jobs) foundGone(ctx context.Context, tx queue.Tx, accountID, messageID string) error {
	providerID, err := j.Store.Copies().MarkDeletedByID(ctx, tx, accountID, messageID)
	if err != nil || providerID == "" {
		return err
	}
	return j.messageDeleted(ctx, tx, DeletedEvent{AccountID: accountID, MessageID: messageID, ProviderID: providerID,
		Source: SourceAction})
}

func (j *jobs) messageDeleted(ctx context.Context, tx queue.Tx, e DeletedEvent) error {
	if j.OnDeleted == nil {
		return nil
	}
	var err error
	if e.ThreadID, err = j.Store.Copies().ProviderThreadID(ctx, tx, e.AccountID, e.MessageID); err != nil {
		return err
	}
	return j.OnDeleted(ctx, tx, e)
}
