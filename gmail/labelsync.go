package gmail

import (
	"context"
	"errors"
	"slices"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/queue"
)

var errNoLabels = errors.New("gmail: Gmail lists no labels at all, not even its own; kept those that are known")

// EnsureLabels enqueues the job that creates the named labels of an account, those of new rules for example. Mail that
// is decided about before the job has run has its action, which creates the label that it needs.
func EnsureLabels(ctx context.Context, tx queue.Tx, q *queue.Queue, store *mailstore.Store, accountID string,
	names ...string) error {
	if err := store.WantLabels(ctx, tx, accountID, names...); err != nil {
		return err
	}
	_, err := q.EnqueueTx(ctx, tx, NewLabelsSyncJob(accountID, names...))
	return err
}

// syncLabels makes the stored labels equal to those of Gmail.
func (j *jobs) syncLabels(ctx context.Context, w *queue.Work[LabelsSyncPayload]) error {
	account, client, err := j.open(ctx, w.Payload.AccountID)
	if err != nil {
		return gmailapi.Verdict(err)
	}
	if err := checkMailbox(ctx, client, account); err != nil { // Before labels are made there
		return gmailapi.Verdict(err)
	}
	// Read before Gmail is asked: a label that another sync stores meanwhile is missing from the answer and not deleted.
	known, err := j.Store.Labels(ctx, account.ID)
	if err != nil {
		return err
	}
	labels, err := client.ListLabels(ctx)
	if err != nil {
		return gmailapi.Verdict(err)
	}
	if len(labels) == 0 {
		return errNoLabels // a fault that may pass: an empty mailbox still has Gmail's own labels
	}
	wanted, err := j.Store.WantedLabels(ctx, account.ID)
	if err != nil {
		return err
	}
	made, err := j.ensure(ctx, client, labels, slices.Concat(wanted, w.Payload.Ensure))
	if err != nil {
		return gmailapi.Verdict(err)
	}
	j.reportLabels(ctx, w, account, made)
	return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
		if err := j.replaceLabels(ctx, tx, account.ID, known, made.labels); err != nil {
			return err
		}
		return j.Store.SetWantedLabels(ctx, tx, account.ID, wanted, made.Waiting)
	})
}

// A LabelsSyncResult is the result of a labels sync that could not create every label that its payload names.
type LabelsSyncResult struct {
	Refused []RefusedLabel `json:"refused,omitempty"`
	// Waiting are the names of labels that are not created while nothing may be changed in a mailbox, for the reason
	// given; see [mailstore.Store.WantedLabels].
	Waiting []string `json:"waiting,omitempty"`
	Why     string   `json:"why,omitempty"`
}

// A RefusedLabel is a label that Gmail does not create. The labels beside it are created and synced.
type RefusedLabel struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// An ensured is all labels of a mailbox, and those that are named and still missing.
type ensured struct {
	LabelsSyncResult
	labels []postroom.Label
}

// ensure creates the labels that are named and missing, while a mailbox may be changed.
func (j *jobs) ensure(ctx context.Context, client *gmailapi.Client, labels []postroom.Label,
	names []string) (ensured, error) {
	e := ensured{labels: labels}
	for _, name := range names {
		if slices.ContainsFunc(e.labels, func(l postroom.Label) bool { return gmailapi.SameLabelName(l.Name, name) }) {
			continue
		}
		switch err := j.held(ctx); {
		case errors.Is(err, postroom.ErrHeld):
			e.Why = err.Error()
			if !slices.ContainsFunc(e.Waiting, func(other string) bool { return gmailapi.SameLabelName(other, name) }) {
				e.Waiting = append(e.Waiting, name)
			}
			continue
		case err != nil:
			return e, err
		}
		label, err := client.CreateColoredLabel(ctx, name, j.labelColor(name))
		switch class := gmailapi.ClassOf(err); {
		case class == gmailapi.ClassInvalid, class == gmailapi.ClassConflict: // in conflict with no label that Gmail lists
			e.Refused = append(e.Refused, RefusedLabel{Name: name, Reason: err.Error()})
		case err != nil:
			return e, err
		default:
			e.labels = append(e.labels, label)
		}
	}
	return e, nil
}

// labelColor returns the color of a label that is created.
func (j *jobs) labelColor(name string) (color gmailapi.LabelColor) {
	if j.LabelColor != nil {
		color = j.LabelColor(name)
	}
	return color
}

// held returns a [*postroom.HeldError] while nothing may be changed in a mailbox. Without a ledger it returns nil.
func (j *jobs) held(ctx context.Context) error {
	if j.Ledger == nil {
		return nil
	}
	return j.Ledger.Held(ctx)
}

// reportLabels says which labels are missing still, in the result of the job and in the log.
func (j *jobs) reportLabels(ctx context.Context, w *queue.Work[LabelsSyncPayload],
	account mailstore.Account, e ensured) {
	if len(e.Refused) == 0 && len(e.Waiting) == 0 {
		return
	}
	w.SetResult(e.LabelsSyncResult)
	for _, r := range e.Refused {
		j.Logger.WarnContext(ctx, "a label cannot be created", "account", account.Email, "label", r.Name, "reason", r.Reason)
	}
	if len(e.Waiting) > 0 {
		j.Logger.WarnContext(ctx, "labels are missing and not created now", "account", account.Email, "labels", e.Waiting,
			"reason", e.Why)
	}
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
		if err := j.Store.DeleteLabel(ctx, tx, accountID, old.ID); err != nil {
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
