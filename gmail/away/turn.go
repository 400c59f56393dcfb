package away

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

// A turn is which message of a sender has the answer.
type turn struct {
	MessageID string      `db:"message_id"`
	ActionID  string      `db:"action_id"`
	At        dbtime.Time `db:"answered_at"`
}

// freeExpired gives the turn of a sender back if a person was asked about the answer in vain: otherwise the sender, who
// writes again, would have none until somebody rejects it. It reports whether the turn is the message's own.
func (s *Service) freeExpired(ctx context.Context, tx queue.Tx, a *Absence, msg *postroom.Message) (
	own bool, err error) {
	var has turn
	err = dbquery.Get(ctx, tx, &has, sqlTurn, a.AccountID, senderOf(msg))
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("away: look whose turn of a sender it is: %w", err)
	case has.At.Before(a.before(s.cfg.Now())), has.MessageID == msg.ID, has.ActionID == "", s.cfg.CancelExpired == nil:
		return has.MessageID == msg.ID, nil
	}
	err = s.cfg.CancelExpired(ctx, tx, has.ActionID, "nobody has approved it in time, and its sender has written again")
	if err != nil {
		return false, fmt.Errorf("away: cancel the answer %s: %w", has.ActionID, err)
	}
	return false, nil
}
