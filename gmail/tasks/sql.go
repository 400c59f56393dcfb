package tasks

const (
	columns = `id, account_id, message_id, title, notes, due_at, created_at, closed_at, closed_by`

	sqlInsert = `
INSERT INTO tasks (` + columns + `)
VALUES ($1, $2, $3, $4, $5, $6, $7, NULL, '')
ON CONFLICT (id) DO NOTHING`

	sqlDelete = `DELETE FROM tasks WHERE id = $1`

	sqlTask = `
SELECT ` + columns + `
FROM tasks
WHERE id = $1`

	sqlClose = `
UPDATE tasks
SET closed_at = $2, closed_by = $3
WHERE id = $1 AND closed_at IS NULL`

	sqlReopen = `
UPDATE tasks
SET closed_at = NULL, closed_by = ''
WHERE id = $1 AND closed_at IS NOT NULL`

	sqlForget = `DELETE FROM tasks WHERE account_id = $1`
)
