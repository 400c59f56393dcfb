package app

import (
	"context"

	"github.com/postroom-go/postroom/gmail/gmailtest"
)

// startGmail starts the Gmail of a demo.
func (h *App) startGmail(ctx context.Context) (err error) {
	h.Server, err = gmailtest.Open(ctx, gmailtest.Config{Dir: h.Env.Folder.Gmail(), Email: h.Env.Config.Gmail.Address,
		Token: string(h.Env.Config.Gmail.Token)})
	if err == nil {
		h.Env.Config.Gmail.Endpoint = h.Server.URL()
	}
	return err
}

// closeGmail ends the Gmail of a demo.
func (h *App) closeGmail() error {
	if h.Server == nil {
		return nil
	}
	return h.Server.Close()
}
