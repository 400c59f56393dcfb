package main

import (
	"context"

	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/safety/webhook"
)

// checkWebhook returns an error if the settings of the webhook are incomplete, or cannot work.
func (s *site) checkWebhook() error {
	w := s.cfg.Webhook
	switch {
	case w.URL == "" && w.Secret != "":
		return usage.Errorf("webhook.secret is set, and webhook.url is not; name the address to tell")
	case w.URL == "":
		return nil
	case w.Secret == "":
		return usage.Errorf("webhook.url is set, and webhook.secret is not; set it, as in secret = \"env:POSTROOM_WEBHOOK_SECRET\"")
	}
	if err := webhook.CheckURL(w.URL, w.AllowPrivate); err != nil {
		return usage.Errorf("webhook.url: %w", err)
	}
	return nil
}

// newSender makes the sender for the configured URL.
func (h *host) newSender() (err error) {
	w := h.cfg.Webhook
	if w.URL == "" {
		return nil
	}
	h.sender, err = webhook.New(webhook.Config{Ledger: h.ledger, URL: w.URL, Secret: string(w.Secret), AllowPrivate: w.AllowPrivate})
	return err
}

// tellWebhook enqueues the jobs that post a request to the configured URL.
func (h *host) tellWebhook(ctx context.Context, tx queue.Tx, request safety.Approval) error {
	if h.cfg.Webhook.URL == "" {
		return nil
	}
	_, err := h.queue.EnqueueManyTx(ctx, tx, webhook.Jobs(request))
	return err
}
