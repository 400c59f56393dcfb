package main

import (
	"context"

	"github.com/postroom-go/postroom/queue"
)

// openAccount makes the configured account, or returns the one that is there.
func (h *host) openAccount(ctx context.Context) (accountID string, err error) {
	err = h.db.Write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
		accountID, err = h.mail.EnsureAccount(ctx, tx, h.env.Config.Gmail.Address)
		return err
	})
	return accountID, err
}

func (h *host) countMail(ctx context.Context, accountID string) (int, error) {
	read, err := h.mail.CountMessages(ctx, accountID)
	if err != nil {
		return 0, err
	}
	broken, err := h.mail.Broken(ctx, accountID)
	return read + len(broken), err
}
