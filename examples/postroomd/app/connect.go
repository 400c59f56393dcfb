package app

import (
	"context"

	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/undo"
)

// startGmail starts the Gmail of a demo.
func (h *App) startGmail(ctx context.Context) (err error) {
	h.Server, err = gmailtest.Open(ctx, gmailtest.Config{Dir: h.Env.Folder.Gmail(), Email: h.Env.Config.Gmail.Address})
	if err == nil {
		h.Env.Config.Gmail.Endpoint = h.Server.URL()
	}
	return err
}

// Connect makes everything that uses Gmail, through the real client and real HTTP. It makes no calls.
func (h *App) Connect(ctx context.Context) error {
	clients, err := h.newClients(ctx)
	if err != nil {
		return err
	}
	h.Clients = clients
	if h.outbox, err = h.newOutbox(); err != nil {
		return err
	}
	mailbox, err := gmail.NewMailbox(gmail.MailboxConfig{Store: h.Mail, Clients: h.Clients})
	if err != nil {
		return err
	}
	h.undoing = undo.Config{Queue: h.Queue, Ledger: h.Ledger, Mailbox: mailbox, Kinds: environment.Kinds}
	undoer, err := undo.NewUndoer(h.undoing)
	if err != nil {
		return err
	}
	h.Undoer = undoer.As(CurrentUser())
	return nil
}
