package app

import (
	"context"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/notes"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/queue"
)

// openVault makes what keeps notes, if that is configured.
func (h *App) openVault() (err error) {
	c := h.Env.Config.Notes
	if c.Folder == "" {
		return nil
	}
	cfg := notes.Config{DB: h.DB, Folder: string(c.Folder), Path: c.Path, Text: c.Text, Message: h.Mail.Message,
		Mailbox: func(ctx context.Context, accountID string) (string, error) {
			a, err := h.Mail.Account(ctx, accountID)
			return a.Email, err
		}}
	if c.Attachments {
		cfg.Files = h.attachedFiles
	}
	h.vault, err = notes.New(cfg)
	return err
}

// attachedFiles reads the files that are attached to a message at Gmail.
func (h *App) attachedFiles(ctx context.Context, m *postroom.Message) ([]notes.File, error) {
	client, err := gmailapi.FindClient(ctx, h.Clients, m.AccountID)
	if err != nil {
		return nil, gmailapi.Verdict(err)
	}
	raw, err := client.GetRaw(ctx, m.ProviderID)
	if err != nil {
		return nil, gmailapi.Verdict(err)
	}
	content, err := raw.Bytes()
	if err != nil {
		return nil, queue.Fatal(err)
	}
	parsed, err := mime.ParseBytes(content, nil)
	if err != nil {
		return nil, queue.Fatal(fmt.Errorf("read message %s: %w", m.ProviderID, err))
	}
	return filesOf(parsed), nil
}

// filesOf returns the files of a message. Apple Mail sends them inline: what has a name is one all the same.
func filesOf(parsed *mime.Message) (files []notes.File) {
	for _, part := range parsed.Attachments {
		if part.Kind() == mime.KindFile && (part.Filename != "" || part.Disposition != "inline") {
			files = append(files, notes.File{Name: part.Filename, Content: part.Content})
		}
	}
	return files
}
