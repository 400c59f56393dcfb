package app

import (
	"context"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/filing"
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
		Mailbox: h.addressOf}
	if c.Attachments {
		cfg.Files = h.attachedFiles
	}
	h.vault, err = notes.New(cfg)
	return err
}

// openCabinet makes what keeps attached files, if that is configured.
func (h *App) openCabinet() (err error) {
	c := h.Env.Config.Attachments
	if c.Folder == "" {
		return nil
	}
	h.cabinet, err = filing.New(filing.Config{DB: h.DB, Folder: string(c.Folder), Path: c.Path, Message: h.Mail.Message,
		Mailbox: h.addressOf, Files: func(ctx context.Context, m *postroom.Message) ([]filing.File, error) {
			parsed, err := h.readAtGmail(ctx, m)
			if err != nil {
				return nil, err
			}
			return filing.FilesOf(parsed), nil
		}})
	return err
}

// addressOf returns the address of an account.
func (h *App) addressOf(ctx context.Context, accountID string) (string, error) {
	a, err := h.Mail.Account(ctx, accountID)
	return a.Email, err
}

// attachedFiles reads the files that are attached to a message at Gmail.
func (h *App) attachedFiles(ctx context.Context, m *postroom.Message) ([]notes.File, error) {
	parsed, err := h.readAtGmail(ctx, m)
	if err != nil {
		return nil, err
	}
	return filesOf(parsed), nil
}

// readAtGmail reads the whole of a message at Gmail.
func (h *App) readAtGmail(ctx context.Context, m *postroom.Message) (*mime.Message, error) {
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
	return parsed, nil
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
