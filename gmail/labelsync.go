package gmail

import (
	"context"
	"errors"
	"slices"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
)

var errNoLabels = errors.New("gmail: Gmail lists no labels at all, not even its own; kept those that are known")

// syncLabels makes the stored labels equal to those of Gmail.
func (j *jobs) syncLabels(ctx context.Context, w *queue.Work[LabelsSyncPayload]) error {
	account, client, err := j.open(ctx, w.Payload.AccountID)
	if err != nil {
		return Verdict(err)
	}
	if err := checkMailbox(ctx, client, account); err != nil { // before labels are made there
		return Verdict(err)
	}
	// Read before Gmail is asked: a label that another sync stores meanwhile is missing from the answer and not deleted.
	known, err := j.Store.Labels(ctx, account.ID)
	if err != nil {
		return err
	}
	labels, err := client.ListLabels(ctx)
	if err != nil {
		return Verdict(err)
	}
	if len(labels) == 0 {
		return errNoLabels // a fault that may pass: an empty mailbox still has Gmail's own labels
	}
	labels, refused, err := ensure(ctx, client, labels, w.Payload.Ensure)
	if err != nil {
		return Verdict(err)
	}
	if len(refused) > 0 {
		w.SetResult(LabelsSyncResult{Refused: refused})
		for _, r := range refused {
			j.Logger.WarnContext(ctx, "a label cannot be created", "account", account.Email, "label", r.Name, "reason", r.Reason)
		}
	}
	return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
		return j.replaceLabels(ctx, tx, account.ID, known, labels)
	})
}

// A LabelsSyncResult is the result of a labels sync that could not create every label that its payload names.
type LabelsSyncResult struct {
	Refused []RefusedLabel `json:"refused"`
}

// A RefusedLabel is a label that Gmail does not create. The labels beside it are created and synced.
type RefusedLabel struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// ensure creates the labels that are named and missing, and returns all, and the names that Gmail refuses.
func ensure(ctx context.Context, client *Client, labels []postroom.Label, names []string) (_ []postroom.Label, refused []RefusedLabel, err error) {
	for _, name := range names {
		if slices.ContainsFunc(labels, func(l postroom.Label) bool { return sameName(l.Name, name) }) {
			continue
		}
		label, err := client.CreateLabel(ctx, name)
		switch {
		case ClassOf(err) == ClassInvalid:
			refused = append(refused, RefusedLabel{Name: name, Reason: err.Error()})
		case err != nil:
			return nil, nil, err
		default:
			labels = append(labels, label)
		}
	}
	return labels, refused, nil
}

// replaceLabels deletes the labels that Gmail no longer has, after a call of OnLabelDeleted, and stores the others.
func (j *jobs) replaceLabels(ctx context.Context, tx queue.Tx, accountID string, known, labels []postroom.Label) error {
	there := make(map[string]bool, len(labels))
	for _, label := range labels {
		there[label.ID] = true
	}
	for _, old := range known {
		if there[old.ID] {
			continue
		}
		if j.OnLabelDeleted != nil {
			if err := j.OnLabelDeleted(ctx, tx, accountID, old); err != nil {
				return err
			}
		}
		if err := j.Store.deleteLabel(ctx, tx, accountID, old.ID); err != nil {
			return err
		}
	}
	for _, label := range labels {
		if err := j.Store.SaveLabel(ctx, tx, accountID, label); err != nil {
			return err
		}
	}
	return nil
}
