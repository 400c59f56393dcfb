package away

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

// mostWhy bounds a reason, which may have the name of a field of the message.
const mostWhy = 500

// pass records why a message is not answered.
func (s *Service) pass(ctx context.Context, tx queue.Tx, msg *postroom.Message, why string) error {
	if len(why) > mostWhy {
		why = strings.ToValidUTF8(why[:mostWhy], "") + "…"
	}
	if _, err := dbquery.Exec(ctx, tx, sqlNoAnswer, msg.AccountID, msg.ID, why, dbtime.Of(s.cfg.Now())); err != nil {
		return fmt.Errorf("away: note why message %s is not answered: %w", msg.ID, err)
	}
	return nil
}

// Prune deletes the reasons that were recorded before an instant, and returns how many.
func Prune(ctx context.Context, db queue.DB, before time.Time) (deleted int, err error) {
	deleted, err = dbquery.DeleteInBatches(ctx, db, sqlPruneUnanswered, dbtime.Of(before))
	if err != nil {
		err = fmt.Errorf("away: prune why mail was not answered: %w", err)
	}
	return deleted, err
}

// Unanswered returns why a message that came in an absence was not answered, and when that was decided; empty if it was
// answered, or nobody was away. What ends after the decision is on record with the action; see package safety.
func Unanswered(ctx context.Context, db queue.DB, accountID, messageID string) (why string, at time.Time, err error) {
	var row struct {
		Why string      `db:"why"`
		At  dbtime.Time `db:"decided_at"`
	}
	err = dbquery.Get(ctx, db.Reader(), &row, sqlUnanswered, accountID, messageID)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", at, fmt.Errorf("away: read why message %s was not answered: %w", messageID, err)
	}
	return row.Why, row.At.Time, nil
}
