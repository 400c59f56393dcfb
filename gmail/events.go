package gmail

import (
	"context"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
)

// A LabelsEvent is a change of a stored message's labels at Gmail, by a person or another program. A change by an action or an
// undo of this program is stored when it is made, and is no event.
type LabelsEvent struct {
	AccountID  string
	MessageID  string // ours, a UUID
	ProviderID string // Gmail's
	Source     ChangeSource
	Change     postroom.LabelChange // relative to the stored labels
	Labels     postroom.Snapshot    // afterwards
}

// A DeletedEvent is the permanent deletion of a stored message at Gmail, by a person, another program, or Gmail itself, which
// empties the trash. A deletion by an action of this program is no event. Moving a message to the trash is a LabelsEvent.
type DeletedEvent struct {
	AccountID  string
	MessageID  string // ours, a UUID
	ProviderID string // Gmail's
	Source     ChangeSource
}

// A ChangeSource is the way by which a change was learned of.
type ChangeSource string

// The sources of a change.
const (
	SourceHistory   ChangeSource = "history"
	SourceReconcile ChangeSource = "reconcile" // changes in a gap of the history
	SourceIngest    ChangeSource = "ingest"    // Gmail did not have the message when it was fetched
	SourceAction    ChangeSource = "action"    // Gmail did not have the message when it was to be changed
)

func (j *jobs) labelsChanged(ctx context.Context, tx queue.Tx, e LabelsEvent) error {
	if j.OnLabelsChanged == nil || e.Change.IsZero() {
		return nil
	}
	return j.OnLabelsChanged(ctx, tx, e)
}

// deleted marks a message as deleted and reports whether it was stored and not deleted before.
func (j *jobs) deleted(ctx context.Context, tx queue.Tx, accountID, providerID string, source ChangeSource) (bool, error) {
	id, err := j.Store.Copies().MarkDeleted(ctx, tx, accountID, providerID)
	if err != nil || id == "" {
		return false, err
	}
	return true, j.messageDeleted(ctx, tx, DeletedEvent{AccountID: accountID, MessageID: id, ProviderID: providerID, Source: source})
}

// foundGone is deleted for a message that was to be changed.
func (j *jobs) foundGone(ctx context.Context, tx queue.Tx, accountID, messageID string) error {
	providerID, err := j.Store.Copies().MarkDeletedByID(ctx, tx, accountID, messageID)
	if err != nil || providerID == "" {
		return err
	}
	return j.messageDeleted(ctx, tx, DeletedEvent{AccountID: accountID, MessageID: messageID, ProviderID: providerID, Source: SourceAction})
}

func (j *jobs) messageDeleted(ctx context.Context, tx queue.Tx, e DeletedEvent) error {
	if j.OnDeleted == nil {
		return nil
	}
	return j.OnDeleted(ctx, tx, e)
}
