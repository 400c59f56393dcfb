package sqlite

import (
	"context"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

const (
	selectEndTriggers = `
SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'trigger' AND name = /*q.*/'jobs_deleted')`

	// Only ends write finished_at: claims do not pay for this.
	createEnded = `
CREATE TRIGGER IF NOT EXISTS /*q.*/jobs_ended AFTER UPDATE OF finished_at ON /*q.*/jobs
WHEN (OLD.node IS NOT NULL OR OLD.sequence IS NOT NULL) AND (OLD.finished_at IS NULL) <> (NEW.finished_at IS NULL)
BEGIN
  UPDATE /*q.*/job_nodes
  SET completed = completed - (OLD.state = 'completed') + (NEW.state = 'completed'),
    failed = failed - (OLD.state = 'failed') + (NEW.state = 'failed'),
    canceled = canceled - (OLD.state = 'canceled') + (NEW.state = 'canceled'),
    updated_at = NEW.updated_at
  WHERE id = OLD.node;
  DELETE FROM /*q.*/job_turns
  WHERE job_id = OLD.id
    AND OLD.sequence IS NOT NULL
    AND NEW.finished_at IS NOT NULL
    AND (NEW.state <> 'failed' OR NEW.sequence_goes_on IS NOT NULL);
  INSERT INTO /*q.*/job_turns (sequence, job_id)
  SELECT OLD.sequence, OLD.id
  WHERE OLD.sequence IS NOT NULL
    AND NEW.finished_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM /*q.*/job_turns WHERE job_id = OLD.id);
  INSERT INTO /*q.*/job_turn_marks (sequence)
  SELECT OLD.sequence
  WHERE OLD.sequence IS NOT NULL;
END`

	// A job that is moved away has not ended.
	createDeleted = `
CREATE TRIGGER IF NOT EXISTS /*q.*/jobs_deleted AFTER DELETE ON /*q.*/jobs
WHEN OLD.node IS NOT NULL OR OLD.sequence IS NOT NULL
BEGIN
  UPDATE /*q.*/job_nodes
  SET canceled = canceled + 1
  WHERE id = OLD.node
    AND OLD.finished_at IS NULL
    AND OLD.hold <> ` + jobsql.Moving + `;
  DELETE FROM /*q.*/job_turns
  WHERE job_id = OLD.id
    AND OLD.sequence IS NOT NULL;
  INSERT INTO /*q.*/job_turn_marks (sequence)
  SELECT OLD.sequence
  WHERE OLD.sequence IS NOT NULL;
END`
)

// countEnds has the ends of jobs counted in their nodes and lines, whoever writes them, from now on. SQLite calls a
// trigger for each row before it looks at its condition, which would cost the end of any job a fifth: the triggers are
// made when the first flow or sequence is stored, in the same transaction.
func (db *engine) countEnds(ctx context.Context, tx *driver.WriteTx) error {
	if db.counts.Load() {
		return nil
	}
	var made bool
	if err := scanRow(ctx, tx, selectEndTriggers, nil, &made); err != nil {
		return err
	}
	if !made {
		for _, create := range []string{createEnded, createDeleted} {
			if _, err := tx.ExecContext(ctx, create); err != nil {
				return err
			}
		}
	}
	tx.OnCommit(func() { db.counts.Store(true) })
	return nil
}
