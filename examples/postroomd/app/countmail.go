package app

import (
	"context"

	"github.com/postroom-go/postroom/queue"
)

// OpenConfiguredAccount makes the configured account, or returns the one that is there.
func (h *App) OpenConfiguredAccount(ctx context.Context) (accountID string, err error) {
	err = h.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
		accountID, err = h.Mail.EnsureAccount(ctx, tx, h.Env.Config.Gmail.Address)
		return err
	})
	return accountID, err
}

// CountMail counts the stored messages of an account, and those that could not be read.
func (h *App) CountMail(ctx context.Context, accountID string) (int, error) {
	read, err := h.Mail.CountMessages(ctx, accountID)
	if err != nil {
		return 0, err
	}
	broken, err := h.Mail.Broken(ctx, accountID)
	return read + len(broken), err
}
