package main

import (
	"context"

	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/undo"
)

// startGmail starts the Gmail of a demo.
func (h *host) startGmail(ctx context.Context) (err error) {
	h.server, err = gmailtest.Open(ctx, gmailtest.Config{Dir: h.env.Folder.Gmail(), Email: h.env.Config.Gmail.Address})
	if err == nil {
		h.env.Config.Gmail.Endpoint = h.server.URL()
	}
	return err
}

// connect makes everything that uses Gmail, through the real client and real HTTP. It makes no calls.
func (h *host) connect(ctx context.Context) error {
	clients, err := h.newClients(ctx)
	if err != nil {
		return err
	}
	h.clients = clients
	if h.outbox, err = h.newOutbox(); err != nil {
		return err
	}
	mailbox, err := gmail.NewMailbox(gmail.MailboxConfig{Store: h.mail, Clients: h.clients})
	if err != nil {
		return err
	}
	h.undoing = undo.Config{Queue: h.queue, Ledger: h.ledger, Mailbox: mailbox, Kinds: environment.Kinds}
	undoer, err := undo.NewUndoer(h.undoing)
	if err != nil {
		return err
	}
	h.undoer = undoer.As(me())
	return nil
}
