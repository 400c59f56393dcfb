package lessons

const (
	feedbackColumns = `id, account_id, message_id, kind, made_by, action_id, rule_id, source, proposed_action,
  proposed_label, final_action, final_label, votes, counted, created_at, verdict`

	sqlInsertFeedback = `
INSERT INTO feedback (id, account_id, message_id, kind, made_by, action_id, rule_id, source, proposed_action,
  proposed_label, final_action, final_label, votes, created_at, verdict)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`

	sqlLastFeedback = `
SELECT ` + feedbackColumns + `
FROM feedback
WHERE account_id = $1 AND message_id = $2
ORDER BY id DESC
LIMIT 1`

	sqlListFeedback = `
SELECT ` + feedbackColumns + `
FROM feedback
WHERE account_id = $1
ORDER BY id DESC
LIMIT $2`

	sqlFeedbackAfter = `
SELECT ` + feedbackColumns + `
FROM feedback
WHERE account_id = $1 AND id > $2 AND created_at >= $3
ORDER BY id
LIMIT $4`

	sqlUnanswered = `
SELECT id, created_at
FROM feedback
WHERE account_id = $1 AND counted = 0 AND created_at >= $2
ORDER BY id`

	sqlNewestUnanswered = `
SELECT id, created_at
FROM feedback
WHERE account_id = $1 AND counted = 0
ORDER BY id DESC
LIMIT $2`

	sqlPruneFeedback = `DELETE FROM feedback WHERE account_id = $1 AND created_at < $2`

	sqlCount = `UPDATE feedback SET counted = $1 WHERE account_id = $2 AND id = $3 AND counted = 0`

	sqlForgetFeedback = `DELETE FROM feedback WHERE account_id = $1`

	ruleColumns = `id, account_id, rule_key, state, class, name, rule_text, agreeing, contradicting, lower_bound,
  first_at, last_at, evidence_json, matched, dismissed_at_agreeing, shadow_matched, proposed_at, changed_at, changed_by`

	sqlInsertRule = `
INSERT INTO learned_rules (` + ruleColumns + `)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)`

	sqlUpdateRule = `
UPDATE learned_rules
SET state = $1, class = $2, name = $3, rule_text = $4, agreeing = $5, contradicting = $6, lower_bound = $7,
  first_at = $8, last_at = $9, evidence_json = $10, matched = $11, dismissed_at_agreeing = $12, shadow_matched = $13,
  proposed_at = $14, changed_at = $15, changed_by = $16
WHERE id = $17 AND state = $18`

	sqlDeleteRule = `DELETE FROM learned_rules WHERE id = $1 AND state = $2`

	sqlRulesOf = `
SELECT ` + ruleColumns + `
FROM learned_rules
WHERE account_id = $1
ORDER BY id DESC`

	sqlRule = `
SELECT ` + ruleColumns + `
FROM learned_rules
WHERE id = $1`

	// counted = 2 is countsNot.
	sqlVerdicts = `
SELECT id, message_id, action_id, verdict
FROM feedback
WHERE account_id = $1
  AND rule_id = $2
  AND source = $3
  AND created_at >= $4
  AND verdict <> 0
  AND counted <> 2
ORDER BY id`

	driftColumns = `account_id, rule_id, rule_version, name, state, acted, corrected, counted_from, changed_at, changed_by`

	// The row is locked until the transaction ends, so that corrections at once are counted one after the other.
	sqlLockDrift = `
INSERT INTO decision_drift (account_id, rule_id, rule_version, name, state, acted, corrected, changed_at, changed_by)
VALUES ($1, $2, $3, $4, 'right', 0, 0, $5, '')
ON CONFLICT (account_id, rule_id, rule_version) DO UPDATE
SET name = excluded.name
RETURNING ` + driftColumns

	sqlDrift = `
SELECT ` + driftColumns + `
FROM decision_drift
WHERE account_id = $1 AND rule_id = $2 AND rule_version = $3`

	sqlDriftsOfRule = `
SELECT ` + driftColumns + `
FROM decision_drift
WHERE account_id = $1 AND rule_id = $2 AND state <> 'right'
ORDER BY changed_at DESC`

	sqlDrifts = `
SELECT ` + driftColumns + `
FROM decision_drift
WHERE account_id = $1 AND state <> 'right'
ORDER BY name, rule_id`

	sqlAllDrifts = `
SELECT ` + driftColumns + `
FROM decision_drift
WHERE account_id = $1
ORDER BY rule_id, rule_version`

	sqlSetDrift = `
UPDATE decision_drift
SET state = $1, acted = $2, corrected = $3, changed_at = $4, changed_by = ''
WHERE account_id = $5 AND rule_id = $6 AND rule_version = $7`

	sqlEndDrift = `
UPDATE decision_drift
SET state = 'right', counted_from = $1, changed_at = $1, changed_by = $2
WHERE account_id = $3 AND rule_id = $4 AND state <> 'right'`

	sqlForgetDrift = `DELETE FROM decision_drift WHERE account_id = $1`

	sqlForgetRules = `DELETE FROM learned_rules WHERE account_id = $1`
)
