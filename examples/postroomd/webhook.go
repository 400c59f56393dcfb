package main

import (
	"context"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/safety/webhook"
)

// newSender makes the sender for the configured URL.
func (h *host) newSender() (err error) {
	w := h.env.Config.Webhook
	if w.URL == "" {
		return nil
	}
	h.sender, err = webhook.New(webhook.Config{Ledger: h.ledger, URL: w.URL, Secret: string(w.Secret), AllowPrivate: w.AllowPrivate})
	return err
}

// tellWebhook enqueues the jobs that post a request to the configured URL.
func (h *host) tellWebhook(ctx context.Context, tx queue.Tx, request safety.Approval) error {
	if h.env.Config.Webhook.URL == "" {
		return nil
	}
	_, err := h.queue.EnqueueManyTx(ctx, tx, webhook.Jobs(request))
	return err
}
