package llm

// The statements of the guidance, as those in sql.go.

const (
	directionColumns = `
SELECT id, account_id, content, enabled, created_at, updated_at
FROM directions`

	storedOrder = `
ORDER BY created_at, id`

	sqlDirections    = directionColumns + storedOrder
	sqlDirectionsFor = directionColumns + `
WHERE enabled = 1 AND account_id IN ('', $1)` + storedOrder

	sqlInsertDirection = `
INSERT INTO directions (id, account_id, content, enabled, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6)`

	sqlUpdateDirection = `
UPDATE directions
SET account_id = $1, content = $2, enabled = $3, updated_at = $4
WHERE id = $5`

	sqlDeleteDirection = `
DELETE FROM directions
WHERE id = $1`

	ruleColumns = `
SELECT id, name, description, scope, scope_ref, rule_text, enabled, created_at, updated_at
FROM llm_rules`

	sqlRules    = ruleColumns + storedOrder
	sqlRulesFor = ruleColumns + `
WHERE enabled = 1
  AND (scope = 'global' OR scope = 'account' AND scope_ref = $1 OR scope = 'domain' AND scope_ref = $2 OR scope = 'sender' AND scope_ref = $3)` + storedOrder

	sqlRuleNamed = `
SELECT COUNT(*)
FROM llm_rules
WHERE name = $1 AND id <> $2`

	sqlInsertRule = `
INSERT INTO llm_rules (id, name, description, scope, scope_ref, rule_text, enabled, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`

	sqlUpdateRule = `
UPDATE llm_rules
SET name = $1, description = $2, scope = $3, scope_ref = $4, rule_text = $5, enabled = $6, updated_at = $7
WHERE id = $8`

	sqlDeleteRule = `
DELETE FROM llm_rules
WHERE id = $1`
)
