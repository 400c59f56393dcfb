package postgres

import (
	"context"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

const (
	// Who examines a sequence holds its lock, so that what committed before is seen by the statement that follows: it
	// takes over the marks in a setting. The order keeps two claims from waiting for each other. The table is part of the
	// lock: a sequence of another queue in the database is another one.
	lockMarks = `
WITH marks AS MATERIALIZED (
  SELECT id, sequence
  FROM /*q.*/job_turn_marks
  ORDER BY id
  LIMIT 500
  FOR UPDATE SKIP LOCKED),
locked AS MATERIALIZED (
  SELECT pg_advisory_xact_lock(place)
  FROM (
    SELECT DISTINCT hashtextextended(sequence, /*q.*/'job_turns'::regclass::oid::bigint) AS place
    FROM marks
    ORDER BY place) AS ordered),
noted AS MATERIALIZED (
  SELECT set_config('postroom.marks', COALESCE(string_agg(id::text, ','), ''), TRUE)
  FROM marks)
SELECT (SELECT COUNT(*) FROM marks)
FROM noted
CROSS JOIN (SELECT COUNT(*) FROM locked) AS all_of_them`

	// Jobs are locked before their places in line, as by whoever ends them. If another transaction holds the first job
	// of a line, such as one of the program's own that cancels it, the marks stay: nobody waits for that.
	giveTurns = `
WITH marks AS MATERIALIZED (
  SELECT id, sequence
  FROM /*q.*/job_turn_marks
  WHERE id = ANY(string_to_array(current_setting('postroom.marks', TRUE), ',')::bigint[])),
firsts AS MATERIALIZED (
  SELECT lines.sequence, first.job_id
  FROM (SELECT DISTINCT sequence FROM marks) AS lines
  CROSS JOIN LATERAL (
    SELECT job_id, moving
    FROM /*q.*/job_turns
    WHERE job_turns.sequence = lines.sequence
    ORDER BY turn DESC, number
    LIMIT 1) AS first
  WHERE first.moving = 0),
waiting AS MATERIALIZED (
  SELECT firsts.sequence, firsts.job_id
  FROM firsts
  JOIN /*q.*/jobs ON jobs.id = firsts.job_id
  WHERE jobs.state IS NOT DISTINCT FROM 'queued'
    AND jobs.hold IS NOT DISTINCT FROM ` + jobsql.Waiting + `),
locked AS MATERIALIZED (
  SELECT id
  FROM /*q.*/jobs
  WHERE id = ANY(ARRAY(SELECT job_id FROM waiting))
    AND state IS NOT DISTINCT FROM 'queued'
    AND hold IS NOT DISTINCT FROM ` + jobsql.Waiting + `
  ORDER BY id
  FOR NO KEY UPDATE SKIP LOCKED),
given AS (
  UPDATE /*q.*/job_turns
  SET turn = 1
  WHERE job_id = ANY(ARRAY(SELECT id FROM locked))),
released AS (
  UPDATE /*q.*/jobs
  SET hold = CASE WHEN limit_key IS NULL AND not_before <= $1 THEN ` + jobsql.None + ` ELSE ` + jobsql.Scheduled + ` END
  WHERE id = ANY(ARRAY(SELECT id FROM locked)))
DELETE FROM /*q.*/job_turn_marks
WHERE id = ANY(ARRAY(
  SELECT marks.id
  FROM marks
  WHERE NOT EXISTS (
    SELECT 1
    FROM waiting
    WHERE waiting.sequence = marks.sequence
      AND waiting.job_id <> ALL(ARRAY(SELECT id FROM locked)))))`
)

// portionOfMarks bounds the marks that one transaction examines; it is that of lockMarks.
const portionOfMarks = 500

// giveTurnsLater gives the next jobs of marked sequences their turn. How many marks it has examined is known when what
// comes after it has run.
func giveTurnsLater(ctx context.Context, tx *driver.WriteTx, marks *[]int) error {
	if err := laterInto(ctx, tx, marks, scanCount, lockMarks); err != nil {
		return err
	}
	return later(ctx, tx, giveTurns, tx.Now())
}

// expectTurns has the next claim give turns if the transaction commits.
func (db *engine) expectTurns(tx *driver.WriteTx) { tx.OnCommit(func() { db.turns.Store(true) }) }

// giveTurnsNow is [jobsql.Store].GiveTurns.
func giveTurnsNow(ctx context.Context, tx *driver.WriteTx) (more bool, err error) {
	var marks []int
	if err := giveTurnsLater(ctx, tx, &marks); err != nil {
		return false, err
	}
	err = flush(ctx, tx)
	return len(marks) > 0 && marks[0] == portionOfMarks, err
}
