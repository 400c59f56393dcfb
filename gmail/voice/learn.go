package voice

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/mailindex"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

// JobLearn learns the profile of an account.
const JobLearn queue.Type[LearnWork] = "voice_learn"

// A LearnWork is the payload of a [JobLearn]. What is learned is stored only while the profile has the Version. Without
// an account, the job is one of [NewDueJob].
type LearnWork struct {
	AccountID string `json:"account_id,omitempty"`
	Version   int64  `json:"version,omitempty"`
}

// NewDueJob makes the job that has the profile of each account learned for which the model was not asked in the last 30
// days. Schedule it once a day.
func NewDueJob() queue.NewJob {
	return JobLearn.New(LearnWork{}, &queue.Options{
		MaxAttempts: attempts.Unattended, Key: queue.WhileUnfinished(string(JobLearn)),
	})
}

// learnedFor is how long a profile is good.
const learnedFor = 30 * 24 * time.Hour

// Rebuild has the profile of an account learned anew, now. One that the owner has edited is a [*ProfileError], unless
// it is to be replaced and has the version, which is that which the owner has seen. The version of a profile that
// nobody has edited does not matter.
func (s *Service) Rebuild(ctx context.Context, tx queue.Tx, accountID string, version int64, replace bool) error {
	p, err := read(ctx, tx, accountID)
	switch {
	case err != nil:
		return err
	case p.Edited() && !replace:
		return &ProfileError{fmt.Sprintf("%s has edited the profile on %s, and it stays; say that it may be replaced, to "+
			"have it learned anew", p.EditedBy, p.ChangedAt.Format(time.DateOnly))}
	case p.Edited() && p.Version != version:
		return errChanged
	}
	return s.enqueue(ctx, tx, p)
}

func (s *Service) enqueue(ctx context.Context, tx queue.Tx, p Profile) error {
	if _, err := s.cfg.Store.AccountTx(ctx, tx, p.AccountID); err != nil {
		return err
	}
	if _, err := dbquery.Exec(ctx, tx, sqlInsertProfile, p.AccountID); err != nil {
		return fmt.Errorf("voice: profile of account %s: %w", p.AccountID, err)
	}
	_, err := s.cfg.Queue.EnqueueTx(ctx, tx, JobLearn.New(LearnWork{p.AccountID, p.Version}, &queue.Options{
		MaxAttempts: attempts.Unattended, LimitKey: mailstore.LimitKey(p.AccountID),
		Key: queue.WhileUnfinished(fmt.Sprintf("%s:%s:%d", JobLearn, p.AccountID, p.Version)),
	}))
	return err
}

func (s *Service) learn(ctx context.Context, w *queue.Work[LearnWork]) error {
	if w.Payload.AccountID == "" {
		return s.due(ctx, w)
	}
	p, err := s.Profile(ctx, w.Payload.AccountID)
	if err != nil || p.Version != w.Payload.Version {
		return err
	}
	m, err := s.material(ctx, p.AccountID)
	if err != nil {
		return err
	}
	if len(m.Mail) < leastMails {
		return s.notLearned(ctx, w, false, fmt.Sprintf("a profile needs %d sent mails with %d words of your own or more, "+
			"and there are %d", leastMails, leastWords, len(m.Mail)))
	}
	text, err := queue.Step(ctx, w, "learn", func(ctx context.Context) (string, error) {
		return s.cfg.Learner.Learn(ctx, m)
	})
	if err != nil {
		return err
	}
	if text = cut(strings.TrimSpace(text), MaxProfile); text == "" {
		return s.notLearned(ctx, w, true, "the model has learned nothing of the mail")
	}
	return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
		n, err := dbquery.Exec(ctx, tx, sqlLearned, text, len(m.Mail), len(m.Lessons), dbtime.Of(queue.Now(tx)), p.AccountID,
			p.Version)
		if err != nil {
			return fmt.Errorf("voice: profile of account %s: %w", p.AccountID, err)
		}
		if n == 0 {
			s.cfg.Logger.InfoContext(ctx, "the profile was edited while one was learned, and stays", "account", p.AccountID)
		}
		return nil
	})
}

// notLearned says why nothing was learned, and whether the model was asked. The profile stays as it is.
func (s *Service) notLearned(ctx context.Context, w *queue.Work[LearnWork], asked bool, why string) error {
	s.cfg.Logger.InfoContext(ctx, "no profile was learned", "account", w.Payload.AccountID, "why", why)
	return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
		_, err := dbquery.Exec(ctx, tx, sqlNote, why, w.Payload.AccountID, w.Payload.Version)
		if err == nil && asked {
			_, err = dbquery.Exec(ctx, tx, sqlTried, dbtime.Of(queue.Now(tx)), w.Payload.AccountID)
		}
		if err != nil {
			return fmt.Errorf("voice: profile of account %s: %w", w.Payload.AccountID, err)
		}
		return nil
	})
}

// due has the profiles learned that are due.
func (s *Service) due(ctx context.Context, w *queue.Work[LearnWork]) error {
	accounts, err := s.cfg.Store.Accounts(ctx)
	if err != nil {
		return err
	}
	since := w.Job.StartedAt.Add(-learnedFor)
	var list []Profile
	for i := range accounts {
		p, err := s.Profile(ctx, accounts[i].ID)
		if err != nil {
			return err
		}
		if !p.Edited() && !p.ChangedAt.After(since) && !p.triedAt.After(since) {
			list = append(list, p)
		}
	}
	return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
		for _, p := range list {
			// An account that was removed meanwhile has no profile.
			if err := s.enqueue(ctx, tx, p); err != nil && !errors.Is(err, postroom.ErrNotFound) {
				return err
			}
		}
		return nil
	})
}

const (
	leastMails = 10
	leastWords = 20
	mostMails  = 30
	maxMail    = 800  // characters
	mostRead   = 1000 // messages
	pageSize   = 100
)

// material reads what a profile is learned from.
func (s *Service) material(ctx context.Context, accountID string) (m Material, err error) {
	m.AccountID = accountID
	if m.Lessons, err = s.Lessons(ctx, accountID); err != nil {
		return m, err
	}
	drafts, err := s.cfg.Store.DraftIDs(ctx, accountID)
	if err != nil {
		return m, err
	}
	search := mailindex.Search{Query: "in:sent", Limit: pageSize}
	for range mostRead / pageSize {
		page, err := s.cfg.Store.Search(ctx, accountID, search)
		if err != nil {
			return m, err
		}
		for _, sent := range page.Messages {
			if !sent.HasLabel(postroom.LabelSent) || isAutomatic(sent) || drafts[sent.ProviderID] || drafts[sent.MessageID] {
				continue
			}
			text, err := s.own(ctx, sent)
			if err != nil {
				return m, err
			}
			if len(words(text)) >= leastWords && !slices.Contains(m.Mail, text) {
				m.Mail = append(m.Mail, text)
			}
			if len(m.Mail) == mostMails {
				return m, nil
			}
		}
		if search.Cursor = page.Next; search.Cursor == "" {
			break
		}
	}
	return m, nil
}

// own is what the owner has written in a message.
func (s *Service) own(ctx context.Context, sent *postroom.Message) (string, error) {
	text := written(sent)
	if len(words(text)) < leastWords {
		return "", nil
	}
	thread, err := s.cfg.Store.ThreadMessages(ctx, sent.AccountID, sent.ThreadID)
	if err != nil {
		return "", err
	}
	return cut(masked(foreignOf(thread).without(text)), maxMail), nil
}

// isAutomatic reports whether a program has sent the message, such as an answer by a rule (RFC 3834, section 5).
func isAutomatic(m *postroom.Message) bool {
	return slices.ContainsFunc(m.Header("Auto-Submitted"), func(v string) bool { return !strings.EqualFold(v, "no") })
}
