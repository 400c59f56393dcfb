package gmail

import (
	"context"
	"encoding/base64"
	"errors"
	"slices"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/mailindex"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/bodytext"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/queue"
)

// errOvertaken is the error of an ingest that a sync has overtaken.
var errOvertaken = errors.New("gmail: a history sync has passed what was read of the message; reading it again")

// ingest fetches, reads and stores one message and hands it on. A message that is stored already is left to the
// history.
func (j *jobs) ingest(ctx context.Context, w *queue.Work[IngestPayload]) error {
	account, client, err := j.open(ctx, w.Payload.AccountID)
	if err != nil {
		return gmailapi.Verdict(err)
	}
	stored, err := j.Store.Copies().State(ctx, account.ID, w.Payload.MessageID)
	if err != nil {
		return err
	}
	if stored != nil && !stored.Deleted {
		w.SetResult(map[string]string{"skipped": "the message is stored already"})
		return nil
	}
	raw, err := client.GetRaw(ctx, w.Payload.MessageID)
	if errors.Is(err, postroom.ErrMessageGone) {
		w.SetResult(map[string]string{"skipped": "the message is gone from Gmail"})
		return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
			_, err := j.deleted(ctx, tx, DeletedEvent{AccountID: account.ID, ProviderID: w.Payload.MessageID,
				Source: SourceIngest})
			return err
		})
	}
	if err != nil {
		return gmailapi.Verdict(err)
	}
	raw.ID = w.Payload.MessageID
	content, err := raw.Bytes()
	if err != nil {
		return j.keepBroken(ctx, w, raw, err)
	}
	parsed, err := mime.ParseBytes(content, j.MailLimits)
	if err != nil {
		return queue.Fatal(err) // the limits are invalid; Config was checked
	}
	if raw.ReceivedAt.IsZero() {
		j.Logger.WarnContext(ctx, "Gmail gives no time for a message", "account", account.Email, "message", raw.ID)
	}
	msg := mailstore.NewMessage(account.ID, raw, parsed)
	sleeping, err := j.sleepingUntilReply(ctx, w.Queue(), msg)
	if err != nil {
		return err
	}
	own, err := j.Store.Inserted().Has(ctx, msg)
	if err != nil {
		return err
	}
	aside := false
	if j.Aside != nil && !own {
		if aside, err = j.Aside(ctx, msg); err != nil {
			return err
		}
	}
	ctx = bodytext.With(ctx)
	next := j.Store.Inserted().Stored
	if aside {
		next = nil
	} else if !own {
		next = j.next(ctx, w.Attempt, account, msg)
	}
	terms := mailindex.Terms(ctx, msg)
	err = w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
		if err := j.overtaken(ctx, tx, account, raw); err != nil {
			return err
		}
		isNew, err := j.Store.Copies().Save(ctx, tx, msg, raw.HistoryID, terms)
		if err == nil && isNew {
			err = wakeOnReply(ctx, tx, w.Queue(), sleeping)
		}
		if err != nil || !isNew || next == nil {
			return err
		}
		return next(ctx, tx, msg)
	})
	if errors.Is(err, errOvertaken) {
		return queue.Defer(err, 0)
	}
	return err
}

// next returns the step after a message, in the transaction that stores it; nil if there is none.
func (j *jobs) next(ctx context.Context, w *queue.Attempt, account mailstore.Account,
	msg *postroom.Message) func(ctx context.Context, tx queue.Tx, msg *postroom.Message) error {
	old := !msg.ReceivedAt.IsZero() && msg.ReceivedAt.Before(account.DecideSince)
	if j.OnMessage == nil || old || slices.ContainsFunc(j.SkipLabels, msg.HasLabel) {
		return nil
	}
	if j.Decide != nil && w.Job.Failures == 0 {
		record, err := j.Decide(ctx, msg)
		if err != nil {
			j.Logger.WarnContext(ctx, "a message could not be decided about at once", "account_id", msg.AccountID, "message",
				msg.ProviderID, "error", err)
		} else if record != nil {
			return func(ctx context.Context, tx queue.Tx, _ *postroom.Message) error { return record(ctx, tx) }
		}
	}
	return j.OnMessage
}

// overtaken returns errOvertaken if, since the account was read, a sync has moved the cursor to the history id of the
// message or past it: a change in between found no message to apply it to. Several changes may have one id. On
// PostgreSQL the cursor stays locked until the message is stored, so that a later sync finds it.
func (j *jobs) overtaken(ctx context.Context, tx queue.Tx, before mailstore.Account, raw *gmailapi.RawMessage) error {
	cursor, err := j.Store.Progress().LockCursor(ctx, tx, before.ID)
	if err == nil && cursor > before.HistoryID && cursor >= raw.HistoryID {
		err = errOvertaken
	}
	return err
}

// keepBroken stores an answer without a message, and fails the job: a person retries it after a repair. This is the
// only kind of broken message: any message in an answer is read, however it is made.
func (j *jobs) keepBroken(ctx context.Context, w *queue.Work[IngestPayload], raw *gmailapi.RawMessage,
	cause error) error {
	broken := mailstore.BrokenMessage{
		AccountID: w.Payload.AccountID, ProviderID: raw.ID, JobID: w.Job.ID, Reason: cause.Error(),
		Subject: subjectOf(raw), Snippet: raw.Snippet, ReceivedAt: raw.ReceivedAt,
	}
	err := w.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		return j.Store.Copies().SaveBroken(ctx, tx, broken, []byte(raw.Encoded))
	})
	if err != nil {
		return err
	}
	return queue.Fatal(cause)
}

// subjectOf returns the subject in the base64 part of the message; empty if there is none.
func subjectOf(m *gmailapi.RawMessage) string {
	const enough = 64 << 10
	text := m.Encoded[:min(len(m.Encoded), enough)]
	head := make([]byte, base64.RawURLEncoding.DecodedLen(len(text)))
	n, _ := base64.RawURLEncoding.Decode(head, []byte(text))
	parsed, err := mime.ParseBytes(head[:n], nil)
	if err != nil {
		return ""
	}
	return parsed.Subject
}
