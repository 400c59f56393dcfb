package voice

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/queue"
)

// MaxProfile is the most characters of a profile.
const MaxProfile = 2000

// A Profile is how the owner of a mailbox writes. The zero Profile is that of a mailbox of which nothing was learned.
type Profile struct {
	AccountID string
	Text      string
	EditedBy  string    // who has edited it last; empty if it is as it was learned
	Version   int64     // counts the changes of Text
	Mails     int       // how many mails it was learned from
	Lessons   int       // how many lessons it was learned from
	Note      string    // why nothing was learned at the last attempt; may be empty
	ChangedAt time.Time // of Text

	triedAt time.Time // when the model has learned nothing the last time; zero for never
}

// Edited reports whether the owner has edited the profile.
func (p *Profile) Edited() bool { return p.EditedBy != "" }

const (
	sqlProfile = `
SELECT account_id, body, edited_by, version, mails, lessons, note, changed_at, tried_at
FROM voice_profiles
WHERE account_id = $1`

	sqlInsertProfile = `
INSERT INTO voice_profiles (account_id, body, edited_by, version, mails, lessons, note, changed_at)
VALUES ($1, '', '', 0, 0, 0, '', NULL)
ON CONFLICT (account_id) DO NOTHING`

	sqlEditProfile = `
UPDATE voice_profiles
SET body = $1, edited_by = $2, version = version + 1, note = '', changed_at = $3
WHERE account_id = $4 AND version = $5`

	sqlLearned = `
UPDATE voice_profiles
SET body = $1, edited_by = '', version = version + 1, mails = $2, lessons = $3, note = '', changed_at = $4
WHERE account_id = $5 AND version = $6`

	sqlTried = `UPDATE voice_profiles SET tried_at = $1 WHERE account_id = $2`

	sqlNote = `UPDATE voice_profiles SET note = $1 WHERE account_id = $2 AND version = $3`
)

type profileRow struct {
	AccountID string      `db:"account_id"`
	Body      string      `db:"body"`
	EditedBy  string      `db:"edited_by"`
	Version   int64       `db:"version"`
	Mails     int         `db:"mails"`
	Lessons   int         `db:"lessons"`
	Note      string      `db:"note"`
	ChangedAt dbtime.Time `db:"changed_at"`
	TriedAt   dbtime.Time `db:"tried_at"`
}

// Profile returns the profile of an account; the zero Profile with its id if there is none.
func (s *Service) Profile(ctx context.Context, accountID string) (Profile, error) {
	return read(ctx, s.cfg.Store.DB().Reader(), accountID)
}

func read(ctx context.Context, q dbquery.Querier, accountID string) (Profile, error) {
	var r profileRow
	err := dbquery.Get(ctx, q, &r, sqlProfile, accountID)
	if errors.Is(err, sql.ErrNoRows) {
		return Profile{AccountID: accountID}, nil
	}
	if err != nil {
		return Profile{}, fmt.Errorf("voice: profile of account %s: %w", accountID, err)
	}
	return Profile{r.AccountID, r.Body, r.EditedBy, r.Version, r.Mails, r.Lessons, r.Note, r.ChangedAt.Time,
		r.TriedAt.Time}, nil
}

// A ProfileError is the error of a text, or of a wish, that the profile does not permit.
type ProfileError struct{ Reason string }

// Error returns the reason.
func (e *ProfileError) Error() string { return e.Reason }

var errChanged = &ProfileError{"the profile has changed since it was shown: look at it again"}

// Edit stores what the owner has written as the profile of an account that exists. It stays until the owner edits it
// again, or has it replaced by [Service.Rebuild]; an empty one is none. The version is that which the owner has seen: a
// text that is too long, and a profile that has changed since, are a [*ProfileError].
func (s *Service) Edit(ctx context.Context, tx queue.Tx, accountID, text string, version int64, by string) error {
	text = strings.TrimSpace(strings.ReplaceAll(dbvalue.Clean(text), "\r\n", "\n"))
	switch n := utf8.RuneCountInString(text); {
	case n > MaxProfile:
		return &ProfileError{fmt.Sprintf("the profile has %d characters: write %d at most", n, MaxProfile)}
	case by == "":
		return errors.New("voice: Edit: by is empty; name who has edited the profile")
	}
	if _, err := s.cfg.Store.AccountTx(ctx, tx, accountID); err != nil {
		return err
	}
	_, err := dbquery.Exec(ctx, tx, sqlInsertProfile, accountID)
	if err != nil {
		return fmt.Errorf("voice: edit the profile of account %s: %w", accountID, err)
	}
	changed, err := dbquery.Exec(ctx, tx, sqlEditProfile, text, by, dbtime.Of(queue.Now(tx)), accountID, version)
	switch {
	case err != nil:
		return fmt.Errorf("voice: edit the profile of account %s: %w", accountID, err)
	case changed == 0:
		return errChanged
	}
	return nil
}
