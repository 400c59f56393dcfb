package app

import (
	"context"
	"errors"
	"os/user"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/safety"
)

// WaitingRequest returns the request for approval of an action.
func (h *App) WaitingRequest(ctx context.Context, prefix string) (safety.Waiting, error) {
	id, err := h.ResolveAction(ctx, prefix)
	if err != nil {
		return safety.Waiting{}, err
	}
	w, err := h.Ledger.Waiting(ctx, id)
	if state, ok := errors.AsType[*safety.StateError](err); ok {
		err = usage.Errorf(
			"action %s is %s, and does not wait for approval; 'postroomd approvals list' lists those that do", id, state.State)
	}
	return w, err
}

// Preview returns the message that an action sends, whose bytes are fixed from then on; nil if it sends none. What must
// not be sent is the fault of what was asked for.
func (h *App) Preview(ctx context.Context, a postroom.Action) (*outbox.Preview, error) {
	p, err := h.Pipeline.Preview(ctx, a)
	return p, hintRejecting(err)
}

// FreezeContent composes the content of a waiting action, so that the approval covers its bytes.
func (h *App) FreezeContent(ctx context.Context, actionID string) error {
	return hintRejecting(h.Pipeline.FreezeContent(ctx, actionID))
}

// hintRejecting says what to do about what must not be sent.
func hintRejecting(err error) error {
	if gmailapi.ClassOf(err) == gmailapi.ClassRefused {
		return usage.Errorf("%w; 'postroomd approvals reject' ends the action", err)
	}
	return err
}

// CurrentUser returns the name of the person at the command line.
func CurrentUser() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "somebody at the command line"
}
