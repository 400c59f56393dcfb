package appointments

import (
	"context"
	"slices"
	"strings"

	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/internal/safefolder"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/queue"
)

// draft makes the draft of a message, unless it was made already.
func (k *Keeper) draft(ctx context.Context, w *queue.Work[Payload]) error {
	known, err := k.known(ctx, w.Payload)
	if err != nil || known[""].Draft != "" {
		return err
	}
	found, err := k.find(ctx, w.Payload)
	if err != nil {
		return err
	}
	files := attachments(found.List)
	if len(files) == 0 {
		return nil
	}
	made, err := k.cfg.Drafts.Create(ctx, w.Payload.AccountID, DraftKey(w.Payload.MessageID), outbox.DraftContent{
		To: []mime.Address{{Email: found.Owner}}, Subject: line(found.Subject), Text: safefolder.Visible(found.Text),
		Attachments: files})
	if err != nil {
		return gmailapi.Verdict(err)
	}
	return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
		return k.save(ctx, tx, w.Payload, row{Draft: made.ID})
	})
}

// DraftKey returns the key by which package outbox knows the draft of a message.
func DraftKey(messageID string) string { return "appointments:" + messageID }

// attachments are the files of the appointments that are not over, each with a name of its own.
func attachments(list []Appointment) (files []mime.Attachment) {
	for i := range list {
		a := &list[i]
		if a.Over {
			continue
		}
		name := a.name()
		if slices.ContainsFunc(files, func(f mime.Attachment) bool { return f.Filename == name+ending }) {
			name += " " + a.digits()
		}
		files = append(files, mime.Attachment{Filename: name + ending, ContentType: "text/calendar; charset=utf-8",
			Content: a.ICS})
	}
	return files
}

// maxLine bounds a subject, in characters.
const maxLine = 200

// line returns a text as one line, cut at its bound.
func line(text string) string {
	characters := []rune(strings.Join(strings.Fields(safefolder.Visible(text)), " "))
	if len(characters) > maxLine {
		return string(characters[:maxLine-1]) + "…"
	}
	return string(characters)
}
