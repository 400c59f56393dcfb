package enrich

import (
	"encoding/json"
	"time"

	"github.com/postroom-go/postroom/internal/dbtime"
)

// The statements run on SQLite and PostgreSQL alike: parameters are numbered in the order of their first appearance.

const (
	columns = `account_id, message_id, received_at, state, category, category_confidence, category_by,
  category_reasoning, importance_level, importance_score, importance_confidence, importance_by, importance_reasoning,
  action_items, events, calendar_confidence, calendar_by, calendar_reasoning, unsubscribe_method, unsubscribe_url,
  faults, denials, unsure, answer, processing_time_ms, llm_calls_count, total_tokens, created_at, updated_at, ended_at`

	sqlInsert = `
INSERT INTO enrichments (account_id, message_id, received_at, state, answer, llm_calls_count, total_tokens,
  created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8)
ON CONFLICT (account_id, message_id) DO NOTHING`

	sqlGet = `
SELECT ` + columns + `
FROM enrichments
WHERE account_id = $1 AND message_id = $2`

	// On PostgreSQL the row stays locked until the transaction ends, so that two changes of it do not undo each other.
	sqlLock = `
UPDATE enrichments
SET updated_at = $1
WHERE account_id = $2 AND message_id = $3
RETURNING ` + columns

	sqlChange = `
UPDATE enrichments
SET state = $1, category = $2, category_confidence = $3, category_by = $4, category_reasoning = $5,
  importance_level = $6, importance_score = $7, importance_confidence = $8, importance_by = $9,
  importance_reasoning = $10, action_items = $11, action_count = $12, events = $13, event_count = $14,
  calendar_confidence = $15, calendar_by = $16, calendar_reasoning = $17, unsubscribe_method = $18,
  unsubscribe_url = $19, faults = $20, denials = $21, unsure = $22, answer = $23, processing_time_ms = $24,
  llm_calls_count = $25, total_tokens = $26, ended_at = $27
WHERE account_id = $28 AND message_id = $29`

	sqlList = `
SELECT ` + columns + `
FROM enrichments
WHERE account_id = $1`

	sqlNewestFirst = `
ORDER BY received_at DESC, message_id DESC
LIMIT `

	sqlExists = `EXISTS (SELECT 1 FROM enrichments WHERE account_id = %s AND message_id = %s`

	sqlForget = `DELETE FROM enrichments WHERE account_id = $1`

	sqlPrune = `
DELETE FROM enrichments
WHERE (account_id, message_id) IN (
  SELECT account_id, message_id
  FROM enrichments
  WHERE received_at < $1
  LIMIT $2)`
)

type row struct {
	AccountID            string      `db:"account_id"`
	MessageID            string      `db:"message_id"`
	ReceivedAt           dbtime.Time `db:"received_at"`
	State                State       `db:"state"`
	Category             string      `db:"category"`
	CategoryConfidence   float64     `db:"category_confidence"`
	CategoryBy           By          `db:"category_by"`
	CategoryReasoning    string      `db:"category_reasoning"`
	Level                string      `db:"importance_level"`
	Score                float64     `db:"importance_score"`
	ImportanceConfidence float64     `db:"importance_confidence"`
	ImportanceBy         By          `db:"importance_by"`
	ImportanceReasoning  string      `db:"importance_reasoning"`
	ActionItems          string      `db:"action_items"`
	Events               string      `db:"events"`
	CalendarConfidence   float64     `db:"calendar_confidence"`
	CalendarBy           By          `db:"calendar_by"`
	CalendarReasoning    string      `db:"calendar_reasoning"`
	UnsubscribeMethod    string      `db:"unsubscribe_method"`
	UnsubscribeURL       string      `db:"unsubscribe_url"`
	Faults               string      `db:"faults"`
	Denials              string      `db:"denials"`
	Unsure               int         `db:"unsure"`
	Answer               string      `db:"answer"`
	Millis               int64       `db:"processing_time_ms"`
	Calls                int         `db:"llm_calls_count"`
	Tokens               int         `db:"total_tokens"`
	CreatedAt            dbtime.Time `db:"created_at"`
	UpdatedAt            dbtime.Time `db:"updated_at"`
	EndedAt              dbtime.Time `db:"ended_at"`
}

func (r *row) enrichment() (*Enrichment, error) {
	e := &Enrichment{
		AccountID: r.AccountID, MessageID: r.MessageID, ReceivedAt: r.ReceivedAt.Time, State: r.State,
		Category: r.Category, CategoryTold: Told{r.CategoryBy, r.CategoryConfidence, r.CategoryReasoning},
		Level: r.Level, Score: r.Score,
		ImportanceTold: Told{r.ImportanceBy, r.ImportanceConfidence, r.ImportanceReasoning},
		CalendarTold:   Told{r.CalendarBy, r.CalendarConfidence, r.CalendarReasoning},
		Unsubscribe:    Unsubscribe{r.UnsubscribeMethod, r.UnsubscribeURL}, Unsure: stagesOf(r.Unsure),
		ProcessingTime: time.Duration(r.Millis) * time.Millisecond, Calls: r.Calls, Tokens: r.Tokens,
		CreatedAt: r.CreatedAt.Time, UpdatedAt: r.UpdatedAt.Time, EndedAt: r.EndedAt.Time, answer: r.Answer,
	}
	for _, column := range []struct {
		text string
		into any
	}{{r.ActionItems, &e.ActionItems}, {r.Events, &e.Events}, {r.Faults, &e.Faults}, {r.Denials, &e.Denials}} {
		if err := json.Unmarshal([]byte(column.text), column.into); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// values are the arguments of sqlChange.
func (e *Enrichment) values() ([]any, error) {
	var texts [4]string
	for i, column := range []any{append([]ActionItem{}, e.ActionItems...), append([]Event{}, e.Events...),
		e.Faults, e.Denials} {
		text, err := json.Marshal(column)
		if err != nil {
			return nil, err
		}
		texts[i] = string(text)
	}
	if e.Faults == nil {
		texts[2] = "{}"
	}
	if e.Denials == nil {
		texts[3] = "{}"
	}
	c, i, k := e.CategoryTold, e.ImportanceTold, e.CalendarTold
	return []any{string(e.State), e.Category, c.Confidence, string(c.By), c.Reasoning,
		e.Level, e.Score, i.Confidence, string(i.By), i.Reasoning, texts[0], len(e.ActionItems), texts[1], len(e.Events),
		k.Confidence, string(k.By), k.Reasoning, e.Unsubscribe.Method, e.Unsubscribe.URL, texts[2], texts[3],
		bitsOf(e.Unsure), e.answer, e.ProcessingTime.Milliseconds(), e.Calls, e.Tokens, dbtime.Of(e.EndedAt),
		e.AccountID, e.MessageID}, nil
}

// bits are those of the column unsure.
var bits = map[Stage]int{StageCategory: 1, StageImportance: 2, StageCalendar: 4}

func bitsOf(stages []Stage) (n int) {
	for _, s := range stages {
		n |= bits[s]
	}
	return n
}

func stagesOf(n int) (stages []Stage) {
	for _, s := range Stages() {
		if n&bits[s] != 0 {
			stages = append(stages, s)
		}
	}
	return stages
}
