package drafting

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/gmail/replies"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/queue"
)

// rework writes the draft again, as a person has asked.
func (w *work) rework(ctx context.Context) error {
	switch {
	case w.reply.State != replies.ReworkRequested:
		return nil
	case w.reply.Exhausted():
		return w.complete(ctx, outcome{state: replies.Skipped, add: actionRequired},
			func(ctx context.Context, tx queue.Tx) (bool, error) { return w.cfg.Replies.GaveUp(ctx, tx, w.payload) })
	}
	return w.overwrite(ctx, w.wish, func(ctx context.Context) error {
		return w.complete(ctx, outcome{state: replies.Drafted, add: outboxLabel, count: countReworked},
			func(ctx context.Context, tx queue.Tx) (bool, error) {
				return w.cfg.Replies.Reworked(ctx, tx, w.payload)
			})
	})
}

// wish reads what the person wants of the draft: in the draft, and by a [Word].
func (w *work) wish(m *mime.Message) (Request, error) {
	asked := w.versions.asked(w.reply.Turn)
	if made, ours := w.versions.made(hashOf(m)); ours {
		return Request{Text: made.Body, Instruction: asked}, nil
	}
	e := readEdit(m, w.versions.last().Body, w.cfg.Marker)
	instruction := strings.TrimSpace(e.instruction + "\n" + asked)
	return Request{Text: e.text, Instruction: instruction, Edited: e.changed}, nil
}

// maxChanges is how often a draft is read anew, in one attempt, that a person is at work on.
const maxChanges = 3

// overwrite puts the text of this turn into a draft that is there, and ends with done. A draft that a person has
// touched is left as it is, unless the person has asked for a rework. ask makes the request for the Writer of what was
// read.
func (w *work) overwrite(ctx context.Context, ask func(m *mime.Message) (Request, error),
	done func(context.Context) error) error {
	read, m, err := w.readDraft(ctx)
	for range maxChanges {
		if err != nil || m == nil {
			return w.ended(ctx, read, err)
		}
		base := hashOf(m)
		made, ours := w.versions.made(base)
		if ours && made.Turn == w.reply.Turn || !ours && w.reply.State == replies.Pending {
			return done(ctx)
		}
		if w.message == nil {
			return w.personWrites(ctx, "the message to answer is gone")
		}
		content, err := w.again(ctx, base, m, ask)
		if err != nil {
			return w.declined(ctx, err)
		}
		if goes, err := w.goesOn(ctx); err != nil || !goes {
			return err
		}
		var now *mime.Message
		if read, now, err = w.readDraft(ctx); err != nil || now == nil {
			return w.ended(ctx, read, err)
		}
		if m = now; hashOf(now) != base {
			continue
		}
		d, err := w.cfg.Drafts.Update(ctx, w.reply.AccountID, w.reply.DraftKey(), content)
		switch gmailapi.ClassOf(err) {
		case gmailapi.ClassGone:
			return w.ended(ctx, d, nil)
		case gmailapi.ClassInvalid:
			return w.personWrites(ctx, err.Error())
		}
		if err != nil {
			return err
		}
		return done(ctx)
	}
	return queue.Defer(errors.New("drafting: a person is at work on the draft"), time.Minute)
}

// again returns the new content of a draft. Recipients and files that a person has given it stay; one that nobody has
// touched, and that is about a newer message now, goes to whom that message is answered to.
func (w *work) again(ctx context.Context, base string, m *mime.Message, ask func(*mime.Message) (Request, error)) (
	outbox.DraftContent, error) {
	request, err := ask(m)
	if err != nil {
		return outbox.DraftContent{}, err
	}
	content := outbox.DraftContent{To: m.To, Cc: m.Cc, Bcc: m.Bcc, Attachments: outbox.Attached(m.Attachments)}
	_, ours := w.versions.made(base)
	if len(content.To) == 0 || ours && w.reply.State == replies.Pending {
		if content.To, err = w.recipients(ctx); err != nil {
			return content, err
		}
	}
	if replyAll.MatchString(request.Instruction) {
		if err := w.toEverybody(ctx, &content); err != nil {
			return content, err
		}
	}
	if !ours {
		kept := Text{Turn: w.reply.Turn, Author: ByPerson, Body: m.Text, Instruction: request.Instruction, draft: base}
		if err := w.save(ctx, kept); err != nil {
			return content, err
		}
	}
	return w.text(ctx, base, content, request)
}

// readDraft returns the draft as it is at Gmail; a nil message if it is gone.
func (w *work) readDraft(ctx context.Context) (outbox.Draft, *mime.Message, error) {
	d, m, err := w.cfg.Drafts.Read(ctx, w.reply.AccountID, w.reply.DraftKey())
	if gmailapi.ClassOf(err) == gmailapi.ClassGone && (d.State == outbox.DraftSent || d.State == outbox.DraftDeleted) {
		return d, nil, nil
	}
	if gmailapi.ClassOf(err) == gmailapi.ClassNotFound && errors.Is(err, postroom.ErrNotFound) {
		return d, nil, nil
	}
	return d, m, err
}

// ended ends the need of a draft that was sent or deleted.
func (w *work) ended(ctx context.Context, d outbox.Draft, err error) error {
	switch {
	case err != nil:
		return err
	case d.State != outbox.DraftSent && d.State != outbox.DraftDeleted:
		return w.personWrites(ctx, "there is no draft to write again")
	}
	return w.follow(ctx, d, nil)
}
