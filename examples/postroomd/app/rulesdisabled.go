package app

import (
	"context"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
)

// disableRules follows the end of a label.
func (h *App) disableRules(ctx context.Context, tx queue.Tx, accountID string, label postroom.Label) error {
	disabled, err := h.Rules.DisableUsingLabel(ctx, tx, accountID, label)
	if err != nil || len(disabled) == 0 {
		return err
	}
	names := printer.List(disabled, func(r rules.Rule) string { return r.Name })
	queue.OnCommit(tx, func() {
		h.Log.Warn("rules are disabled, since a label that they name was deleted from the mailbox; they decide nothing until they are changed",
			"account_id", accountID, "label", label.Name, "rules", names)
	})
	return nil
}
