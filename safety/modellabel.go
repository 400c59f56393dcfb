package safety

import (
	"context"
	"fmt"
	"slices"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/gate"
)

// capabilityDoubts ask about recipients that are neither the sender of the message nor in the policy, and about labels
// that the account does not have or that its user keeps from models.
func (j *judge) capabilityDoubts(ctx context.Context, tx queue.Tx, msg *postroom.Message, d postroom.Decision) (
	[]gate.Doubt, error) {
	doubts := j.gateOf(accountIn(msg)).RecipientDoubts(msg, d)
	unknown, err := j.unknownLabel(ctx, tx, msg, d)
	if err != nil || unknown == "" {
		return doubts, err
	}
	return append(doubts, gate.Doubt{Check: gate.OverrideLabel, Reason: unknown}), nil
}

// unknownLabel returns the fault of the label in a model's decision; empty if there is none.
func (j *judge) unknownLabel(ctx context.Context, tx queue.Tx, msg *postroom.Message, d postroom.Decision) (string,
	error) {
	names := j.cfg.Kinds.LabelParameters(d.Action)
	if j.cfg.Labels == nil || msg == nil || len(names) == 0 {
		return "", nil
	}
	labels, err := j.cfg.Labels.LabelsTx(ctx, tx, msg.AccountID)
	if err != nil {
		return "", fmt.Errorf("safety: look up the labels of account %s: %w", msg.AccountID, err)
	}
	for _, name := range names {
		id, given := d.Parameters.Text(name)
		i := slices.IndexFunc(labels, func(l postroom.Label) bool { return l.ID == id })
		switch {
		case !given:
		case i < 0:
			return fmt.Sprintf("the account has no label %q", id), nil
		case labels[i].Type != postroom.LabelSystem && !labels[i].AvailableToClassifier:
			return fmt.Sprintf("the label %q is not for models", labels[i].Name), nil
		}
	}
	return "", nil
}
