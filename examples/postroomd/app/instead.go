package app

import (
	"context"
	"slices"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules/learn"
	"github.com/postroom-go/postroom/rules/lessons"
	"github.com/postroom-go/postroom/safety"
)

// InsteadKey begins the keys of decisions that a person has made in place of another.
const InsteadKey = "instead:"

// insteadKinds are what a person may do in place of what was asked, from a list of labels.
var insteadKinds = []postroom.ActionType{postroom.ApplyLabel, postroom.RemoveLabel, postroom.Move, postroom.Archive,
	postroom.MarkRead, postroom.Star, postroom.Trash}

// InsteadKinds are the actions that a person may choose in place of what was asked: those that can be taken back, and
// are not refused here.
func (h *App) InsteadKinds() []postroom.ActionType {
	refused := h.Env.RefusedActions()
	return slices.DeleteFunc(slices.Clone(insteadKinds), func(t postroom.ActionType) bool {
		return !h.AnsweredTogether(t) || refused[t] != ""
	})
}

// RejectFor rejects the request as it was shown, and does another thing to its message: the decision of the person,
// who has thereby approved it. Both are on record, or neither. labelID is that of a kind that has a label; why may be
// empty. What cannot be done is a [usage.Error].
func (h *App) RejectFor(ctx context.Context, shown safety.Approval, by, why string, kind postroom.ActionType,
	labelID string) error {
	if !slices.Contains(h.InsteadKinds(), kind) {
		return usage.Errorf("%s is not done in place of something else.", kind)
	}
	action, err := h.Ledger.Action(ctx, shown.ActionID)
	if err != nil {
		return err
	}
	msg, err := h.Mail.Message(ctx, action.AccountID, action.MessageID)
	if err != nil {
		return err
	}
	d, err := h.insteadOf(ctx, action, by, why, kind, labelID)
	if err != nil {
		return err
	}
	record := h.Ledger.Record(ctx, msg, d)
	return answerable(h.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		reason := strings.TrimSuffix("instead: "+string(kind)+"; "+why, "; ")
		if _, err := h.Ledger.RejectRequest(ctx, tx, shown, by, reason); err != nil {
			return err
		}
		if err := h.learnChosen(ctx, tx, action, d, by); err != nil {
			return err
		}
		done, err := record(ctx, tx)
		if err == nil {
			err = safety.LinkActions(ctx, tx, action.ID, done.ID, safety.RelationApproval)
		}
		switch {
		case err != nil:
			return err
		case done.State == postroom.ActionPendingApproval: // the person has said so
			_, err = h.Ledger.Approve(ctx, tx, done.ID, by)
			return err
		case done.State != postroom.ActionQueued && done.State != postroom.ActionCompleted:
			return usage.Errorf("Nothing was answered: %s.", done.Error)
		}
		return nil
	}))
}

// learnChosen records what a person has chosen in place of an action, if rules are learned.
func (h *App) learnChosen(ctx context.Context, tx queue.Tx, action postroom.Action, d postroom.Decision,
	by string) error {
	if h.Lessons == nil {
		return nil
	}
	e, err := h.Ledger.EntryTx(ctx, tx, action.ID)
	if err != nil {
		return err
	}
	label, _ := d.Parameters.Text(postroom.ParamLabel)
	return h.Lessons.Chosen(ctx, tx, action,
		lessons.DecidedOf(action, e.Decision.Decision),
		learn.Act{Action: d.Action, Label: label}, by)
}

// insteadOf is the decision of a person in place of an action.
func (h *App) insteadOf(ctx context.Context, action postroom.Action, by, why string, kind postroom.ActionType,
	labelID string) (postroom.Decision, error) {
	d := postroom.Decision{Action: kind, Parameters: postroom.Parameters{}, Confidence: 1, Source: postroom.SourceHost,
		Rationale: strings.TrimSuffix(by+" chose it in place of "+string(action.Type)+": "+why, ": "),
		Key:       InsteadKey + action.ID}
	if kind != postroom.ApplyLabel && kind != postroom.RemoveLabel && kind != postroom.Move {
		return d, nil
	}
	labels, err := h.Mail.Labels(ctx, action.AccountID)
	if err != nil {
		return d, err
	}
	own := func(l postroom.Label) bool { return l.ID == labelID && l.Type == postroom.LabelUser }
	if !slices.ContainsFunc(labels, own) {
		return d, usage.Errorf("Choose one of the labels.")
	}
	d.Parameters[postroom.ParamLabel] = labelID
	return d, nil
}
