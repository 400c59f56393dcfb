package main

import (
	"context"
	"errors"

	"github.com/postroom-go/postroom/safety"
)

// A record connects the stores of rules and directions with the ledger, which is made after them.
type record struct{ *safety.Ledger }

// adoptRules records rules that were stored before rules were signed. If that is not permitted, people are asked until they
// confirm.
func (h *host) adoptRules(ctx context.Context) error {
	err := h.ledger.AdoptRules(ctx)
	if errors.Is(err, safety.ErrNotAdopted) {
		h.log.WarnContext(ctx, "rules wait for a person: 'postroomd audit verify' says what is wrong, 'postroomd rules confirm' lists them", "error", err)
		return nil
	}
	return err
}
