package pipeline

import (
	"context"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
)

// disableRules follows the end of a label.
func (p *Pipeline) disableRules(ctx context.Context, tx queue.Tx, accountID string, label postroom.Label) error {
	disabled, err := p.Rules.DisableUsingLabel(ctx, tx, accountID, label)
	if err != nil || len(disabled) == 0 {
		return err
	}
	names := make([]string, len(disabled))
	for i := range disabled {
		names[i] = disabled[i].Name
	}
	if p.cfg.RulesDisabled != nil {
		if err := p.cfg.RulesDisabled(ctx, tx, accountID, disabled); err != nil {
			return err
		}
	}
	queue.OnCommit(tx, func() {
		p.cfg.Logger.Warn(
			"rules are disabled, since a label that they name was deleted from the mailbox; they decide nothing until they are changed",
			"account_id", accountID, "label", label.Name, "rules", names)
	})
	return nil
}
