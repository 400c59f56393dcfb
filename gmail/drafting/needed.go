package drafting

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/replies"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/queue"
)

const (
	sqlForgetDaysBefore = `DELETE FROM reply_days WHERE account_id = $1 AND day < $2`

	sqlBeginOfDay = `
INSERT INTO reply_days (account_id, day, begun, refused)
VALUES ($1, $2, 1, 0)
ON CONFLICT (account_id, day) DO UPDATE SET begun = reply_days.begun + 1
WHERE reply_days.begun < $3`

	sqlGiveBackDay = `UPDATE reply_days SET begun = begun - 1 WHERE account_id = $1 AND day = $2`

	sqlRefuseOfDay = `
UPDATE reply_days
SET refused = refused + 1
WHERE account_id = $1 AND day = $2
RETURNING refused`

	sqlForgetDays = `DELETE FROM reply_days WHERE account_id = $1`
)

// Needed has a draft written for a message that seems to need an answer, although no person has asked for it. A message
// counts once, however often it is reported. Once [Config].PerDay drafts were begun in the mailbox, the message gets
// the label Needs Response instead, and a person who takes it off and puts it on again asks for the draft.
func (s *Service) Needed(ctx context.Context, tx queue.Tx, msg *postroom.Message) error {
	if err := s.pastNudge(ctx, tx, threadKey{msg.AccountID, msg.ProviderThreadID}); err != nil {
		return err
	}
	day := queue.Now(tx).UTC().Format(time.DateOnly)
	_, full, err := s.beginOfDay(ctx, tx, msg, day, s.cfg.Replies.Needed)
	if err == nil && full {
		err = s.tooMany(ctx, tx, msg, day)
	}
	return err
}

// beginOfDay begins a need for a message, unless the day is full.
func (s *Service) beginOfDay(ctx context.Context, tx queue.Tx, msg *postroom.Message, day string,
	begin func(ctx context.Context, tx queue.Tx, accountID, threadID, messageID string) (bool, error)) (
	began, full bool, err error) {
	if _, err := dbquery.Exec(ctx, tx, sqlForgetDaysBefore, msg.AccountID, day); err != nil {
		return false, false, fmt.Errorf("drafting: drafts of a day: %w", err)
	}
	begun, err := dbquery.Exec(ctx, tx, sqlBeginOfDay, msg.AccountID, day, s.cfg.PerDay)
	if err != nil {
		return false, false, fmt.Errorf("drafting: drafts of a day: %w", err)
	}
	if begun == 0 {
		return false, true, nil
	}
	began, err = begin(ctx, tx, msg.AccountID, msg.ProviderThreadID, msg.ProviderID)
	if err == nil && !began {
		_, err = dbquery.Exec(ctx, tx, sqlGiveBackDay, msg.AccountID, day)
	}
	return began, false, err
}

// tooMany leaves a message to a person, and says so where the person looks. A thread whose draft is written, or lies
// ready, stays as it is.
func (s *Service) tooMany(ctx context.Context, tx queue.Tx, msg *postroom.Message, day string) error {
	work := LabelsWork{AccountID: msg.AccountID, ThreadID: msg.ProviderThreadID, Need: 1, State: replies.Skipped,
		Add: needsResponse}
	skipped, err := s.cfg.Replies.NotNeeded(ctx, tx, msg.AccountID, msg.ProviderThreadID, msg.ProviderID,
		fmt.Sprintf("%d drafts were begun in the mailbox on %s, and no more are on a day", s.cfg.PerDay, day))
	if err != nil {
		return err
	}
	if !skipped {
		r, err := s.cfg.Replies.ReplyTx(ctx, tx, msg.AccountID, msg.ProviderThreadID)
		if errors.Is(err, postroom.ErrNotFound) || err == nil && (!r.State.Ended() || r.MessageID == msg.ProviderID) {
			return nil
		}
		if err != nil {
			return err
		}
		work.Need, work.State = r.Need, r.State
	}
	var refused int64
	if err := dbquery.Get(ctx, tx, &refused, sqlRefuseOfDay, msg.AccountID, day); err != nil {
		return fmt.Errorf("drafting: drafts of a day: %w", err)
	}
	if refused == 1 {
		s.cfg.Logger.WarnContext(ctx, "no more drafts are begun in the mailbox today; mail that needs an answer gets the "+
			"label "+s.cfg.Labels.NeedsResponse, "account", msg.AccountID, "drafts", s.cfg.PerDay, "day", day)
	}
	return s.enqueueLabels(ctx, tx, work, "message:"+msg.ProviderID)
}

// pressOurs records that the button Needs Response is pressed before this package puts the label on. The history may
// report the label before it is stored as a change of our own, and a pressed button asks for nothing. It stays pressed
// until a person takes the label off.
func (l *labelling) pressOurs(ctx context.Context, tx queue.Tx) error {
	_, err := l.lockButton(ctx, tx, needsResponse)
	if err == nil {
		err = l.setButton(ctx, tx, needsResponse, true, 0)
	}
	return err
}
