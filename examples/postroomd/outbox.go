package main

import (
	"github.com/postroom-go/postroom/gmail"
)

// newOutbox makes the outbox that composes the messages of actions.
func (h *host) newOutbox() (*gmail.Outbox, error) {
	return gmail.NewOutbox(gmail.OutboxConfig{
		Store: h.mail, Clients: h.clients, Ledger: h.ledger, MaxRecipients: h.env.Config.Outbound.MaxRecipients,
		ReplyInterval: h.env.Config.Outbound.ReplyInterval, RecipientsDay: h.env.Config.Outbound.RecipientsDay, Names: outboundNames,
	})
}

// outboundNames are what refusals call the settings.
var outboundNames = map[string]string{
	"MaxRecipients": "outbound.max_recipients", "ReplyInterval": "outbound.reply_interval", "RecipientsDay": "outbound.recipients_day",
}
