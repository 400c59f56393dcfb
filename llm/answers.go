package llm

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

// An AnswerCache stores answers to equal requests outside the database, as package llm/rediscache does. It must be safe
// for concurrent use, and must not wait long: a call of a model waits for it. Anyone who can write to it can answer in
// the model's place, and anyone who can read it can read the model's statements about mail.
type AnswerCache interface {
	// Answer returns the answer that is stored under the key. ok is false if there is none, or it has expired.
	Answer(ctx context.Context, key string) (answer []byte, ok bool, err error)
	// Keep keeps an answer for a time, in the place of an earlier one.
	Keep(ctx context.Context, key string, answer []byte, d time.Duration) error
}

// answerOf returns the answer that is stored under the key. The database has the answers from while the cache was
// unavailable.
func (m *Metered) answerOf(ctx context.Context, key string) (answer []byte, ok bool, err error) {
	if m.cfg.Answers != nil {
		answer, ok, err = m.cfg.Answers.Answer(ctx, key)
		if err == nil && ok {
			return answer, true, nil
		}
		if err != nil {
			m.cfg.Logger.WarnContext(ctx, "the cache of answers cannot be read; going on without", "model",
				m.cfg.Model, "error", err)
		}
	}
	var text string
	err = dbquery.Get(ctx, m.cfg.Records.cfg.DB.Reader(), &text, sqlAnswer, key, dbtime.Of(time.Now()))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("look for an answer of %s: %w", m.cfg.Model, err)
	}
	return []byte(text), true, nil
}

// keepElsewhere gives the answer, if there is one, to the cache, and returns it if the database is to keep it.
func (m *Metered) keepElsewhere(ctx context.Context, key string, resp *Response) (left []byte, err error) {
	if m.cfg.KeepAnswers < 0 || resp == nil {
		return nil, nil
	}
	answer, err := json.Marshal(resp)
	if err != nil || m.cfg.Answers == nil {
		return answer, err
	}
	if err := m.cfg.Answers.Keep(ctx, key, answer, m.cfg.KeepAnswers); err != nil {
		m.cfg.Logger.WarnContext(ctx, "the cache of answers cannot be written; the database keeps this one", "model",
			m.cfg.Model, "error", err)
		return answer, nil
	}
	return nil, nil
}

// keep keeps an answer for equal requests, if there is one to keep.
func (m *Metered) keep(ctx context.Context, tx queue.Tx, key string, answer []byte) error {
	if answer == nil {
		return nil
	}
	_, err := tx.ExecContext(ctx, sqlKeepAnswer, key, string(answer), dbtime.Of(queue.Now(tx).Add(m.cfg.KeepAnswers)))
	return err
}
