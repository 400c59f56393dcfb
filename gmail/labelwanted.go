package gmail

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/queue"
)

// Labels that must not be created now, because nothing may be changed in a mailbox, are wanted. Mail is decided about as if they
// existed: the decision names them, and the action, which is held as well, creates the label when it is carried out.

// WantedLabels lists the names of the labels that [NewLabelsSyncJob] was to create while the ledger held everything. The next labels
// sync that may create them does, or the first action that needs one.
func (s *Store) WantedLabels(ctx context.Context, accountID string) (names []string, err error) {
	if err := dbquery.Select(ctx, s.db.Reader(), &names, sqlWantedLabels, accountID); err != nil {
		return nil, fmt.Errorf("gmail: wanted labels: %w", err)
	}
	return names, nil
}

// stillWanted stores the wanted labels after a sync that has read the earlier ones. Labels that another job wants meanwhile stay.
func (s *Store) stillWanted(ctx context.Context, tx queue.Tx, accountID string, before, now []string) error {
	for _, name := range before {
		if slices.ContainsFunc(now, func(other string) bool { return gmailapi.SameLabelName(other, name) }) {
			continue
		}
		if _, err := maildb.Exec(ctx, tx, "label "+name, sqlForgetWanted, accountID, gmailapi.LabelNameKey(name)); err != nil {
			return err
		}
	}
	for _, name := range now {
		if _, err := maildb.Exec(ctx, tx, "label "+name, sqlWantLabel, accountID, gmailapi.LabelNameKey(name), dbvalue.Clean(name)); err != nil {
			return err
		}
	}
	return nil
}

// withLabels returns the parameters of an action with the ids of labels that were wanted when it was decided. It creates and
// stores those that are still wanted.
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

// actionLabel returns the id of the label, or the name if the account does not have it and it is not wanted: Gmail refuses that.
func (j *jobs) actionLabel(ctx context.Context, w *queue.Attempt, accountID, name string) (id string, err error) {
	found, err := j.Store.findLabel(ctx, sqlActionLabel, accountID, name)
	switch {
	case err != nil:
		return "", err
	case found.ID.Valid:
		return found.ID.String, nil
	case !found.Wanted.Valid:
		return name, nil
	}
	_, client, err := j.open(ctx, accountID)
	if err != nil {
		return "", err
	}
	label, err := client.CreateLabel(ctx, found.Wanted.String)
	if err != nil {
		return "", err
	}
	return label.ID, w.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		if err := j.Store.SaveLabel(ctx, tx, accountID, label); err != nil {
			return err
		}
		_, err := maildb.Exec(ctx, tx, "label "+name, sqlForgetWanted, accountID, gmailapi.LabelNameKey(name))
		return err
	})
}
