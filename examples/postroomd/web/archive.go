package web

import (
	"context"
	"net/http"

	"github.com/postroom-go/postroom/examples/postroomd/mailarchive"
)

// An archivePage is the archive of a mailbox.
type archivePage struct {
	mailarchive.View

	ID string // of the mailbox
}

func (h *Handler) archive(ctx context.Context, r *http.Request) (*view, error) {
	account, err := h.app.Mail.Account(ctx, r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	page := &archivePage{ID: account.ID}
	page.View, err = h.app.Archive.ViewOf(ctx, account)
	return &view{name: "archive", title: "Archive of " + account.Email, data: page}, err
}
