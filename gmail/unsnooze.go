package gmail

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/queue"
)

// An UnsnoozePayload names the snoozed message that a [JobUnsnooze] wakes.
type UnsnoozePayload struct {
	AccountID string `json:"account_id"`
	MessageID string `json:"message_id"` // ours
	ActionID  string `json:"action_id"`  // the snooze
	// SnoozeLabelID is the label under which the message sleeps, for people: the one that is removed is that of the signed action.
	SnoozeLabelID string `json:"snooze_label_id,omitempty"`
}

// NewUnsnoozeJob makes the job that puts a snoozed message back into the inbox at a time. The action snooze enqueues it by
// itself. The key allows one unfinished job for each action.
func NewUnsnoozeJob(p UnsnoozePayload, at time.Time) queue.NewJob { return p.job(at, "", false) }

// wakeAttempts is the MaxAttempts of a wake-up: a message that is not woken is out of sight for ever.
const wakeAttempts = 1000

// job makes the job. Its tags find the wake-ups of a message and, if a reply wakes it as well, those of a thread.
func (p UnsnoozePayload) job(at time.Time, threadID string, onReply bool) queue.NewJob {
	tags := []string{messageTag(p.MessageID)}
	if onReply {
		tags = append(tags, replyTag(threadID))
	}
	return JobUnsnooze.New(p, &queue.Options{
		NotBefore: at, MaxAttempts: wakeAttempts, Key: queue.WhileUnfinished(wakeKey(p.AccountID, p.ActionID)), Tags: tags,
		LimitKey: LimitKey(p.AccountID),
	})
}

func wakeKey(accountID, actionID string) string {
	return fmt.Sprintf("%s:%s:%s", JobUnsnooze, accountID, actionID)
}

func messageTag(messageID string) string      { return "message:" + messageID }
func replyTag(providerThreadID string) string { return "reply:" + providerThreadID }

// unsnooze puts a snoozed message back into the inbox.
//
// It waits for the actions of the message that execute. One of them may be the snooze itself, or the undo of its undo: a wake-up
// before their effect would be none, and the message would sleep for ever.
func (j *jobs) unsnooze(ctx context.Context, w *queue.Work[UnsnoozePayload]) error {
	p := w.Payload
	if err := j.Ledger.Held(ctx); err != nil {
		return whileHeld(w.Job.Interruptions, err)
	}
	if err := j.waitForActions(ctx, w); err != nil {
		return err
	}
	others, err := otherWakeUps(ctx, w)
	if err != nil {
		return err
	}
	if err := sleepOn(others); err != nil {
		return err
	}
	known, err := j.Store.messageCopy(ctx, p.AccountID, p.MessageID)
	if err != nil {
		return wakeVerdict(err)
	}
	made, image, err := j.wake(ctx, p, known.ProviderID)
	switch {
	case errors.Is(err, postroom.ErrMessageGone):
		w.SetResult(map[string]string{"skipped": "the message is gone from Gmail"})
		return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
			return j.foundGone(ctx, tx, p.AccountID, p.MessageID)
		})
	case err != nil:
		return wakeVerdict(err)
	}
	return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
		if err := cancelOverslept(ctx, tx, w.Queue(), others); err != nil {
			return err
		}
		return j.Store.storeOwnChange(ctx, tx, p.AccountID, known, made, image)
	})
}

// refusedDelay is the wait after Gmail has refused to wake a message: 1000 attempts make six weeks.
const refusedDelay = time.Hour

// wakeVerdict is [Verdict], but retries errors that are fatal to other jobs and may be temporary: an administrator switches the
// API off and on again, a person grants a scope, a label is deleted between two calls. A message that is not woken is out of
// sight.
func wakeVerdict(err error) error {
	switch ClassOf(err) {
	case ClassForbidden, ClassInvalid:
		return queue.RetryAfter(err, refusedDelay)
	}
	return Verdict(err)
}

// waitForActions defers the job while an action of the message executes. An action whose job has ended without finishing it has
// no further effect.
func (j *jobs) waitForActions(ctx context.Context, w *queue.Work[UnsnoozePayload]) error {
	action, err := j.Ledger.Executing(ctx, w.Payload.AccountID, w.Payload.MessageID)
	if err != nil || action == nil {
		return err
	}
	holder, err := w.Queue().Job(ctx, action.JobID)
	switch {
	case errors.Is(err, queue.ErrJobNotFound), err == nil && holder.State.Finished():
		return nil
	case err != nil:
		return err
	}
	busy := &postroom.BusyError{MessageID: action.MessageID, ActionID: action.ID, JobID: action.JobID}
	return queue.Defer(busy, attempts.Busy(w.Job.Interruptions))
}

// otherWakeUps lists the wake-ups of other snoozes of the same message.
func otherWakeUps(ctx context.Context, w *queue.Work[UnsnoozePayload]) ([]queue.Job, error) {
	others, err := w.Queue().Jobs(ctx, queue.Filter{
		Types: []string{string(JobUnsnooze)}, States: []queue.State{queue.StateQueued}, Tags: []string{messageTag(w.Payload.MessageID)}, Limit: 100,
	})
	return slices.DeleteFunc(others, func(j queue.Job) bool { return j.ID == w.Job.ID }), err
}

// sleepOn defers a wake-up until after that of a later snooze, if there is one. The wake-up stays: if the later snooze is undone,
// the earlier one still has to be woken.
func sleepOn(others []queue.Job) error {
	for i := range others {
		if wait := time.Until(others[i].NotBefore); wait > 0 && others[i].StartedAt.IsZero() {
			return queue.Defer(fmt.Errorf("gmail: the message has been snoozed again, until %s", others[i].NotBefore.Format(time.RFC3339)), wait+time.Second)
		}
	}
	return nil
}

// cancelOverslept cancels the wake-ups that were put off for one that has come.
func cancelOverslept(ctx context.Context, tx queue.Tx, q *queue.Queue, others []queue.Job) error {
	for i := range others {
		if others[i].StartedAt.IsZero() {
			continue
		}
		if err := q.CancelTx(ctx, tx, others[i].ID); err != nil && !errors.Is(err, queue.ErrFinished) && !errors.Is(err, queue.ErrJobNotFound) {
			return err
		}
	}
	return nil
}

// asleep returns the label under which the message of a wake-up sleeps: that of its snooze, if the ledger vouches for it; the job is a
// row, which anybody can write. A snooze that has failed, or that is from before there were signatures, has none that is signed: then it
// is the label that the settings name, and only a message that Gmail has under it sleeps.
func (j *jobs) asleep(ctx context.Context, client *Client, p UnsnoozePayload) (label string, sure bool, err error) {
	permit, err := j.Ledger.Permit(ctx, p.ActionID)
	if err = notMissing(err); err != nil {
		return "", false, err
	}
	a := &permit.Action
	if permit.Vouched && a.Type == postroom.Snooze && a.AccountID == p.AccountID && a.MessageID == p.MessageID && a.State == postroom.ActionCompleted {
		if label, sure = a.UndoHint.InverseParameters.Text(paramSnoozeLabel); sure {
			return label, true, nil
		}
	}
	labels, err := client.ListLabels(ctx)
	i := slices.IndexFunc(labels, func(l postroom.Label) bool { return sameName(l.Name, j.SnoozeLabel) })
	if err != nil || i < 0 {
		return "", false, err
	}
	return labels[i].ID, false, nil
}

// wake changes the message at Gmail. One that somebody has thrown away stays there, and one that is in the inbox already only
// loses the label. The label may be gone from Gmail, and with it from the message. wake returns what it has changed, and the image
// after it.
func (j *jobs) wake(ctx context.Context, p UnsnoozePayload, id string) (change postroom.LabelChange, image postroom.Image, err error) {
	_, client, err := j.open(ctx, p.AccountID)
	if err != nil {
		return change, image, err
	}
	if image, err = client.GetImage(ctx, id); err != nil {
		return change, image, err
	}
	label, sure, err := j.asleep(ctx, client, p)
	if err != nil {
		return change, image, err
	}
	if !sure && !image.Has(label) {
		j.Logger.WarnContext(ctx, "a wake-up has no signed snooze, and Gmail does not have its message under the snooze label: look for it, if it is not awake already",
			"account_id", p.AccountID, "message", id, "label", j.SnoozeLabel)
		return change, image, nil
	}
	change = remove(label)
	if !image.Has(postroom.LabelTrash) && !image.Has(postroom.LabelSpam) {
		change.Add = []string{postroom.LabelInbox}
	}
	if change = needed(change, image); change.IsZero() {
		return change, image, nil
	}
	image, err = client.apply(ctx, id, change)
	return change, image, err
}

// wakeOnReply wakes the snoozed messages of a thread that has received an answer: their jobs are replaced by ones that are due at
// once.
func wakeOnReply(ctx context.Context, tx queue.Tx, q *queue.Queue, sleeping []queue.Job) error {
	for i := range sleeping {
		switch err := q.CancelTx(ctx, tx, sleeping[i].ID); {
		case errors.Is(err, queue.ErrFinished), errors.Is(err, queue.ErrJobNotFound):
			continue // it is awake, or its snooze has been undone
		case err != nil:
			return err
		}
		_, err := q.EnqueueTx(ctx, tx, queue.NewJob{Type: sleeping[i].Type, Payload: sleeping[i].Payload, Options: queue.Options{
			MaxAttempts: wakeAttempts, Key: queue.WhileUnfinished(sleeping[i].Key.Name), Tags: sleeping[i].Tags, LimitKey: sleeping[i].LimitKey,
		}})
		if err != nil {
			return err
		}
	}
	return nil
}

// sleepingUntilReply lists the wake-ups of the thread's messages that a reply brings forward.
func (j *jobs) sleepingUntilReply(ctx context.Context, q *queue.Queue, m *postroom.Message) ([]queue.Job, error) {
	if j.Ledger == nil || m.InReplyTo == "" && len(m.References) == 0 || m.HasLabel(postroom.LabelSent) || m.HasLabel(postroom.LabelDraft) {
		return nil, nil
	}
	sleeping, err := q.Jobs(ctx, queue.Filter{
		Types: []string{string(JobUnsnooze)}, States: []queue.State{queue.StateQueued}, Tags: []string{replyTag(m.ProviderThreadID)}, Limit: 1000,
	})
	return slices.DeleteFunc(sleeping, func(j queue.Job) bool {
		return !m.ReceivedAt.IsZero() && m.ReceivedAt.Before(j.CreatedAt.Add(-replySkew))
	}), err
}

// replySkew is how far the local clock may be ahead of Gmail's. A message that was received before the snooze, and is ingested
// only now, is not a reply.
const replySkew = 10 * time.Minute
