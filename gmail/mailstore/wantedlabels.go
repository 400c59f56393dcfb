package mailstore

import (
	"context"
	"fmt"
	"slices"

	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/queue"
)

// WantedLabels lists the names of the labels that the job labels.sync.gmail is to create: those of
// [Store.WantLabels], and those that it was to create while the ledger held everything. The next labels sync that may
// create them does, or the first action that needs one.
func (s *Store) WantedLabels(ctx context.Context, accountID string) (names []string, err error) {
	if err := dbquery.Select(ctx, s.db.Reader(), &names, sqlWantedLabels, accountID); err != nil {
		return nil, fmt.Errorf("gmail: wanted labels: %w", err)
	}
	return names, nil
}

// SetWantedLabels stores the wanted labels after a sync that has read the earlier ones. Labels that another job wants
// meanwhile stay.
func (s *Store) SetWantedLabels(ctx context.Context, tx queue.Tx, accountID string, before, now []string) error {
	for _, name := range before {
		if slices.ContainsFunc(now, func(other string) bool { return gmailapi.SameLabelName(other, name) }) {
			continue
		}
		if err := s.ForgetWantedLabel(ctx, tx, accountID, name); err != nil {
			return err
		}
	}
	for _, name := range now {
		if _, err := maildb.Exec(ctx, tx, "label "+name, sqlWantLabel, accountID, gmailapi.LabelNameKey(name),
			dbvalue.Clean(name)); err != nil {
			return err
		}
	}
	return nil
}

// WantLabels stores that labels are wanted, by their names, unless the account has them. Mail is decided about as if
// they were there. It is for the transaction that enqueues the labels sync which creates them.
func (s *Store) WantLabels(ctx context.Context, tx queue.Tx, accountID string, names ...string) error {
	for _, name := range names {
		if _, err := maildb.Exec(ctx, tx, "label "+name, sqlWantMissingLabel, accountID, gmailapi.LabelNameKey(name),
			dbvalue.Clean(name)); err != nil {
			return err
		}
	}
	return nil
}

// ForgetWantedLabel stores that a label is no longer wanted, by its name.
func (s *Store) ForgetWantedLabel(ctx context.Context, tx queue.Tx, accountID, name string) error {
	_, err := maildb.Exec(ctx, tx, "label "+name, sqlForgetWanted, accountID, gmailapi.LabelNameKey(name))
	return err
}

// ActionLabel finds the label that the parameter of an action names, by its id or by its name. If the account does
// not have it, id is empty, and wanted is its name as it is to be made; empty if it is not wanted.
func (s *Store) ActionLabel(ctx context.Context, accountID, name string) (id, wanted string, err error) {
	found, err := s.findLabel(ctx, sqlActionLabel, accountID, name)
	return found.ID.String, found.Wanted.String, err
}
