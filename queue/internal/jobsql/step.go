package jobsql

// The statements of steps. Each takes the job's id, the step's name and the attempt first.
const (
	// StartStep takes the instant besides. A step that has finished stays as it is.
	StartStep = `
INSERT INTO /*q.*/job_steps (job_id, name, attempt, started_at)
VALUES ($1, $2, $3, $4)
ON CONFLICT (job_id, name) DO UPDATE
SET attempt = excluded.attempt,
  started_at = excluded.started_at
WHERE /*q.*/job_steps.finished_at IS NULL`

	// FinishStep takes when the step started, when it finished, and its result besides.
	FinishStep = `
INSERT INTO /*q.*/job_steps (job_id, name, attempt, started_at, finished_at, result_json)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (job_id, name) DO UPDATE
SET attempt = excluded.attempt,
  finished_at = excluded.finished_at,
  result_json = excluded.result_json`

	// SaveCursor takes the instant and the cursor besides. It returns no row where the step has finished.
	SaveCursor = `
INSERT INTO /*q.*/job_steps (job_id, name, attempt, started_at, result_json)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (job_id, name) DO UPDATE
SET attempt = excluded.attempt,
  result_json = excluded.result_json
WHERE /*q.*/job_steps.finished_at IS NULL
RETURNING name`
)
