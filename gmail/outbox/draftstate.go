package outbox

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
)

// vanished finds out what happened to a draft that Gmail does not have. It returns cause once that is known.
func (d *Drafts) vanished(ctx context.Context, client *gmailapi.Client, row *draftRow, cause error) (Draft, error) {
	if err := d.settle(ctx, client, row); err != nil {
		return row.draft(), err
	}
	return row.draft(), cause
}

// lookForCreated looks for a draft that an earlier call may have made.
func (d *Drafts) lookForCreated(ctx context.Context, client *gmailapi.Client, row *draftRow) (found bool, err error) {
	if row.OpenUntil.IsZero() {
		return false, nil
	}
	now, err := d.rows().now(ctx)
	if err != nil {
		return false, err
	}
	made, found, err := client.FindDraft(ctx, row.MessageID, uint64(row.HistoryID))
	switch wait := row.OpenUntil.Sub(now); {
	case err != nil:
		return false, err
	case found:
		return true, d.opened(ctx, row, made)
	case wait > 0:
		return false, row.unclear(errors.New("the draft is not found, and may still come"), wait)
	}
	return false, nil
}

// settle finds out the state of a draft that may have changed at Gmail.
func (d *Drafts) settle(ctx context.Context, client *gmailapi.Client, row *draftRow) error {
	switch row.State {
	case DraftSent, DraftDeleted:
		return nil
	case DraftCreating:
		found, err := d.lookForCreated(ctx, client, row)
		if err == nil && !found {
			err = row.not("use")
		}
		return err
	}
	now, err := d.rows().now(ctx)
	if err != nil {
		return err
	}
	_, messageID, err := client.GetDraft(ctx, row.ID)
	switch wait := row.OpenUntil.Sub(now); {
	case gmailapi.ClassOf(err) == gmailapi.ClassGone:
		return d.settleGone(ctx, client, row)
	case err != nil:
		return err
	case row.State == DraftSending && wait > 0:
		return row.unclear(errors.New("the draft is still there, and may be sent yet"), wait)
	case row.State == DraftSending || !row.OpenUntil.IsZero() || messageID != "" && messageID != row.MessageID:
		row.State, row.MessageID = DraftOpen, cmp.Or(messageID, row.MessageID)
		return d.rows().saveDraft(ctx, row, 0)
	}
	return nil
}

// settleGone finds out whether a draft that no longer exists was sent. A message that Gmail does not show yet is not
// known to be deleted.
func (d *Drafts) settleGone(ctx context.Context, client *gmailapi.Client, row *draftRow) error {
	now, err := d.rows().now(ctx)
	if err != nil {
		return err
	}
	sent, found, err := client.FindSent(ctx, row.MessageID, uint64(row.HistoryID))
	switch {
	case err != nil && gmailapi.ClassOf(err) != gmailapi.ClassGone: // sentInThread finds one that was sent and is gone
		return err
	case found:
		return d.sent(ctx, row, sent)
	case row.OpenUntil.IsZero():
		err := d.rows().saveDraft(ctx, row, d.Settle)
		return errors.Join(row.unclear(errors.New("the draft is gone, and it is not known whether it was sent"), d.Settle),
			err)
	case row.OpenUntil.After(now):
		return row.unclear(errors.New("the draft is gone, and it is not known whether it was sent"), row.OpenUntil.Sub(now))
	}
	if row.SentMessageID, err = d.sentInThread(ctx, client, row); err != nil {
		return err
	}
	row.State = DraftDeleted
	return d.rows().saveDraft(ctx, row, 0)
}

// sentInThread returns the id of a message that was sent in the thread of the draft since it was made; empty if there
// is none.
func (d *Drafts) sentInThread(ctx context.Context, client *gmailapi.Client, row *draftRow) (string, error) {
	sent, err := client.AddedSince(ctx, uint64(row.HistoryID), postroom.LabelSent)
	i := slices.IndexFunc(sent, func(m gmailapi.MessageRef) bool { return m.ThreadID == row.ThreadID })
	if err != nil || i < 0 {
		return "", err
	}
	return sent[i].ID, nil
}
