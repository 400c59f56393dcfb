package mailstore

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/queue"
)

type labelRow struct {
	AccountID   string             `db:"account_id"`
	ID          string             `db:"id"`
	Name        string             `db:"name"`
	Type        postroom.LabelType `db:"type"`
	Description string             `db:"description"`
	Available   bool               `db:"available"`
}

// Labels lists the account's labels as they were at the last sync, by name.
func (s *Store) Labels(ctx context.Context, accountID string) ([]postroom.Label, error) {
	return selectLabels(ctx, s.db.Reader(), accountID)
}

// LabelsTx is Labels within a transaction.
func (s *Store) LabelsTx(ctx context.Context, tx queue.Tx, accountID string) ([]postroom.Label, error) {
	return selectLabels(ctx, tx, accountID)
}

func selectLabels(ctx context.Context, q dbquery.Querier, accountID string) ([]postroom.Label, error) {
	var rows []labelRow
	if err := dbquery.Select(ctx, q, &rows, sqlLabels, accountID); err != nil {
		return nil, fmt.Errorf("gmail: labels: %w", err)
	}
	labels := make([]postroom.Label, len(rows))
	for i, r := range rows {
		labels[i] = postroom.Label{
			ID: r.ID, AccountID: r.AccountID, Name: r.Name, Type: r.Type,
			Description: r.Description, AvailableToClassifier: r.Available,
		}
	}
	return labels, nil
}

// LabelID returns the id of a label, found by its whole name, compared without regard to case, or by the id itself.
// ok reports whether the account had such a label at the last sync. For one of [Store.WantedLabels] it is the name:
// the action that needs the label makes it.
func (s *Store) LabelID(ctx context.Context, accountID, name string) (id string, ok bool, err error) {
	found, err := s.findLabel(ctx, sqlLabelID, accountID, name)
	id = cmp.Or(found.ID.String, found.Wanted.String)
	return id, id != "", err
}

// A foundLabel is a label that the account has, one that is wanted, or neither.
type foundLabel struct {
	ID     sql.NullString `db:"id"`
	Wanted sql.NullString `db:"wanted"` // its name as it is to be made
}

func (s *Store) findLabel(ctx context.Context, query, accountID, name string) (found foundLabel, err error) {
	if err := dbquery.Get(ctx, s.db.Reader(), &found, query, accountID, gmailapi.LabelNameKey(name), name); err != nil {
		return found, fmt.Errorf("gmail: label %q: %w", name, err)
	}
	return found, nil
}

// SaveLabel stores the name and type of a label, as Gmail has them. A new user label is available to a classifier; a
// system label is not, because actions such as archive and star stand for it. SaveLabel does not change what
// [Store.DescribeLabel] has stored.
func (s *Store) SaveLabel(ctx context.Context, tx queue.Tx, accountID string, label postroom.Label) error {
	now := dbtime.Of(queue.Now(tx))
	_, err := maildb.Exec(ctx, tx, "label "+label.ID, sqlUpsertLabel,
		accountID, label.ID, dbvalue.Clean(label.Name), gmailapi.LabelNameKey(label.Name), string(label.Type),
		dbvalue.Number(label.Type == postroom.LabelUser), now, now)
	return err
}

// DescribeLabel stores the user's description of a label, and whether a model may choose the label. It returns
// [postroom.ErrNotFound] if the label does not exist.
func (s *Store) DescribeLabel(ctx context.Context, tx queue.Tx, accountID, labelID, description string,
	available bool) error {
	return maildb.MustExec(ctx, tx, "label "+labelID, sqlDescribeLabel,
		dbvalue.Clean(description), dbvalue.Number(available), dbtime.Of(queue.Now(tx)), accountID, labelID)
}

// DeleteLabel deletes a stored label, which is gone at Gmail. Messages keep its id until Gmail's history takes it off
// them.
func (s *Store) DeleteLabel(ctx context.Context, tx queue.Tx, accountID, labelID string) error {
	_, err := maildb.Exec(ctx, tx, "label "+labelID, sqlDeleteLabel, accountID, labelID)
	return err
}
