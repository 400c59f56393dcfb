package gmail

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/queue"
)

// unsnooze puts a snoozed message back into the inbox.
//
// It takes the turn of the message, as actions do: a wake-up before the effect of its snooze, or of the undo of its
// undo, would be none, and a snooze that is executed beside it would be lost. See [jobs.startWakeUp].
func (j *jobs) unsnooze(ctx context.Context, w *queue.Work[UnsnoozePayload]) (err error) {
	if err := j.Ledger.Held(ctx); err != nil {
		return whileHeld(w.Job.Interruptions, err)
	}
	sleep, err := j.startWakeUp(ctx, w)
	switch {
	case err != nil:
		return err
	case sleep.Over:
		return queue.Cancel(errors.New("gmail: the snooze has been undone, or another wake-up has woken its message"))
	}
	defer func() { j.hastenNext(ctx, w.Attempt, w.Payload.AccountID, w.Payload.MessageID, err) }()
	if err := putOff(ctx, w, sleep.Later); err != nil {
		return j.stopWakeUp(ctx, w, err)
	}
	if err := j.wake(ctx, w, sleep.Turn); err != nil {
		return j.wakeFailed(ctx, w, sleep.Turn, err)
	}
	return nil
}

// wake changes the message, and completes the job. A wake-up without a turn is not recorded.
func (j *jobs) wake(ctx context.Context, w *queue.Work[UnsnoozePayload], turn int64) error {
	p := w.Payload
	known, err := j.Store.Copies().Copy(ctx, p.AccountID, p.MessageID)
	if err != nil {
		return err
	}
	woken, err := j.putBack(ctx, w, turn, known.ProviderID)
	gone := errors.Is(err, postroom.ErrMessageGone)
	if err != nil && !gone {
		return err
	}
	if gone {
		w.SetResult(map[string]string{"skipped": "the message is gone from Gmail"})
	}
	return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
		if err := j.endWakeUp(ctx, tx, w, turn, woken, gone); err != nil {
			return err
		}
		if gone {
			return j.foundGone(ctx, tx, p.AccountID, p.MessageID)
		}
		return j.Store.Copies().StoreOwnChange(ctx, tx, p.AccountID, known, needed(woken.Change, woken.Before), woken.After)
	})
}

// refusedDelay is the wait after Gmail has refused to wake a message: 1000 attempts make six weeks.
const refusedDelay = time.Hour

// wakeVerdict is [gmailapi.Verdict], but retries errors that are fatal to other jobs and may be temporary: an
// administrator switches the API off and on again, a person grants a scope, a label is deleted between two calls. A
// message that is not woken is out of sight.
func wakeVerdict(err error) error {
	switch gmailapi.ClassOf(err) {
	case gmailapi.ClassForbidden, gmailapi.ClassInvalid:
		return queue.RetryAfter(err, refusedDelay)
	}
	return gmailapi.Verdict(err)
}

// asleep returns the label under which the message of a wake-up sleeps: that of its snooze, if the ledger vouches for
// it; the job is a row, which anybody can write. A snooze that has failed, or that is from before there were
// signatures, has none that is signed: then it is the label that the settings name, and only a message that Gmail has
// under it sleeps.
func (j *jobs) asleep(ctx context.Context, client *gmailapi.Client, p UnsnoozePayload) (label string,
	sure bool, err error) {
	snooze, err := j.snoozeOf(ctx, p)
	if err != nil {
		return "", false, err
	}
	if snooze != nil && snooze.Verified && snooze.Action.State == postroom.ActionCompleted {
		if label, sure = snooze.Action.UndoHint.InverseParameters.Text(paramSnoozeLabel); sure {
			return label, true, nil
		}
	}
	labels, err := client.ListLabels(ctx)
	i := slices.IndexFunc(labels, func(l postroom.Label) bool { return gmailapi.SameLabelName(l.Name, j.SnoozeLabel) })
	if err != nil || i < 0 {
		return "", false, err
	}
	return labels[i].ID, false, nil
}

// putBack changes the message at Gmail. One that somebody has thrown away stays there, and one that is in the inbox
// already only loses the label. The label may be gone from Gmail, and with it from the message.
func (j *jobs) putBack(ctx context.Context, w *queue.Work[UnsnoozePayload], turn int64,
	id string) (woken postroom.WakeUp, err error) {
	_, client, err := j.open(ctx, w.Payload.AccountID)
	if err != nil {
		return woken, err
	}
	fresh := false
	defer func() { err = ofTurn(err, fresh) }()
	if woken.Before, woken.After, fresh, err = imagesOf(ctx, w, client, turn, id); err != nil {
		return woken, err
	}
	label, sure, err := j.asleep(ctx, client, w.Payload)
	if err != nil {
		return woken, err
	}
	if !sure && !woken.Before.Has(label) {
		j.Logger.WarnContext(ctx,
			"a wake-up has no signed snooze, and Gmail does not have its message under the snooze label: look for it, if it is not awake already",
			"account_id", w.Payload.AccountID, "message", id, "label", j.SnoozeLabel)
		return woken, nil
	}
	woken.Change = remove(label)
	if !woken.After.Has(postroom.LabelTrash) && !woken.After.Has(postroom.LabelSpam) {
		woken.Change.Add = []string{postroom.LabelInbox}
	}
	if change := needed(woken.Change, woken.After); !change.IsZero() {
		woken.After, err = applyChange(ctx, client, id, change)
	}
	return woken, err
}

// imagesOf returns the message before the first attempt of the turn, which a step stores, and as it is now. Without a
// turn the two are the same. fresh reports that this is the first attempt.
func imagesOf(
	ctx context.Context, w *queue.Work[UnsnoozePayload], client *gmailapi.Client, turn int64, id string,
) (before, now postroom.Snapshot, fresh bool, err error) {
	read := func(ctx context.Context) (image postroom.Snapshot, err error) {
		now, err = client.GetImage(ctx, id)
		return now, err
	}
	if turn == 0 {
		before, err = read(ctx)
		return before, now, true, err
	}
	before, err = queue.Step(ctx, w, fmt.Sprintf("%s %d", stepBefore, turn),
		func(ctx context.Context) (postroom.Snapshot, error) {
			fresh = true
			return read(ctx)
		})
	if err == nil && !fresh {
		_, err = read(ctx)
	}
	return before, now, fresh, err
}

// ofTurn returns an error as one of all attempts of a turn: an [*untouchedError] if it is the first, and Gmail was
// not asked for the change, or has refused.
func ofTurn(err error, fresh bool) error {
	if own, ok := errors.AsType[*untouchedError](err); ok {
		err = own.error
	}
	switch class := gmailapi.ClassOf(err); {
	case err == nil, !fresh:
		return err
	case class == "", class == gmailapi.ClassServer, class == gmailapi.ClassNetwork, class == gmailapi.ClassAnswer:
		return err
	}
	return &untouchedError{err}
}

// wakeOnReply wakes the snoozed messages of a thread that has received an answer: their jobs are replaced by ones
// that are due at once.
func wakeOnReply(ctx context.Context, tx queue.Tx, q *queue.Queue, sleeping []queue.Job) error {
	for i := range sleeping {
		switch err := q.CancelTx(ctx, tx, sleeping[i].ID); {
		case errors.Is(err, queue.ErrFinished), errors.Is(err, queue.ErrJobNotFound):
			continue // it is awake, or its snooze has been undone
		case err != nil:
			return err
		}
		_, err := q.EnqueueTx(ctx, tx, queue.NewJob{Type: sleeping[i].Type, Payload: sleeping[i].Payload,
			Options: queue.Options{
				MaxAttempts: wakeAttempts, Key: queue.WhileUnfinished(sleeping[i].Key.Name), Tags: sleeping[i].Tags,
				LimitKey: sleeping[i].LimitKey,
			}})
		if err != nil {
			return err
		}
	}
	return nil
}

// sleepingUntilReply lists the wake-ups of the thread's messages that a reply brings forward.
func (j *jobs) sleepingUntilReply(ctx context.Context, q *queue.Queue, m *postroom.Message) ([]queue.Job, error) {
	if j.Ledger == nil || m.InReplyTo == "" && len(m.References) == 0 || m.HasLabel(postroom.LabelSent) ||
		m.HasLabel(postroom.LabelDraft) {
		return nil, nil
	}
	sleeping, err := q.Jobs(ctx, queue.Filter{
		Types: []string{string(JobUnsnooze)}, States: []queue.State{queue.StateQueued},
		Tags: []string{replyTag(m.ProviderThreadID)}, Limit: 1000,
	})
	return slices.DeleteFunc(sleeping, func(j queue.Job) bool {
		return !m.ReceivedAt.IsZero() && m.ReceivedAt.Before(j.CreatedAt.Add(-replySkew))
	}), err
}

// replySkew is how far the local clock may be ahead of Gmail's. A message that was received before the snooze, and is
// ingested only now, is not a reply.
const replySkew = 10 * time.Minute
