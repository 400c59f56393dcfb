package gmail

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/queue"
)

// ingest fetches, reads and stores one message and hands it on.
func (j *jobs) ingest(ctx context.Context, w *queue.Work[IngestPayload]) error {
	account, client, err := j.open(ctx, w.Payload.AccountID)
	if err != nil {
		return Verdict(err)
	}
	raw, err := client.GetRaw(ctx, w.Payload.MessageID)
	if errors.Is(err, postroom.ErrMessageGone) {
		w.SetResult(map[string]string{"skipped": "the message is gone from Gmail"})
		return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
			return j.Store.markDeleted(ctx, tx, account.ID, w.Payload.MessageID)
		})
	}
	if err != nil {
		return Verdict(err)
	}
	raw.ID = w.Payload.MessageID
	content, err := raw.Bytes()
	if err != nil {
		return j.keepBroken(ctx, w, raw, []byte(raw.Encoded), err)
	}
	parsed, err := mime.ParseBytes(content, j.MailLimits)
	if err != nil {
		return j.keepBroken(ctx, w, raw, content, err)
	}
	if raw.ReceivedAt.IsZero() {
		j.Logger.WarnContext(ctx, "Gmail gives no time for a message", "account", account.Email, "message", raw.ID)
	}
	msg := messageOf(account.ID, raw, parsed)
	return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
		isNew, err := j.Store.SaveMessage(ctx, tx, msg, raw.HistoryID)
		if err != nil || !isNew || j.OnMessage == nil || slices.ContainsFunc(j.SkipLabels, msg.HasLabel) {
			return err
		}
		return j.OnMessage(ctx, tx, msg)
	})
}

// keepBroken stores a message that cannot be read, and fails the job: a person retries it when the cause is repaired.
func (j *jobs) keepBroken(ctx context.Context, w *queue.Work[IngestPayload], raw *RawMessage, content []byte, cause error) error {
	broken := BrokenMessage{
		AccountID: w.Payload.AccountID, ProviderID: raw.ID, JobID: w.Job.ID, Reason: cause.Error(),
		Subject: subjectOf(content), Snippet: raw.Snippet, ReceivedAt: raw.ReceivedAt,
	}
	err := w.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		return j.Store.saveBroken(ctx, tx, broken, content)
	})
	if err != nil {
		return err
	}
	return queue.Fatal(cause)
}

// subjectOf finds the subject of a message that cannot be read as a whole; empty when there is none to find.
func subjectOf(content []byte) string {
	const enough = 64 << 10
	head := content[:min(len(content), enough)]
	for _, blank := range []string{"\r\n\r\n", "\n\n"} {
		if end := bytes.Index(head, []byte(blank)); end >= 0 {
			head = head[:end]
		}
	}
	parsed, err := mime.ParseBytes(head, nil)
	if err != nil {
		return ""
	}
	return parsed.Subject
}

// messageOf puts together what Gmail and the message itself say.
func messageOf(accountID string, raw *RawMessage, m *mime.Message) *postroom.Message {
	msg := &postroom.Message{
		AccountID: accountID, ProviderID: raw.ID, ProviderThreadID: raw.ThreadID,
		MessageID: m.MessageID, InReplyTo: m.InReplyTo, References: m.References,
		ReplyTo: addresses(m.ReplyTo), To: addresses(m.To), Cc: addresses(m.Cc), Bcc: addresses(m.Bcc),
		Subject: m.Subject, Snippet: raw.Snippet, LabelIDs: postroom.NewImage(raw.LabelIDs).LabelIDs,
		BodyPlain: m.Text, BodyHTML: m.HTML, ReceivedAt: raw.ReceivedAt, Date: m.Date.UTC(), Size: int64(m.Size),
	}
	if from := addresses(m.From); len(from) > 0 {
		msg.From = from[0]
	}
	for _, f := range m.Header {
		msg.Headers = append(msg.Headers, postroom.Header{Name: f.Name, Value: f.Value})
	}
	for _, p := range m.Attachments {
		msg.Attachments = append(msg.Attachments, postroom.Attachment{
			Filename: p.Filename, ContentType: p.ContentType, Size: int64(len(p.Content)),
			Inline: p.Disposition == "inline", ContentID: p.ContentID,
		})
	}
	return msg
}

func addresses(list []mime.Address) []postroom.Address {
	var out []postroom.Address
	for _, a := range list {
		out = append(out, postroom.Address{Name: a.Name, Email: a.Email})
	}
	return out
}
