package app

import (
	"github.com/postroom-go/postroom/gmail"
)

// newRefusals makes what knows, when an action is decided, that it would be refused.
func (h *App) newRefusals() (*gmail.Refusals, error) {
	return gmail.NewRefusals(gmail.RefusalsConfig{
		Store: h.Mail, MaxRecipients: h.Env.Config.Outbound.MaxRecipients, Names: outboundNames, MayDelete: h.Env.MayDelete,
	})
}
