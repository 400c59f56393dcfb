package gmail

import (
	"context"
	"maps"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
)

// Labels that must not be created now, because nothing may be changed in a mailbox, are wanted. Mail is decided about
// as if they existed: the decision names them, and the action, which is held as well, creates the label when it is
// carried out.

// withLabels returns the parameters of an action with the ids of labels that were wanted when it was decided. It
// creates and stores those that are still wanted.
func (j *jobs) withLabels(ctx context.Context, w *queue.Attempt, a postroom.Action) (postroom.Parameters, error) {
	parameters := a.Parameters
	for _, parameter := range j.Kinds.LabelParameters(a.Type) {
		name, given := parameters.Text(parameter)
		if !given {
			continue
		}
		id, err := j.actionLabel(ctx, w, a.AccountID, name)
		if err != nil {
			return nil, err
		}
		if id != name {
			parameters = maps.Clone(parameters)
			parameters[parameter] = id
		}
	}
	return parameters, nil
}

// actionLabel returns the id of the label, or the name if the account does not have it and it is not wanted: Gmail
// refuses that.
func (j *jobs) actionLabel(ctx context.Context, w *queue.Attempt, accountID, name string) (id string, err error) {
	id, wanted, err := j.Store.ActionLabel(ctx, accountID, name)
	switch {
	case err != nil:
		return "", err
	case id != "":
		return id, nil
	case wanted == "":
		return name, nil
	}
	_, client, err := j.open(ctx, accountID)
	if err != nil {
		return "", err
	}
	label, err := client.CreateColoredLabel(ctx, wanted, j.labelColor(wanted))
	if err != nil {
		return "", err
	}
	return label.ID, w.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		if err := j.Store.SaveLabel(ctx, tx, accountID, label); err != nil {
			return err
		}
		return j.Store.ForgetWantedLabel(ctx, tx, accountID, name)
	})
}
