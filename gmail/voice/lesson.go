package voice

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/queue"
)

// A Lesson is what the owner has changed in a draft before sending it, in sentences, without figures, addresses and
// links, and without what others have written in the thread.
type Lesson struct {
	Removed []string // of the draft
	Added   []string // of the owner
	At      time.Time
}

// A SentDraft is a draft that was sent.
type SentDraft struct {
	AccountID string
	MessageID string              // Gmail's, of the message that was sent
	Draft     string              // the text as it was written
	Sent      string              // the text as it was sent, without what it answers
	Thread    []*postroom.Message // the thread that it was sent in
}

const (
	maxSentences = 8   // of each list of a lesson
	maxSentence  = 300 // characters
	maxLessons   = 20  // that a profile is learned from
	keptLessons  = 500 // of an account
)

const (
	sqlInsertLesson = `
INSERT INTO voice_lessons (account_id, message_id, removed, added, at)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (account_id, message_id) DO NOTHING`

	sqlPruneLessons = `
DELETE FROM voice_lessons
WHERE account_id = $1 AND at < (
  SELECT at FROM voice_lessons WHERE account_id = $2 ORDER BY at DESC LIMIT 1 OFFSET $3)`

	sqlLessons = `
SELECT message_id, removed, added, at
FROM voice_lessons
WHERE account_id = $1
ORDER BY at DESC, message_id`
)

// Sent makes the lesson of a draft that was sent, once for each message. The function that it returns stores it, in the
// caller's transaction.
func (s *Service) Sent(d SentDraft) (record func(ctx context.Context, tx queue.Tx) error) {
	others := foreignOf(d.Thread)
	was, is := sentences(others, d.Draft), sentences(others, d.Sent)
	removed, added := missing(was, is), missing(is, was)
	return func(ctx context.Context, tx queue.Tx) error {
		_, err := dbquery.Exec(ctx, tx, sqlInsertLesson, d.AccountID, d.MessageID, list(removed), list(added),
			dbtime.Of(queue.Now(tx)))
		if err == nil {
			_, err = dbquery.Exec(ctx, tx, sqlPruneLessons, d.AccountID, d.AccountID, keptLessons-1)
		}
		if err != nil {
			return fmt.Errorf("voice: lesson of message %s: %w", d.MessageID, err)
		}
		return nil
	}
}

// sentences returns the sentences of a text that no other has written.
func sentences(others foreign, text string) (list []string) {
	for _, sentence := range parted(text) {
		if !others.has(sentence) {
			list = append(list, masked(sentence))
		}
	}
	return list
}

// parted parts a text at the ends of lines and sentences.
func parted(text string) (list []string) {
	for line := range strings.Lines(strings.ReplaceAll(text, "\r\n", "\n")) {
		rest := strings.TrimSpace(line)
		for rest != "" {
			end := len(rest)
			for _, mark := range []string{". ", "! ", "? "} {
				if i := strings.Index(rest, mark); i >= 0 {
					end = min(end, i+1)
				}
			}
			list = append(list, rest[:end])
			rest = strings.TrimSpace(rest[end:])
		}
	}
	return list
}

// missing returns the sentences that the other list has not.
func missing(list, other []string) (found []string) {
	for _, sentence := range list {
		if !slices.Contains(other, sentence) && len(found) < maxSentences {
			found = append(found, cut(sentence, maxSentence))
		}
	}
	return found
}

func cut(text string, most int) string {
	if utf8.RuneCountInString(text) > most {
		text = string([]rune(text)[:most])
	}
	return text
}

func list(sentences []string) string {
	text, err := json.Marshal(slices.Concat([]string{}, sentences))
	if err != nil { // strings are JSON always
		panic(err)
	}
	return dbvalue.Clean(string(text))
}

// Lessons returns the newest lessons of an account, the newest first.
func (s *Service) Lessons(ctx context.Context, accountID string) (lessons []Lesson, err error) {
	var rows []struct {
		MessageID string      `db:"message_id"`
		Removed   string      `db:"removed"`
		Added     string      `db:"added"`
		At        dbtime.Time `db:"at"`
	}
	if err := dbquery.Select(ctx, s.cfg.Store.DB().Reader(), &rows, sqlLessons, accountID); err != nil {
		return nil, fmt.Errorf("voice: lessons of account %s: %w", accountID, err)
	}
	for _, r := range rows {
		l := Lesson{At: r.At.Time}
		if err := json.Unmarshal([]byte(r.Removed), &l.Removed); err != nil {
			return nil, fmt.Errorf("voice: lesson of message %s: %w", r.MessageID, err)
		}
		if err := json.Unmarshal([]byte(r.Added), &l.Added); err != nil {
			return nil, fmt.Errorf("voice: lesson of message %s: %w", r.MessageID, err)
		}
		if len(lessons) < maxLessons && len(l.Removed)+len(l.Added) > 0 {
			lessons = append(lessons, l)
		}
	}
	return lessons, nil
}
