package jobsql

import (
	"context"
	"strconv"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue/driver"
)

const (
	// Waits is the condition that a job which becomes queued waits for a claim to release it.
	Waits = `(sequence IS NOT NULL OR (` + NodeWaits + `))`

	// StopsNothing is the condition that a job does not keep its sequence from going on.
	StopsNothing = `(sequence IS NULL OR NOT EXISTS (SELECT 1 FROM /*q.*/job_turns WHERE /*q.*/job_turns.job_id = /*q.*/jobs.id))`

	selectTurnMarks = `
SELECT id
FROM /*q.*/job_turn_marks
ORDER BY id
LIMIT `

	selectFirst = `
SELECT first
FROM (
  SELECT (
      SELECT job_id
      FROM /*q.*/job_turns
      WHERE /*q.*/job_turns.sequence = marked.sequence
      ORDER BY turn DESC, number
      LIMIT 1) AS first
  FROM (
    SELECT DISTINCT sequence
    FROM /*q.*/job_turn_marks
    WHERE `

	ofMarked = `) AS marked) AS lines
WHERE first IS NOT NULL`

	giveTurns = `
UPDATE /*q.*/job_turns
SET turn = 1
WHERE moving = 0
  AND turn = 0
  AND `

	releaseTurns = `
UPDATE /*q.*/jobs
SET hold = CASE WHEN limit_key IS NULL AND not_before <= $1 THEN ` + None + ` ELSE ` + Scheduled + ` END
WHERE state = 'queued'
  AND hold = ` + Waiting + `
  AND EXISTS (SELECT 1 FROM /*q.*/job_turns WHERE job_id = /*q.*/jobs.id AND turn = 1 AND moving = 0)
  AND `

	deleteTurnMarks = `
DELETE FROM /*q.*/job_turn_marks
WHERE `

	selectPlace = `
SELECT first.job_id, (
    SELECT COUNT(*)
    FROM (
      SELECT 1
      FROM /*q.*/job_turns AS ahead
      WHERE ahead.sequence = own.sequence
        AND ahead.job_id <> own.job_id
        AND (ahead.turn > own.turn OR (ahead.turn = own.turn AND ahead.number < own.number))
      LIMIT $1 + 0) AS counted)
FROM /*q.*/job_turns AS own
JOIN /*q.*/job_turns AS first ON first.job_id = (
  SELECT job_id
  FROM /*q.*/job_turns
  WHERE /*q.*/job_turns.sequence = own.sequence
  ORDER BY turn DESC, number
  LIMIT 1)
WHERE own.job_id = $2`

	selectInSequences = `
SELECT id
FROM /*q.*/jobs
WHERE sequence IS NOT NULL
  AND `

	selectStopped = `
SELECT /*q.*/jobs.sequence, /*q.*/jobs.id, (SELECT COUNT(*) FROM /*q.*/job_turns AS behind WHERE behind.sequence = /*q.*/jobs.sequence) - 1
FROM /*q.*/jobs
JOIN /*q.*/job_turns ON /*q.*/job_turns.job_id = /*q.*/jobs.id
WHERE /*q.*/jobs.state = 'failed'
  AND /*q.*/jobs.finished_at IS NOT NULL
ORDER BY /*q.*/jobs.sequence
LIMIT $1`

	countStopped = `
SELECT COUNT(DISTINCT /*q.*/jobs.id)
FROM /*q.*/job_turns AS first
JOIN /*q.*/jobs AS stop ON stop.id = first.job_id
  AND (stop.state = 'failed' OR (first.turn = 1 AND stop.state = 'queued' AND stop.not_before >= $1))
JOIN /*q.*/job_turns AS behind ON behind.sequence = first.sequence AND behind.job_id <> first.job_id
JOIN /*q.*/jobs ON /*q.*/jobs.id = behind.job_id AND /*q.*/jobs.state = 'queued'
WHERE `

	// What has moved stands before all that the database has of its own, which is numbered from 1, and after what has
	// moved before it.
	thawTurns = `
UPDATE /*q.*/job_turns
SET number = place,
  moving = 0
FROM (
  SELECT job_id AS moved, ROW_NUMBER() OVER (ORDER BY number) + (
      SELECT COALESCE(MAX(number), -4000000000000000000)
      FROM /*q.*/job_turns
      WHERE number < 0
        AND moving = 0) AS place
  FROM /*q.*/job_turns
  WHERE moving = 1) AS ordered
WHERE job_id = moved`

	markThawed = `
INSERT INTO /*q.*/job_turn_marks (sequence)
SELECT DISTINCT sequence
FROM /*q.*/job_turns
WHERE moving = 1`
)

// portionOfMarks bounds the marks that one transaction examines.
const portionOfMarks = 500

// giveTurns gives the next jobs of marked sequences their turn. Whatever may make a job the first of its line leaves a
// mark in the same transaction, and neither it nor whoever enqueues waits for another.
func (s *Store) giveTurns(ctx context.Context, tx *driver.WriteTx) (more bool, err error) {
	marks, err := queryRows(ctx, tx, ScanText, selectTurnMarks+strconv.Itoa(portionOfMarks))
	if err != nil || len(marks) == 0 {
		return false, err
	}
	numbers := make([]any, len(marks))
	for i, mark := range marks {
		if numbers[i], err = strconv.ParseInt(mark, 10, 64); err != nil {
			return false, err
		}
	}
	first := s.of(selectFirst, numbers)
	first.add(ofMarked)
	jobs, err := queryRows(ctx, tx, ScanText, first.text.String(), first.args...)
	if err != nil {
		return false, err
	}
	if err := s.releaseFirst(ctx, tx, jobs); err != nil {
		return false, err
	}
	done := s.of(deleteTurnMarks, numbers)
	_, err = tx.ExecContext(ctx, done.text.String(), done.args...)
	return len(marks) == portionOfMarks, err
}

// of returns a statement that ends with the condition that id is one of the numbers.
func (s *Store) of(text string, numbers []any) *statement {
	list := &statement{dialect: s.Engine}
	list.add(text + "id IN ")
	list.list(numbers)
	return list
}

func (s *Store) releaseFirst(ctx context.Context, tx *driver.WriteTx, jobs []string) error {
	if err := s.exec(ctx, tx, giveTurns, "job_id", jobs); err != nil || len(jobs) == 0 {
		return err
	}
	release := &statement{dialect: s.Engine, args: []any{dbtime.Of(tx.Now())}}
	release.in(releaseTurns, "id", jobs)
	_, err := tx.ExecContext(ctx, release.text.String(), release.args...)
	return err
}

var _ driver.SequenceStore = (*Store)(nil)

// Place implements [driver.SequenceStore].
func (s *Store) Place(ctx context.Context, jobID string, limit int) (first string, ahead int, err error) {
	type place struct {
		first string
		ahead int
	}
	places, err := read(ctx, s, func(row Scanner) (p place, err error) {
		err = row.Scan(&p.first, &p.ahead)
		return p, err
	}, selectPlace, limit, jobID)
	if err != nil || len(places) == 0 {
		return "", 0, err
	}
	return places[0].first, places[0].ahead, nil
}

// InSequences implements [driver.SequenceStore].
func (s *Store) InSequences(ctx context.Context, jobIDs []string) ([]string, error) {
	if len(jobIDs) == 0 {
		return nil, nil
	}
	list := &statement{dialect: s.Engine}
	list.in(selectInSequences, "id", jobIDs)
	return read(ctx, s, ScanText, list.text.String(), list.args...)
}

// Stopped implements [driver.SequenceStore].
func (s *Store) Stopped(ctx context.Context, limit int) ([]driver.StoppedSequence, error) {
	return read(ctx, s, func(row Scanner) (stopped driver.StoppedSequence, err error) {
		err = row.Scan(&stopped.Name, &stopped.JobID, &stopped.Waiting)
		return stopped, err
	}, selectStopped, limit)
}

// CountStopped implements [driver.SequenceStore].
func (s *Store) CountStopped(ctx context.Context, types []string) (int, error) {
	list := &statement{dialect: s.Engine, args: []any{dbtime.Of(driver.Never)}}
	list.in(countStopped, "/*q.*/jobs.type", types)
	counts, err := read(ctx, s, func(row Scanner) (n int, err error) {
		err = row.Scan(&n)
		return n, err
	}, list.text.String(), list.args...)
	if err != nil || len(counts) == 0 {
		return 0, err
	}
	return counts[0], nil
}

// ThawTurns implements [driver.SequenceStore].
func (s *Store) ThawTurns(ctx context.Context, tx *driver.WriteTx) error {
	if _, err := tx.ExecContext(ctx, markThawed); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, thawTurns)
	return err
}

// sequenceRules are the invariants of sequences.
var sequenceRules = []rule{
	{"a job of a sequence that has not ended stands in its line", `
SELECT id
FROM /*q.*/jobs
WHERE sequence IS NOT NULL
  AND finished_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM /*q.*/job_turns WHERE job_id = /*q.*/jobs.id)`},
	{"a line has the jobs of its sequence that have not ended, or stop it", `
SELECT job_id
FROM /*q.*/job_turns
WHERE NOT EXISTS (
  SELECT 1
  FROM /*q.*/jobs
  WHERE id = job_id
    AND /*q.*/jobs.sequence = /*q.*/job_turns.sequence
    AND (finished_at IS NULL OR (state = 'failed' AND sequence_goes_on IS NULL)))`},
	{"of a sequence one job has its turn", `
SELECT sequence
FROM /*q.*/job_turns
WHERE turn = 1
GROUP BY sequence
HAVING COUNT(*) > 1`},
	{"a job of a sequence waits until its turn", `
SELECT id
FROM /*q.*/jobs
JOIN /*q.*/job_turns ON job_id = id
WHERE turn = 0
  AND state IN ('queued', 'running')
  AND hold NOT IN (` + Waiting + `, ` + Moving + `)`},
	{"the first job of a line is released, or its sequence is to be examined", `
SELECT /*q.*/jobs.id
FROM /*q.*/job_turns AS own
JOIN /*q.*/jobs ON /*q.*/jobs.id = job_id
WHERE /*q.*/jobs.hold = ` + Waiting + `
  AND moving = 0
  AND NOT EXISTS (SELECT 1 FROM /*q.*/job_turn_marks WHERE /*q.*/job_turn_marks.sequence = own.sequence)
  AND own.number = (
    SELECT number
    FROM /*q.*/job_turns
    WHERE /*q.*/job_turns.sequence = own.sequence
    ORDER BY turn DESC, number
    LIMIT 1)`},
}
