package rulestore

// The statements of the store. They run on SQLite and PostgreSQL alike: parameters are numbered in the order of their
// first appearance.

const (
	sqlRevision = `
SELECT revision
FROM rules_revision`

	// The first statement of every change: on PostgreSQL the lock of the row serializes the changes.
	sqlNextRevision = `
UPDATE rules_revision
SET revision = revision + 1`

	// SQLite has locked everything when a write transaction begins.
	sqlLockRevision = `
UPDATE rules_revision
SET revision = revision`

	ruleColumns = `
SELECT id, account_id, name, description, enabled, disabled_reason, scope, scope_ref, priority, position,
  conditions, action, parameters, safe_mode, further_actions, continues, schedule, authentication, created_at, updated_at,
  revision
FROM deterministic_rules`

	ruleOrder = `
ORDER BY priority, position, created_at, id`

	sqlRules       = ruleColumns + ruleOrder
	sqlEnabled     = ruleColumns + ` WHERE enabled = 1` + ruleOrder
	sqlRule        = ruleColumns + ` WHERE id = $1`
	sqlRulesOf     = ruleColumns + ` WHERE account_id = $1` + ruleOrder
	sqlRulesFor    = ruleColumns + ` WHERE account_id IN ('', $1)` + ruleOrder
	sqlNameTakenBy = `
SELECT id
FROM deterministic_rules
WHERE account_id = $1 AND name = $2 AND id <> $3`

	sqlInsertRule = `
INSERT INTO deterministic_rules (
  id, account_id, name, description, enabled, disabled_reason, scope, scope_ref, priority, position,
  conditions, action, parameters, safe_mode, further_actions, continues, schedule, authentication, created_at, updated_at,
  revision)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)`

	sqlUpdateRule = `
UPDATE deterministic_rules
SET name = $1, description = $2, enabled = $3, disabled_reason = $4, scope = $5, scope_ref = $6, priority = $7,
  position = $8, conditions = $9, action = $10, parameters = $11, safe_mode = $12, further_actions = $13, continues = $14,
  schedule = $15, authentication = $16, updated_at = $17, revision = $18
WHERE id = $19`

	sqlDisableRule = `
UPDATE deterministic_rules
SET enabled = 0, disabled_reason = $1, updated_at = $2, revision = $3
WHERE id = $4`

	sqlDeleteRule = `
DELETE FROM deterministic_rules
WHERE id = $1`
)
