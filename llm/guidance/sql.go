package guidance

// The statements of the store. They run on SQLite and PostgreSQL alike: parameters are numbered in the order of their
// first appearance.

const (
	instructionColumns = `
SELECT id, name, scope, scope_ref, content, forbids, unauthenticated, enabled, priority, created_at, updated_at, revision
FROM instructions`

	instructionOrder = `
ORDER BY priority, created_at, id`

	sqlInstructions    = instructionColumns + instructionOrder
	sqlInstructionsFor = instructionColumns + `
WHERE enabled = 1
  AND (scope = 'all' OR scope = 'mailbox' AND scope_ref = $1 OR scope = 'domain' AND scope_ref = $2 OR scope = 'sender' AND scope_ref = $3)` +
		instructionOrder

	sqlInstruction = instructionColumns + ` WHERE id = $1`

	sqlLock = `
UPDATE instructions
SET revision = revision
WHERE id = $1`

	sqlInsert = `
INSERT INTO instructions (id, name, scope, scope_ref, content, forbids, unauthenticated, enabled, priority, created_at, updated_at, revision)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 1)`

	sqlUpdate = `
UPDATE instructions
SET name = $1, scope = $2, scope_ref = $3, content = $4, forbids = $5, unauthenticated = $6, enabled = $7, priority = $8, revision = $9,
  updated_at = $10
WHERE id = $11`

	sqlDelete = `
DELETE FROM instructions
WHERE id = $1`
)
