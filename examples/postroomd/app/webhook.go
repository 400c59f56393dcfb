package app

import (
	"context"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/safety/webhook"
)

// newSender makes the sender for the configured URL.
func (h *App) newSender() (err error) {
	w := h.Env.Config.Webhook
	if w.URL == "" {
		return nil
	}
	h.sender, err = webhook.New(webhook.Config{Ledger: h.Ledger, URL: w.URL, Secret: string(w.Secret), AllowPrivate: w.AllowPrivate})
	return err
}

// notifyWebhook enqueues the jobs that post a request to the configured URL.
func (h *App) notifyWebhook(ctx context.Context, tx queue.Tx, request safety.Approval) error {
	if h.Env.Config.Webhook.URL == "" {
		return nil
	}
	_, err := h.Queue.EnqueueManyTx(ctx, tx, webhook.Jobs(request))
	return err
}
