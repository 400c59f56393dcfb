package view

import (
	"context"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/safety"
)

// MayAskAgain reports whether a model wants what is asked, and was not asked again before.
func (v *WholeRequest) MayAskAgain() bool {
	return v.Decision.Source == postroom.SourceModel && !v.Decision.Again
}

// AskAgain rejects a request and asks its model once more, which is told in words what was rejected.
func AskAgain(ctx context.Context, h *app.App, shown safety.Approval, by, why string) error {
	action, err := h.Ledger.Action(ctx, shown.ActionID)
	if err != nil {
		return err
	}
	names, err := h.LabelNames(ctx)
	if err != nil {
		return err
	}
	return h.RejectAndAskAgain(ctx, shown, by, why, InWords(action, names))
}
