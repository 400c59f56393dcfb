package away

import (
	"github.com/postroom-go/postroom/internal/dbtime"
)

const (
	columns = `account_id, id, body, days, audience, from_at, until_at, since, set_at, set_by, ended_at, ended_by`

	sqlAbsence = `
SELECT ` + columns + `
FROM absences
WHERE account_id = $1`

	sqlAbsenceByID = `
SELECT ` + columns + `
FROM absences
WHERE id = $1`

	// An absence that is set while it is on goes on: who was answered is not answered again, and what came is answered.
	sqlSet = `
INSERT INTO absences (` + columns + `)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8, $9, NULL, '')
ON CONFLICT (account_id) DO UPDATE SET id = excluded.id, body = excluded.body, days = excluded.days,
  audience = excluded.audience, until_at = excluded.until_at,
  from_at = CASE WHEN absences.ended_at IS NULL AND absences.until_at > excluded.set_at
    AND absences.from_at <= excluded.set_at THEN absences.from_at ELSE excluded.from_at END,
  since = CASE WHEN absences.ended_at IS NULL AND absences.until_at > excluded.set_at THEN absences.since
    ELSE excluded.since END,
  set_at = excluded.set_at, set_by = excluded.set_by, ended_at = NULL, ended_by = ''`

	sqlEnd = `
UPDATE absences
SET ended_at = $2, ended_by = $3
WHERE account_id = $1 AND ended_at IS NULL AND until_at > $2`

	// A newer row of the sender is the answer that it has got.
	sqlClaim = `
INSERT INTO absence_answers (account_id, sender, message_id, answered_at)
VALUES ($1, $2, $3, $4)
ON CONFLICT (account_id, sender) DO UPDATE SET message_id = excluded.message_id, answered_at = excluded.answered_at,
  action_id = ''
WHERE absence_answers.answered_at < $5`

	sqlTurn = `SELECT message_id, action_id, answered_at FROM absence_answers WHERE account_id = $1 AND sender = $2`

	sqlAnswering = `UPDATE absence_answers SET action_id = $3 WHERE account_id = $1 AND sender = $2`

	sqlRelease = `DELETE FROM absence_answers WHERE account_id = $1 AND action_id = $2`

	sqlAnswers = `SELECT action_id FROM absence_answers WHERE account_id = $1 AND answered_at >= $2 AND action_id <> ''`

	sqlCountAnswers = `SELECT count(*) FROM absence_answers WHERE account_id = $1 AND answered_at >= $2`

	sqlNoAnswer = `
INSERT INTO absence_unanswered (account_id, message_id, why, decided_at)
VALUES ($1, $2, $3, $4)
ON CONFLICT (account_id, message_id) DO UPDATE SET why = excluded.why, decided_at = excluded.decided_at`

	sqlUnanswered = `SELECT why, decided_at FROM absence_unanswered WHERE account_id = $1 AND message_id = $2`

	sqlPruneUnanswered = `
DELETE FROM absence_unanswered
WHERE (account_id, message_id) IN (
  SELECT account_id, message_id
  FROM absence_unanswered
  WHERE decided_at < $1
  ORDER BY decided_at
  LIMIT $2)`

	sqlForget = `DELETE FROM absences WHERE account_id = $1`

	sqlForgetAnswers = `DELETE FROM absence_answers WHERE account_id = $1`

	sqlForgetUnanswered = `DELETE FROM absence_unanswered WHERE account_id = $1`
)

type row struct {
	AccountID string      `db:"account_id"`
	ID        string      `db:"id"`
	Body      string      `db:"body"`
	Days      int         `db:"days"`
	Audience  Audience    `db:"audience"`
	From      dbtime.Time `db:"from_at"`
	Until     dbtime.Time `db:"until_at"`
	Since     dbtime.Time `db:"since"`
	SetAt     dbtime.Time `db:"set_at"`
	SetBy     string      `db:"set_by"`
	EndedAt   dbtime.Time `db:"ended_at"`
	EndedBy   string      `db:"ended_by"`
}

func (r *row) absence() *Absence {
	return &Absence{
		ID: r.ID, AccountID: r.AccountID, From: r.From.Time, Until: r.Until.Time, Text: r.Body, Days: r.Days,
		Audience: r.Audience, SetBy: r.SetBy, Since: r.Since.Time, SetAt: r.SetAt.Time, EndedAt: r.EndedAt.Time,
		EndedBy: r.EndedBy,
	}
}
