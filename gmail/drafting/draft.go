package drafting

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/gmail/replies"
	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/queue"
)

// A work is one attempt to write for one turn of a reply.
type work struct {
	*Service
	attempt *queue.Attempt
	payload replies.Work
	asked   bool

	reply    replies.Reply
	since    uint64 // the history of the mailbox at the first attempt
	versions versions
	thread   []*postroom.Message
	message  *postroom.Message // to answer; nil if it is gone
}

func (s *Service) draft(ctx context.Context, w *queue.Work[replies.Work]) error {
	return s.write(ctx, &work{Service: s, attempt: w.Attempt, payload: w.Payload}, (*work).draft)
}

func (s *Service) manualDraft(ctx context.Context, w *queue.Work[replies.Work]) error {
	return s.write(ctx, &work{Service: s, attempt: w.Attempt, payload: w.Payload, asked: true}, (*work).draft)
}

func (s *Service) rework(ctx context.Context, w *queue.Work[replies.Work]) error {
	return s.write(ctx, &work{Service: s, attempt: w.Attempt, payload: w.Payload, asked: true}, (*work).rework)
}

// write prepares the work and does it, unless its turn has passed.
func (s *Service) write(ctx context.Context, w *work, do func(*work, context.Context) error) error {
	var current bool
	var err error
	if w.reply, current, err = s.cfg.Replies.Current(ctx, w.payload); err != nil || !current {
		return err
	}
	if err := s.held(ctx, w.attempt); err != nil {
		return err
	}
	if err := w.read(ctx); err != nil {
		return gmailapi.Verdict(err)
	}
	return gmailapi.Verdict(do(w, ctx))
}

// held gives a job back while nothing may be changed in a mailbox.
func (s *Service) held(ctx context.Context, w *queue.Attempt) error {
	if s.cfg.Held == nil {
		return nil
	}
	err := s.cfg.Held(ctx)
	if errors.Is(err, postroom.ErrHeld) {
		return queue.Defer(err, attempts.Held(w.Job.Interruptions, time.Time{}, time.Time{}))
	}
	return err
}

// position returns where the history of the mailbox stood when the job was first tried.
func (s *Service) position(ctx context.Context, w *queue.Attempt, accountID string) (uint64, error) {
	return queue.Step(ctx, w, "history", func(ctx context.Context) (uint64, error) {
		client, err := gmailapi.FindClient(ctx, s.cfg.Clients, accountID)
		if err != nil {
			return 0, err
		}
		profile, err := client.Profile(ctx)
		return profile.HistoryID, err
	})
}

func (w *work) read(ctx context.Context) (err error) {
	if w.since, err = w.position(ctx, w.attempt, w.reply.AccountID); err != nil {
		return err
	}
	texts, err := w.Texts(ctx, w.reply)
	if err != nil {
		return err
	}
	w.versions = texts
	all, err := w.messages(ctx, threadKey{w.reply.AccountID, w.reply.ThreadID})
	if err != nil {
		return err
	}
	w.thread = slices.DeleteFunc(all, isDraft)
	for _, m := range w.thread {
		if m.ProviderID == w.reply.MessageID {
			w.message = m
		}
	}
	if w.message == nil && w.reply.MessageID == "" {
		w.message = newestReceived(w.thread)
	}
	return nil
}

// draft makes the draft of a pending reply. One that is there already is of an earlier attempt, or of an earlier turn,
// which a newer message has ended.
func (w *work) draft(ctx context.Context) error {
	if w.reply.State != replies.Pending {
		return nil
	}
	d, err := w.cfg.Drafts.Draft(ctx, w.reply.AccountID, w.reply.DraftKey())
	there := err == nil && d.State != outbox.DraftCreating
	if errors.Is(err, postroom.ErrNotFound) {
		err = nil
	}
	switch {
	case err != nil:
		return err
	case there:
		return w.overwrite(ctx, func(m *mime.Message) (Request, error) { return Request{}, nil }, w.drafted)
	case w.message == nil:
		return w.personWrites(ctx, "there is no message of another person to answer")
	}
	if w.isNudge() {
		if ended, err := w.nudgeEnds(ctx); err != nil || ended {
			return err
		}
	} else if sent := w.answeredBy(); sent != "" && !w.asked {
		return w.sent(ctx, sent, "", "")
	}
	to, err := w.recipients(ctx)
	if err != nil {
		return w.declined(ctx, err)
	}
	content, err := w.text(ctx, "", outbox.DraftContent{To: to}, Request{})
	if err != nil {
		return w.declined(ctx, err)
	}
	if goes, err := w.goesOn(ctx); err != nil || !goes {
		return err
	}
	d, err = w.cfg.Drafts.Create(ctx, w.reply.AccountID, w.reply.DraftKey(), content)
	if gmailapi.ClassOf(err) == gmailapi.ClassInvalid {
		return w.personWrites(ctx, err.Error())
	}
	if err != nil {
		return err
	}
	return w.follow(ctx, d, w.drafted)
}

// recipients returns whom the draft goes to at first.
func (w *work) recipients(ctx context.Context) ([]mime.Address, error) {
	if w.isNudge() {
		return w.others(ctx)
	}
	return recipients(w.message, w.asked)
}

func (w *work) isNudge() bool { return w.message.HasLabel(postroom.LabelSent) }

// goesOn reports whether what the Writer has written is still wanted. While nothing may be changed, it is an error.
func (w *work) goesOn(ctx context.Context) (bool, error) {
	_, current, err := w.cfg.Replies.Current(ctx, w.payload)
	if err == nil && current {
		err = w.held(ctx, w.attempt)
	}
	return current, err
}

func (w *work) drafted(ctx context.Context) error {
	return w.complete(ctx, outcome{state: replies.Drafted, add: outboxLabel, count: countMade},
		func(ctx context.Context, tx queue.Tx) (bool, error) { return w.cfg.Replies.Drafted(ctx, tx, w.payload) })
}

// answeredBy returns Gmail's id of a message that a person has sent in the thread after the one to answer.
func (w *work) answeredBy() string {
	at := slices.Index(w.thread, w.message)
	for _, m := range w.thread[at+1:] {
		if m.HasLabel(postroom.LabelSent) && answers(m, w.thread) {
			return m.ProviderID
		}
	}
	return ""
}

// A personError is the reason why a person has to write an answer.
type personError string

func (e personError) Error() string { return string(e) }

// errDeclined is the error of a Writer that leaves an answer to a person.
const errDeclined personError = "the writer has left this answer to a person"

// maxQuoted is the most bytes of a message that a draft quotes: a draft has them twice, and Gmail takes 35 MiB.
const maxQuoted = 1 << 20

// text returns the content of a draft for this turn, which takes the place of the draft with the hash base. The Writer
// is asked, unless an earlier attempt has stored its answer.
func (w *work) text(ctx context.Context, base string, content outbox.DraftContent, r Request) (outbox.DraftContent,
	error) {
	content.Answers, content.Sign = w.message.ID, true
	content.Quote = len(w.message.BodyPlain)+len(w.message.BodyHTML) <= maxQuoted
	if stored, ok := w.versions.ofTurn(w.reply.Turn); ok && stored.base == base {
		content.Text = stored.Body
		return content, nil
	}
	r.AccountID, r.Message, r.Thread, r.Asked = w.reply.AccountID, w.message, w.thread, w.asked
	r.Nudge = w.isNudge()
	r.Recipients = addressees(&content)
	r.Thread = r.Thread[max(0, len(r.Thread)-w.cfg.MaxThread):]
	text, err := w.cfg.Writer.Write(ctx, r)
	if err != nil {
		return content, err
	}
	if content.Text = strings.TrimSpace(text); content.Text == "" {
		return content, errDeclined
	}
	raw, err := w.cfg.Drafts.Preview(ctx, w.reply.AccountID, w.reply.DraftKey(), content)
	if err != nil {
		return content, err
	}
	m, err := mime.ParseBytes(raw, nil)
	if err != nil {
		return content, err
	}
	made := Text{Turn: w.reply.Turn, Author: ByWriter, Body: content.Text, draft: hashOf(m), base: base}
	if err = w.save(ctx, made); err == nil {
		w.versions = append(slices.DeleteFunc(w.versions, func(t Text) bool {
			return t.Turn == made.Turn && t.Author == ByWriter
		}), made)
	}
	return content, err
}
