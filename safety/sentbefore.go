package safety

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/queue"
)

// Sent looks up what was sent about a message, also before its mailbox was removed and came back; *mailstore.Store implements it.
type Sent interface {
	// SentBefore returns, for people, what was already sent of what the action would send; empty if nothing. all reports whether
	// the action would send nothing else and the earlier send is certain.
	SentBefore(
		ctx context.Context, tx queue.Tx, msg *postroom.Message, action postroom.ActionType, parameters postroom.Parameters,
	) (said string, all bool, err error)
}

// sentMark begins the reason of an action that would only send what was sent before.
const sentMark = "not sent again: "

// sentBefore looks up what was sent before, so that nothing is sent twice without a person. If a person is asked anyway, or must
// decide what is left to send, the request says what was sent. If all of it was sent and no person needs to be asked, sentBefore
// returns the reason to cancel the action: a mailbox that comes back has one such action for everything that it has sent.
func (l *Ledger) sentBefore(ctx context.Context, tx queue.Tx, msg *postroom.Message, d postroom.Decision, v *Verdict) (again string, err error) {
	if l.cfg.Sent == nil || msg == nil {
		return "", nil
	}
	said, all, err := l.cfg.Sent.SentBefore(ctx, tx, msg, d.Action, d.Parameters)
	switch {
	case err != nil:
		return "", fmt.Errorf("safety: look for what was sent about message %s: %w", msg.ID, err)
	case said == "":
		return "", nil
	case all && !v.RequiresApproval:
		return dbvalue.Clean(sentMark + said), nil
	}
	v.doubt([]Doubt{{OverrideSent, said}})
	return "", nil
}

// Approver returns the person who approved the action; empty if nobody has, because the gate let it pass. Start checks that an
// action that has started is the one that was approved.
func (l *Ledger) Approver(ctx context.Context, tx queue.Tx, actionID string) (approver string, err error) {
	err = dbquery.Get(ctx, tx, &approver, selectApprover, actionID)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("safety: who has approved action %s: %w", actionID, err)
	}
	return approver, nil
}
