package drafting

import (
	"context"
	"fmt"
	"time"

	"github.com/postroom-go/postroom/gmail/replies"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/queue"
)

// An Author is who wrote a text.
type Author string

// The authors of texts.
const (
	ByWriter Author = "writer"
	ByPerson Author = "person"
	// ByRequest is of an instruction that a person has given elsewhere than in the draft; its Body is empty.
	ByRequest Author = "request"
)

// A Text is a version of an answer.
type Text struct {
	Turn        int64
	Author      Author
	Body        string
	Instruction string // of the person
	WrittenAt   time.Time

	draft, base string // hashes of drafts
}

const (
	sqlTexts = `
SELECT turn, author, body, instruction, draft_sha256, base_sha256, written_at
FROM reply_texts
WHERE account_id = $1 AND thread_id = $2 AND need = $3
ORDER BY turn, author`

	sqlSaveText = `
INSERT INTO reply_texts (account_id, thread_id, need, turn, author, body, instruction, draft_sha256, base_sha256, written_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
ON CONFLICT (account_id, thread_id, need, turn, author) DO UPDATE SET body = excluded.body,
  instruction = excluded.instruction, draft_sha256 = excluded.draft_sha256, base_sha256 = excluded.base_sha256,
  written_at = excluded.written_at`

	sqlEndTexts = `DELETE FROM reply_texts WHERE account_id = $1 AND thread_id = $2 AND need <= $3`

	sqlForgetTexts = `DELETE FROM reply_texts WHERE account_id = $1`
)

// Texts returns the versions of the answer of a reply that has not ended, oldest first.
func (s *Service) Texts(ctx context.Context, r replies.Reply) ([]Text, error) {
	var rows []struct {
		Turn        int64       `db:"turn"`
		Author      Author      `db:"author"`
		Body        string      `db:"body"`
		Instruction string      `db:"instruction"`
		Draft       string      `db:"draft_sha256"`
		Base        string      `db:"base_sha256"`
		WrittenAt   dbtime.Time `db:"written_at"`
	}
	err := dbquery.Select(ctx, s.cfg.Store.DB().Reader(), &rows, sqlTexts, r.AccountID, r.ThreadID, r.Need)
	if err != nil {
		return nil, fmt.Errorf("drafting: texts of thread %s: %w", r.ThreadID, err)
	}
	list := make([]Text, len(rows))
	for i, row := range rows {
		list[i] = Text{row.Turn, row.Author, row.Body, row.Instruction, row.WrittenAt.Time, row.Draft, row.Base}
	}
	return list, nil
}

func saveText(ctx context.Context, tx queue.Tx, r *replies.Reply, t Text) error {
	_, err := dbquery.Exec(ctx, tx, sqlSaveText, r.AccountID, r.ThreadID, r.Need, t.Turn, string(t.Author),
		dbvalue.Clean(t.Body), dbvalue.Clean(t.Instruction), t.draft, t.base, dbtime.Of(queue.Now(tx)))
	if err != nil {
		err = fmt.Errorf("drafting: text of thread %s: %w", r.ThreadID, err)
	}
	return err
}

// save stores a text, unless the mailbox was removed meanwhile.
func (w *work) save(ctx context.Context, t Text) error {
	return w.attempt.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		if _, err := w.cfg.Replies.Lock(ctx, tx, w.reply.AccountID, w.reply.ThreadID); err != nil {
			return err
		}
		return saveText(ctx, tx, &w.reply, t)
	})
}

// endTexts deletes the versions of an answer that has ended.
func endTexts(ctx context.Context, tx queue.Tx, r *replies.Reply) error {
	_, err := dbquery.Exec(ctx, tx, sqlEndTexts, r.AccountID, r.ThreadID, r.Need)
	return err
}

// versions are the texts of a need.
type versions []Text

// ofTurn returns the text of the writer for a turn.
func (v versions) ofTurn(turn int64) (Text, bool) {
	for _, t := range v {
		if t.Turn == turn && t.Author == ByWriter {
			return t, true
		}
	}
	return Text{}, false
}

// made returns the text of the writer whose draft has the hash: a draft without one was touched by a person.
func (v versions) made(draft string) (Text, bool) {
	for _, t := range v {
		if t.Author == ByWriter && t.draft == draft {
			return t, true
		}
	}
	return Text{}, false
}

// asked returns the instruction of a [Word] for a turn; empty if there is none.
func (v versions) asked(turn int64) string {
	for _, t := range v {
		if t.Turn == turn && t.Author == ByRequest {
			return t.Instruction
		}
	}
	return ""
}

// last returns the newest text of the writer; the zero Text if there is none.
func (v versions) last() (last Text) {
	for _, t := range v {
		if t.Author == ByWriter {
			last = t
		}
	}
	return last
}
