package main

import (
	"context"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/gmailapi"
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

// preview returns the message that an action sends, whose bytes are fixed from then on, and reports whether the action sends
// one. What must not be sent is the fault of what was asked for.
func (h *host) preview(ctx context.Context, a postroom.Action) (p gmail.Preview, sends bool, err error) {
	if kind, _ := environment.Kinds.Kind(a.Type); kind.Job != string(gmail.JobOutboundSend) {
		return p, false, nil
	}
	p, err = h.outbox.Preview(ctx, a)
	if gmailapi.ClassOf(err) == gmailapi.ClassRefused {
		err = usage.Errorf("%w; 'postroomd approvals reject' ends the action", err)
	}
	return p, true, err
}

// fixContent composes the content of a waiting action, so that the approval covers its bytes.
func (h *host) fixContent(ctx context.Context, actionID string) error {
	a, err := h.ledger.Action(ctx, actionID)
	if err != nil || a.State != postroom.ActionApprovedPending {
		return err
	}
	_, _, err = h.preview(ctx, a)
	return err
}
