package safety

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/queue"
)

// Sent knows what was sent about a message, also before its mailbox was removed and came back; *gmail.Store implements it.
type Sent interface {
	// SentBefore says to people what was sent, of what the action would send; empty if nothing. all reports whether the action would
	// send nothing else, and it is sure that this was sent.
	SentBefore(
		ctx context.Context, tx queue.Tx, msg *postroom.Message, action postroom.ActionType, parameters postroom.Parameters,
	) (said string, all bool, err error)
}

// sentMark begins the reason of an action that would only send what was sent before.
const sentMark = "not sent again: "

// sentBefore looks for what was sent before. Nothing is sent a second time without a person. One who is asked anyway learns what was
// sent, and so does one who must decide what is left to send. Where all was sent and nobody needs to be asked, nobody is: a mailbox that
// comes back has as many of these as it has ever sent. Then sentBefore returns the reason for which the action is canceled.
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

// Approver returns who has approved the action last; empty if nobody has: the gate let it pass. An action that has started was approved
// as it is now, since Start checks that.
func (l *Ledger) Approver(ctx context.Context, tx queue.Tx, actionID string) (string, error) {
	answer, err := get[approvalRow, Approval](ctx, tx, selectAnswer, actionID)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("safety: who has approved action %s: %w", actionID, err)
	case answer.Outcome != OutcomeApproved:
		return "", nil
	}
	return answer.Approver, nil
}
