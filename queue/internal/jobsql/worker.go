package jobsql

const (
	// EnsureWorker registers the worker $1 at $2, unless it is registered.
	EnsureWorker = `
INSERT INTO /*q.*/job_workers (id, beat, beat_at)
VALUES ($1, 0, $2)
ON CONFLICT (id) DO NOTHING`

	// DeleteWorker removes the worker $1.
	DeleteWorker = `
DELETE FROM /*q.*/job_workers
WHERE id = $1`

	// DeleteWorkerAt removes the worker $1 unless it has beaten since its beat $2, and returns its id if it has not.
	DeleteWorkerAt = DeleteWorker + `
  AND beat = $2
RETURNING id`

	// SelectWorker returns the id of the worker $1 if it is registered.
	SelectWorker = `
SELECT id
FROM /*q.*/job_workers
WHERE id = $1`
)
