package safety

import (
	"context"
	"fmt"
	"time"

	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

// A Relation says how an action came of another. Undos are related otherwise, see [Ledger.StartUndo].
type Relation string

// The relations.
const (
	// RelationApproval relates an action that a person was asked about to the one that the person chose in its place.
	RelationApproval Relation = "approval"
	// RelationSpawned relates an action to one that was decided on by what it began, such as a run of an agent.
	RelationSpawned Relation = "spawned"
)

// A Link says that the action Effect came of the action Cause.
type Link struct {
	Cause    string
	Effect   string
	Relation Relation
	At       time.Time
}

type linkRow struct {
	Cause    string      `db:"cause_action_id"`
	Effect   string      `db:"effect_action_id"`
	Relation Relation    `db:"relation"`
	At       dbtime.Time `db:"created_at"`
}

// LinkActions records that one action came of another. To record it twice is to record it once. An action that is not
// there is [postroom.ErrNotFound].
func LinkActions(ctx context.Context, tx queue.Tx, cause, effect string, r Relation) error {
	if r != RelationApproval && r != RelationSpawned {
		return fmt.Errorf("safety: link actions: %q is no relation; use approval or spawned", string(r))
	}
	for _, id := range []string{cause, effect} {
		if _, err := findAction(ctx, tx, id); err != nil {
			return err
		}
	}
	if _, err := dbquery.Exec(ctx, tx, insertLink, cause, effect, string(r), dbtime.Of(queue.Now(tx))); err != nil {
		return fmt.Errorf("safety: link action %s to %s: %w", effect, cause, err)
	}
	return nil
}

// LinksOf lists the links of an action, as cause or as effect, the oldest first.
func LinksOf(ctx context.Context, db queue.DB, actionID string) ([]Link, error) {
	var rows []linkRow
	if err := dbquery.Select(ctx, db.Reader(), &rows, selectLinks, actionID); err != nil {
		return nil, fmt.Errorf("safety: list the links of action %s: %w", actionID, err)
	}
	list := make([]Link, len(rows))
	for i, row := range rows {
		list[i] = Link{row.Cause, row.Effect, row.Relation, row.At.Time}
	}
	return list, nil
}
