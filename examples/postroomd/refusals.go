package main

import (
	"github.com/postroom-go/postroom/gmail"
)

// newRefusals makes what knows, when an action is decided, that it would be refused.
func (h *host) newRefusals() (*gmail.Refusals, error) {
	return gmail.NewRefusals(gmail.RefusalsConfig{
		Store: h.mail, MaxRecipients: h.env.Config.Outbound.MaxRecipients, Names: outboundNames, MayDelete: h.env.MayDelete,
	})
}
