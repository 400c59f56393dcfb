package gmail

import (
	"time"

	"github.com/postroom-go/postroom"
)

// A LabelsEvent is a change of a stored message's labels at Gmail, by a person or another program. A change by an
// action or an undo of this program is stored when it is made, and is no event.
type LabelsEvent struct {
	AccountID  string
	MessageID  string // ours, a UUID
	ProviderID string // Gmail's
	ThreadID   string // Gmail's
	Source     ChangeSource
	// HistoryID is Gmail's id of the change; of several that are one event, the last. In a reconciliation it is that of
	// the latest change of the message, which may be another one.
	HistoryID uint64
	Change    postroom.LabelChange // relative to the stored labels
	Labels    postroom.Snapshot    // afterwards
}

// A DeletedEvent is the permanent deletion of a stored message at Gmail, by a person, another program, or Gmail
// itself, which empties the trash. A deletion by an action of this program is no event. Moving a message to the trash
// is a LabelsEvent.
type DeletedEvent struct {
	AccountID  string
	MessageID  string // ours, a UUID
	ProviderID string // Gmail's
	ThreadID   string // Gmail's
	Source     ChangeSource
	HistoryID  uint64 // Gmail's id of the deletion; 0 if the Source is not SourceHistory
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

// A Reconciliation is a comparison of the stored messages of an account with the mailbox, and its corrections. It
// lists the ids of all messages, and those of each label; each difference is verified by reading the message. Changes
// after HistoryID are left to the history.
type Reconciliation struct {
	AccountID string
	Cause     ReconcileCause
	HistoryID uint64 // of the mailbox before it was listed

	Listed     int // messages of the mailbox
	Added      int // messages that were missing here, and for which ingest jobs were enqueued
	Relabelled int // messages that had other labels here
	Deleted    int // messages that Gmail no longer has
	Restored   int // messages that were marked as deleted here, and are not

	StartedAt  time.Time
	FinishedAt time.Time // zero while it runs
}

// Differences returns the number of messages that were not stored as they are at Gmail.
func (r Reconciliation) Differences() int { return r.Added + r.Relabelled + r.Deleted + r.Restored }

// A ReconcileCause is the reason for a reconciliation.
type ReconcileCause string

// The causes of a reconciliation.
const (
	ReconcileGap   ReconcileCause = "gap"   // Gmail had no history from the cursor on
	ReconcileCheck ReconcileCause = "check" // a job made by NewReconcileJob
)
