package app

import (
	"context"
	"errors"

	"github.com/postroom-go/postroom/safety"
)

// A record connects the stores of rules and directions with the ledger, which is made after them.
type rulesRecord struct{ *safety.Ledger }

// adoptRules records rules that were stored before rules were signed. If that is not permitted, people are asked until they
// confirm.
func (h *App) adoptRules(ctx context.Context) error {
	err := h.Ledger.AdoptRules(ctx)
	if errors.Is(err, safety.ErrNotAdopted) {
		h.Log.WarnContext(ctx, "rules wait for a person: 'postroomd audit verify' says what is wrong, 'postroomd rules confirm' lists them", "error", err)
		return nil
	}
	return err
}
