package safety

import (
	"context"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/queue"
)

// Forbids knows what the user has forbidden to models; *guidance.Store of package llm/guidance implements it.
type Forbids interface {
	// Forbidden returns, for people, what forbids models to do the action to the message; empty if nothing does.
	Forbidden(ctx context.Context, tx queue.Tx, msg *postroom.Message, action postroom.ActionType) (why string, err error)
}

// forbidden returns the reason to cancel what a model has decided and the user has forbidden. The verdict says so as
// well.
func (l *Ledger) forbidden(ctx context.Context, tx queue.Tx, msg *postroom.Message, d postroom.Decision, v *Verdict) (why string, err error) {
	if l.cfg.Forbids == nil || msg == nil || d.Source != postroom.SourceModel || d.Action == postroom.None {
		return "", nil
	}
	why, err = l.cfg.Forbids.Forbidden(ctx, tx, msg, d.Action)
	if err != nil {
		return "", fmt.Errorf("safety: ask whether %s of message %s is forbidden: %w", d.Action, msg.ID, err)
	}
	if why == "" {
		return "", nil
	}
	v.doubt([]Doubt{{OverrideForbidden, why}})
	return dbvalue.Clean(refusedMark + why), nil
}
