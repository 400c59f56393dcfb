package app

import (
	"github.com/postroom-go/postroom/gmail"
)

// newOutbox makes the outbox that composes the messages of actions.
func (h *App) newOutbox() (*gmail.Outbox, error) {
	return gmail.NewOutbox(gmail.OutboxConfig{
		Store: h.Mail, Clients: h.Clients, Ledger: h.Ledger, MaxRecipients: h.Env.Config.Outbound.MaxRecipients,
		ReplyInterval: h.Env.Config.Outbound.ReplyInterval, RecipientsDay: h.Env.Config.Outbound.RecipientsDay, Names: outboundNames,
	})
}

// outboundNames are what refusals call the settings.
var outboundNames = map[string]string{
	"MaxRecipients": "outbound.max_recipients", "ReplyInterval": "outbound.reply_interval", "RecipientsDay": "outbound.recipients_day",
}
