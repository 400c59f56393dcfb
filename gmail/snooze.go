package gmail

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/queue"
)

// stepWake is the step of a snooze that enqueues the job which wakes the message. Its result is a wakeUp.
const stepWake = "wake"

// paramSnoozeLabel is the parameter of the undo hint that names the label under which the message sleeps.
const paramSnoozeLabel = "snooze_label_id"

// A wakeUp is how a snoozed message comes back.
type wakeUp struct {
	Until   time.Time `json:"until"`
	LabelID string    `json:"label_id"`
	JobID   string    `json:"job_id"`
}

// snooze takes a message out of the inbox until a time. The job that wakes it is durable before the message leaves
// the inbox, and waits for this action to end: see [jobs.unsnooze].
func (j *jobs) snooze(
	ctx context.Context, w *queue.Work[ActionPayload], client *gmailapi.Client, id string, before beforeImage,
	kind postroom.Kind, a postroom.Action,
) (hint postroom.UndoHint, made postroom.LabelChange, err error) {
	wake, err := j.scheduleWake(ctx, w, client, id, a)
	if err != nil {
		return hint, made, &untouchedError{err}
	}
	hint, made, err = applyEffect(ctx, client, id, before,
		kind.Effect(postroom.Parameters{postroom.ParamLabel: wake.LabelID}))
	if err != nil {
		return hint, made, unlessDeleted(ctx, client, wake.LabelID, err)
	}
	inverse := maps.Clone(hint.InverseParameters)
	maps.Copy(inverse, postroom.Parameters{
		"add_labels": []string{postroom.LabelInbox}, "remove_labels": []string{wake.LabelID},
		postroom.ParamCancelJob: wake.JobID, postroom.ParamCancelKey: wakeKey(a.AccountID, a.ID),
		"unsnooze_job_id":        wake.JobID,
		postroom.ParamCancelTime: wake.Until.Format(time.RFC3339), "snooze_label": j.SnoozeLabel,
		paramSnoozeLabel: wake.LabelID,
	})
	hint.InverseParameters = inverse
	return hint, made, nil
}

// unlessDeleted returns the error of a change, or one that is retried if the label was deleted since it was looked
// up: the next attempt makes it again.
func unlessDeleted(ctx context.Context, client *gmailapi.Client, labelID string, err error) error {
	if gmailapi.ClassOf(err) != gmailapi.ClassInvalid {
		return err
	}
	labels, listErr := client.ListLabels(ctx)
	if listErr != nil || slices.ContainsFunc(labels, func(l postroom.Label) bool { return l.ID == labelID }) {
		return cmp.Or(listErr, err)
	}
	return fmt.Errorf("gmail: the label of snoozed messages was deleted at this moment: %v", err) //nolint:errorlint // its class is fatal
}

// scheduleWake creates the label if it is missing, and enqueues the wake-up, once for all attempts that find the same
// label.
func (j *jobs) scheduleWake(
	ctx context.Context, w *queue.Work[ActionPayload], client *gmailapi.Client, providerID string, a postroom.Action,
) (wakeUp, error) {
	label, isNew, err := j.snoozeLabel(ctx, client, a.AccountID)
	if err != nil {
		return wakeUp{}, err
	}
	message, err := j.Store.Message(ctx, a.AccountID, a.MessageID)
	if err != nil {
		return wakeUp{}, err
	}
	enqueue := func(ctx context.Context, tx queue.Tx, until time.Time) (wakeUp, error) {
		if isNew {
			if err := saveOwnLabel(ctx, tx, j.Store, a.AccountID, label); err != nil {
				return wakeUp{}, err
			}
		}
		return enqueueWake(ctx, tx, w.Queue(), a, message.ProviderThreadID, wakeUp{Until: until, LabelID: label.ID})
	}
	first, err := queue.StepTx(ctx, w, stepWake, func(ctx context.Context, tx queue.Tx) (wakeUp, error) {
		until, err := postroom.SnoozeUntil(a.Parameters, queue.Now(tx).Local())
		if err != nil {
			return wakeUp{}, &gmailapi.Error{Op: "snooze message " + providerID, Class: gmailapi.ClassInvalid, Err: err}
		}
		return enqueue(ctx, tx, until.UTC())
	})
	if err != nil || first.LabelID == label.ID {
		return first, err
	}
	// The label was deleted since an earlier attempt: a wake-up that names the new one replaces the first.
	return queue.StepTx(ctx, w, stepWake+" "+label.ID, func(ctx context.Context, tx queue.Tx) (wakeUp, error) {
		if err := w.Queue().CancelTx(ctx, tx, first.JobID); err != nil && !errors.Is(err, queue.ErrFinished) &&
			!errors.Is(err, queue.ErrJobNotFound) {
			return wakeUp{}, err
		}
		return enqueue(ctx, tx, first.Until)
	})
}

func enqueueWake(ctx context.Context, tx queue.Tx, q *queue.Queue, a postroom.Action, threadID string,
	wake wakeUp) (wakeUp, error) {
	payload := UnsnoozePayload{AccountID: a.AccountID, MessageID: a.MessageID, ActionID: a.ID, SnoozeLabelID: wake.LabelID}
	onReply, _ := a.Parameters["wake_on_reply"].(bool)
	enqueued, err := q.EnqueueTx(ctx, tx, payload.job(wake.Until, threadID, onReply))
	wake.JobID = enqueued.ID
	return wake, err
}

// snoozeLabel returns the label of snoozed messages, and makes it at Gmail if it is missing; isNew reports whether it
// is not stored here. It asks Gmail in each attempt, which costs one unit: a label that is stored here may be gone
// there.
func (j *jobs) snoozeLabel(ctx context.Context, client *gmailapi.Client, accountID string) (label postroom.Label,
	isNew bool, err error) {
	labels, err := client.ListLabels(ctx)
	if err != nil {
		return label, false, err
	}
	if i := slices.IndexFunc(labels, func(l postroom.Label) bool {
		return gmailapi.SameLabelName(l.Name, j.SnoozeLabel)
	}); i >= 0 {
		label = labels[i]
	} else if label, err = client.CreateLabel(ctx, j.SnoozeLabel); err != nil {
		return label, false, err
	}
	known, err := j.Store.Labels(ctx, accountID)
	return label, !slices.ContainsFunc(known, func(l postroom.Label) bool { return l.ID == label.ID }), err
}

// saveOwnLabel stores a label that is ours and not for a model to choose.
func saveOwnLabel(ctx context.Context, tx queue.Tx, s *mailstore.Store, accountID string, label postroom.Label) error {
	if err := s.SaveLabel(ctx, tx, accountID, label); err != nil {
		return err
	}
	return s.DescribeLabel(ctx, tx, accountID, label.ID, "snoozed messages, which come back by themselves", false)
}
