package guidance

// The statements of the guidance, as those in sql.go.

const (
	directionColumns = `
SELECT id, account_id, content, enabled, priority, created_at, updated_at, revision
FROM directions`

	guidanceOrder = `
ORDER BY priority, created_at, id`

	sqlDirections    = directionColumns + guidanceOrder
	sqlDirectionsFor = directionColumns + `
WHERE enabled = 1 AND account_id IN ('', $1)` + guidanceOrder

	sqlDirection = directionColumns + ` WHERE id = $1`

	sqlLockDirection = `
UPDATE directions
SET revision = revision
WHERE id = $1`

	sqlInsertDirection = `
INSERT INTO directions (id, account_id, content, enabled, priority, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7)`

	sqlUpdateDirection = `
UPDATE directions
SET account_id = $1, content = $2, enabled = $3, priority = $4, revision = $5, updated_at = $6
WHERE id = $7`

	sqlDeleteDirection = `
DELETE FROM directions
WHERE id = $1`

	ruleColumns = `
SELECT id, name, description, scope, scope_ref, rule_text, enabled, priority, created_at, updated_at, revision
FROM llm_rules`

	sqlRules    = ruleColumns + guidanceOrder
	sqlRulesFor = ruleColumns + `
WHERE enabled = 1
  AND (scope = 'global' OR scope = 'account' AND scope_ref = $1 OR scope = 'domain' AND scope_ref = $2 OR scope = 'sender' AND scope_ref = $3)` + guidanceOrder

	sqlRuleNamed = `
SELECT COUNT(*)
FROM llm_rules
WHERE name = $1 AND id <> $2`

	sqlRule = ruleColumns + ` WHERE id = $1`

	sqlLockRule = `
UPDATE llm_rules
SET revision = revision
WHERE id = $1`

	sqlInsertRule = `
INSERT INTO llm_rules (id, name, description, scope, scope_ref, rule_text, enabled, priority, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`

	sqlUpdateRule = `
UPDATE llm_rules
SET name = $1, description = $2, scope = $3, scope_ref = $4, rule_text = $5, enabled = $6, priority = $7, revision = $8, updated_at = $9
WHERE id = $10`

	sqlDeleteRule = `
DELETE FROM llm_rules
WHERE id = $1`
)
