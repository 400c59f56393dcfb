package drafting

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/gmail/replies"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/reply"
	"github.com/postroom-go/postroom/queue"
)

// A Word is what a person says about a draft elsewhere than in Gmail.
type Word struct {
	AccountID string
	ThreadID  string // Gmail's
	Turn      int64  // of the reply as the person has seen it; 0 for whichever it is
	By        string // who says it
}

// A StateError is the error of a [Word] that the state of the reply does not permit.
type StateError struct{ Reason string }

// Error returns the reason.
func (e *StateError) Error() string { return e.Reason }

// check returns a [*StateError] if the word is about a reply that has changed or has ended.
func (w *Word) check(r *replies.Reply) error {
	switch {
	case r.State.Ended():
		return &StateError{fmt.Sprintf("this draft is %s: nothing is done with it any more", r.State)}
	case w.Turn != 0 && w.Turn != r.Turn:
		return &StateError{changedSince}
	}
	return nil
}

// Ask has a draft written of an answer to the newest message that others have sent in a thread, as the label Needs
// Response does. A draft that lies ready is a [*StateError].
func (s *Service) Ask(ctx context.Context, tx queue.Tx, w Word) error {
	if err := s.pastNudge(ctx, tx, threadKey{w.AccountID, w.ThreadID}); err != nil {
		return err
	}
	messages, err := s.cfg.Store.ThreadMessagesTx(ctx, tx, w.AccountID, w.ThreadID)
	if err != nil {
		return err
	}
	m := newestReceived(messages)
	if m == nil {
		return &StateError{"there is no message of another person to answer"}
	}
	r, err := s.cfg.Replies.ReplyTx(ctx, tx, w.AccountID, w.ThreadID)
	switch {
	case errors.Is(err, postroom.ErrNotFound):
	case err != nil:
		return err
	case r.State == replies.Drafted, r.State == replies.ReworkRequested:
		return &StateError{"there is a draft: look at it"}
	case w.Turn != 0 && w.Turn != r.Turn:
		return &StateError{changedSince}
	}
	_, err = s.cfg.Replies.AskedBy(ctx, tx, w.AccountID, w.ThreadID, m.ProviderID, "word:"+rand.Text(), w.By)
	return err
}

const changedSince = "the draft has changed since it was shown: look at it again"

// Rework has the draft written again as the instruction says. It is the person's own word: a draft that a person has
// changed is the text to work on then. After [replies.MaxReworks] it is a [*StateError], and the draft stays.
func (s *Service) Rework(ctx context.Context, tx queue.Tx, w Word, instruction string) error {
	if instruction = strings.TrimSpace(instruction); instruction == "" || len(instruction) > maxInstruction {
		return &StateError{fmt.Sprintf("say what should be different, in 1 to %d bytes", maxInstruction)}
	}
	r, err := s.cfg.Replies.Lock(ctx, tx, w.AccountID, w.ThreadID)
	if err == nil {
		err = w.check(&r)
	}
	switch {
	case err != nil:
		return err
	case r.State == replies.Pending:
		return &StateError{"the draft is being written: wait for it"}
	case r.Reworks >= replies.MaxReworks:
		return &StateError{fmt.Sprintf("the draft was written again %d times: go on in Gmail, or discard it", r.Reworks)}
	}
	if _, err := s.cfg.Replies.ReworkBy(ctx, tx, w.AccountID, w.ThreadID, "word:"+rand.Text(), w.By); err != nil {
		return err
	}
	return saveText(ctx, tx, &r, Text{Turn: r.Turn + 1, Author: ByRequest, Instruction: instruction})
}

// A Fate is what has become of a draft at Gmail whose need was discarded.
type Fate string

// The fates of a draft.
const (
	FateDeleted Fate = "deleted"
	FateKept    Fate = "kept" // a person has changed it
	FateNone    Fate = "none" // there was none
)

// Discard ends the need without an answer. The draft at Gmail is deleted if it is as this package has written it. One
// that a person has changed stays. record is called in the transaction that ends the need.
func (s *Service) Discard(ctx context.Context, w Word, record func(context.Context, queue.Tx) error) (Fate, error) {
	r, err := s.cfg.Replies.Reply(ctx, w.AccountID, w.ThreadID)
	if err == nil {
		err = w.check(&r)
	}
	if err == nil && s.cfg.Held != nil {
		err = s.cfg.Held(ctx)
	}
	if err != nil {
		return "", err
	}
	client, err := gmailapi.FindClient(ctx, s.cfg.Clients, w.AccountID)
	if err != nil {
		return "", err
	}
	profile, err := client.Profile(ctx)
	if err != nil {
		return "", err
	}
	fate, err := s.deleteOurs(ctx, &r)
	if err != nil {
		return "", err
	}
	err = s.cfg.Store.DB().Write(context.WithoutCancel(ctx), func(ctx context.Context, tx queue.Tx) error {
		now, err := s.cfg.Replies.Lock(ctx, tx, r.AccountID, r.ThreadID)
		if err == nil {
			_, err = s.cfg.Replies.SkippedBy(ctx, tx, r.AccountID, r.ThreadID, r.Need, w.By)
		}
		switch {
		case err != nil:
			return err
		case now.Need != r.Need || now.State.Ended() && now.State != replies.Skipped:
			return &StateError{"the draft has ended meanwhile: look at it again"}
		case !now.State.Ended(): // else a job has learned from Gmail that the draft is gone
			if err := s.moved(ctx, tx, "word:"+rand.Text(), &r, profile.HistoryID, outcome{state: replies.Skipped}); err != nil {
				return err
			}
		}
		return record(ctx, tx)
	})
	if err == nil && fate != FateNone {
		s.count(ctx, countDiscarded, &r)
	}
	return fate, err
}

// errTouched is what a draft has that a person changes while it is to be deleted.
var errTouched = errors.New("drafting: a person has changed the draft")

// deleteOurs deletes the draft of a reply, unless a person has changed it.
func (s *Service) deleteOurs(ctx context.Context, r *replies.Reply) (Fate, error) {
	l, err := s.Look(ctx, *r)
	switch {
	case err != nil:
		return "", err
	case l.Gone && l.Sent:
		return "", &StateError{"the draft was sent in Gmail"}
	case l.Gone:
		return FateNone, nil
	case l.Touched:
		return FateKept, nil
	}
	d, err := s.cfg.Drafts.DeleteIf(ctx, r.AccountID, r.DraftKey(), func(m *mime.Message) error {
		if hashOf(m) != l.SHA256 {
			return errTouched
		}
		return nil
	})
	if errors.Is(err, errTouched) {
		return FateKept, nil
	}
	if d.State == outbox.DraftSent || err == nil && d.SentMessageID != "" {
		err = &StateError{"the draft was sent in Gmail"}
	}
	return FateDeleted, err
}

// A Look is a draft as it is at Gmail.
type Look struct {
	Message *mime.Message // all of it; nil if there is none
	SHA256  string        // of what a person sees of it: sender, recipients, subject, texts and files
	Text    string        // without what it answers
	Touched bool          // a person has changed it
	Gone    bool          // there is none
	Sent    bool          // it is gone because a person has sent it
}

// Look reads the draft of a reply that has not ended, at Gmail.
func (s *Service) Look(ctx context.Context, r replies.Reply) (Look, error) {
	texts, err := s.Texts(ctx, r)
	if err != nil {
		return Look{}, err
	}
	w := &work{Service: s, reply: r}
	d, m, err := w.readDraft(ctx)
	if errors.Is(err, postroom.ErrNotFound) {
		return Look{Gone: true}, nil
	}
	if err != nil {
		return Look{}, err
	}
	if m == nil {
		return Look{Gone: true, Sent: d.State == outbox.DraftSent || d.SentMessageID != ""}, nil
	}
	sum := hashOf(m)
	_, ours := versions(texts).made(sum)
	return Look{Message: m, SHA256: sum, Text: written(m), Touched: !ours}, nil
}

func written(m *mime.Message) string { return strings.TrimSpace(reply.Read(m).Written()) }
