package drafting

import (
	"context"
	"crypto/rand"
	"strings"

	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/replies"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/queue"
)

// Send sends a draft, by a person's own word and once: as the person has seen it, which its [Look].SHA256 names. One
// that has changed since, or that has facts to check, is a [*StateError] and stays. record is called in a transaction
// of its own before Gmail is asked, so that who has said so is on record whatever happens. If it is not known whether
// Gmail has sent it, the error is [gmailapi.ClassUnclear]; a [JobCheck] finds that out, and nothing is sent again.
func (s *Service) Send(ctx context.Context, w Word, sha256 string, record func(context.Context, queue.Tx) error) error {
	r, err := s.cfg.Replies.Reply(ctx, w.AccountID, w.ThreadID)
	if err == nil {
		err = w.check(&r)
	}
	if err == nil && s.cfg.Held != nil {
		err = s.cfg.Held(ctx)
	}
	switch {
	case err != nil:
		return err
	case r.State != replies.Drafted:
		return &StateError{"the draft is being written: wait for it"}
	}
	l, err := s.Look(ctx, r)
	switch {
	case err != nil:
		return err
	case l.Gone && l.Sent:
		return &StateError{"the draft was sent in Gmail"}
	case l.Gone:
		return &StateError{"there is no draft at Gmail any more"}
	}
	if err := sendable(l.Message, sha256); err != nil {
		return err
	}
	client, err := gmailapi.FindClient(ctx, s.cfg.Clients, w.AccountID)
	if err != nil {
		return err
	}
	profile, err := client.Profile(ctx)
	if err != nil {
		return err
	}
	texts, err := s.Texts(ctx, r)
	if err != nil {
		return err
	}
	lesson, err := s.lesson(ctx, &r, texts, l.Text)
	if err != nil {
		return err
	}
	if err := s.cfg.Store.DB().Write(ctx, record); err != nil {
		return err
	}
	d, err := s.cfg.Drafts.SendIf(ctx, r.AccountID, r.DraftKey(),
		func(m *mime.Message) error { return s.stillSendable(ctx, w, &r, m, sha256) })
	if err != nil {
		return err
	}
	learn := lesson.of(d.SentMessageID)
	var changed bool
	err = s.cfg.Store.DB().Write(context.WithoutCancel(ctx), func(ctx context.Context, tx queue.Tx) (err error) {
		changed, err = s.cfg.Replies.SentBy(ctx, tx, r.AccountID, r.ThreadID, r.Need, d.SentMessageID, w.By)
		if err != nil || !changed {
			return err
		}
		if learn != nil {
			if err := learn(ctx, tx); err != nil {
				return err
			}
		}
		return s.moved(ctx, tx, "word:"+rand.Text(), &r, profile.HistoryID,
			outcome{state: replies.Sent, sent: d.SentMessageID})
	})
	if err == nil && changed {
		s.count(ctx, map[bool]count{false: countSent, true: countSentEdited}[l.Touched], &r)
	}
	return err
}

// stillSendable looks again once no job can change the draft any more.
func (s *Service) stillSendable(ctx context.Context, w Word, r *replies.Reply, m *mime.Message, sha256 string) error {
	now, err := s.cfg.Replies.Reply(ctx, r.AccountID, r.ThreadID)
	if err == nil {
		w.Turn = r.Turn
		err = w.check(&now)
	}
	if err == nil && s.cfg.Held != nil {
		err = s.cfg.Held(ctx)
	}
	if err != nil {
		return err
	}
	return sendable(m, sha256)
}

// checkMark begins a fact that a person has to check, as package compose writes it.
const checkMark = "[check:"

func sendable(m *mime.Message, sha256 string) error {
	switch {
	case hashOf(m) != sha256:
		return &StateError{changedSince}
	case len(m.To)+len(m.Cc)+len(m.Bcc) == 0:
		return &StateError{"the draft has no recipient"}
	case strings.Contains(written(m), checkMark):
		return &StateError{"the draft has facts to check, marked " + checkMark + " …]: check and change them in Gmail first"}
	}
	return nil
}
