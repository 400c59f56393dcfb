package safety

import (
	"context"
	"fmt"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/safety/gate"
)

// A message that is deleted for good can be neither forwarded nor answered any more. So a deletion is the last action
// of its message, in whatever order they were decided and approved: it starts when no other is open. If one that
// cannot be made good has failed meanwhile, such as a forward, a person decides whether to delete all the same.

// beforeDeletion returns why a person has to decide whether to delete the message; empty if it may be deleted now.
// While another action of the message is queued, the error is a [*postroom.BusyError] without a job, and while one
// waits for a person, a [*postroom.HeldError].
func beforeDeletion(ctx context.Context, q dbquery.Querier, g *gate.Gate, p *permitRow) (doubt string, err error) {
	if p.Type != postroom.Delete || p.State != postroom.ActionQueued {
		return "", nil
	}
	permitted := p.CreatedAt
	if p.ApprovalID != "" {
		permitted = p.DecidedAt
	}
	others, err := all[actionRow, postroom.Action](ctx, q, selectBeforeDeletion, p.AccountID, p.MessageID, permitted)
	if err != nil {
		return "", fmt.Errorf("safety: read the other actions of message %s: %w", p.MessageID, err)
	}
	var waits error
	for i := range others {
		switch o := &others[i]; {
		case o.State == postroom.ActionQueued:
			return "", &postroom.BusyError{MessageID: o.MessageID, ActionID: o.ID}
		case o.State == postroom.ActionPendingApproval:
			waits = held(
				fmt.Sprintf(
					"action %s (%s) of the same message waits for a person, and cannot be carried out once the message is deleted",
					o.ID, o.Type), time.Time{})
		case !IsUndo(o.Type) && g.Dangerous(o.Type):
			doubt = fmt.Sprintf(
				"action %s (%s) of the same message has failed, and cannot be tried again once the message is deleted: %s", o.ID,
				o.Type, o.Error)
		}
	}
	return doubt, waits
}
