package safety

const (
	// Each column is named after its table, since some statements read several; the db tags of the rows have these names.
	decisionColumns = `decisions.id AS "decision.id", decisions.account_id AS "decision.account_id",
  decisions.message_id AS "decision.message_id", decisions.decision_key AS "decision.decision_key",
  decisions.source AS "decision.source", decisions.action_type AS "decision.action_type",
  decisions.parameters_json AS "decision.parameters_json", decisions.confidence AS "decision.confidence",
  decisions.needs_approval AS "decision.needs_approval", decisions.rationale AS "decision.rationale",
  decisions.rule_id AS "decision.rule_id", decisions.rule_name AS "decision.rule_name",
  decisions.safe_mode AS "decision.safe_mode", decisions.model AS "decision.model",
  decisions.explanations_json AS "decision.explanations_json", decisions.telemetry_json AS "decision.telemetry_json",
  decisions.sender AS "decision.sender", decisions.subject AS "decision.subject",
  decisions.created_at AS "decision.created_at"`

	actionColumns = `actions.id AS "action.id", actions.account_id AS "action.account_id", actions.message_id AS "action.message_id",
  actions.decision_id AS "action.decision_id", actions.type AS "action.type",
  actions.parameters_json AS "action.parameters_json", actions.state AS "action.state",
  actions.error AS "action.error", actions.undo_hint_json AS "action.undo_hint_json",
  actions.job_id AS "action.job_id", actions.created_at AS "action.created_at",
  actions.updated_at AS "action.updated_at", actions.executed_at AS "action.executed_at"`

	approvalColumns = `approvals.id AS "approval.id", approvals.action_id AS "approval.action_id",
  approvals.reasons_json AS "approval.reasons_json", approvals.digest AS "approval.digest",
  approvals.requested_at AS "approval.requested_at", approvals.expires_at AS "approval.expires_at",
  approvals.decided_at AS "approval.decided_at", approvals.outcome AS "approval.outcome",
  approvals.approver AS "approval.approver", approvals.why AS "approval.why"`

	// The first decision with a key stands.
	insertDecision = `
INSERT INTO decisions (id, account_id, message_id, decision_key, source, action_type, parameters_json, confidence,
  needs_approval, rationale, rule_id, rule_name, safe_mode, model, explanations_json, telemetry_json, sender, subject,
  created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
ON CONFLICT (account_id, message_id, decision_key) DO NOTHING`

	selectDecision = `
SELECT ` + decisionColumns + `
FROM decisions
WHERE id = $1`

	insertAction = `
INSERT INTO actions (id, account_id, message_id, decision_id, type, parameters_json, state, error, undo_hint_json, job_id,
  created_at, updated_at, executed_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`

	selectAction = `
SELECT ` + actionColumns + `
FROM actions
WHERE id = $1`

	// The action that a decision led to; the undos that share its decision are left out.
	selectActionByKey = `
SELECT ` + actionColumns + `
FROM actions
JOIN decisions ON decisions.id = actions.decision_id
WHERE decisions.account_id = $1
  AND decisions.message_id = $2
  AND decisions.decision_key = $3
  AND NOT EXISTS (SELECT 1 FROM action_links WHERE cause_action_id = actions.id AND relation = 'undo_of')`

	// Compare and set. The three states are those that the change may start from.
	moveAction = `
UPDATE actions
SET state = $1,
  error = $2,
  undo_hint_json = COALESCE($3, undo_hint_json),
  job_id = COALESCE($4, job_id),
  executed_at = COALESCE(executed_at, $5),
  updated_at = $6
WHERE id = $7
  AND state IN ($8, $9, $10)
RETURNING ` + actionColumns

	updateReport = `
UPDATE actions
SET report_json = $1
WHERE id = $2
  AND state = 'executing'`

	selectReport = `
SELECT report_json
FROM actions
WHERE id = $1`

	insertUndoLink = `
INSERT INTO action_links (cause_action_id, effect_action_id, relation, created_at)
VALUES ($1, $2, 'undo_of', $3)
ON CONFLICT (effect_action_id) WHERE relation = 'undo_of' AND void_at IS NULL DO NOTHING`

	voidUndoLink = `
UPDATE action_links
SET void_at = $1
WHERE cause_action_id = $2
  AND relation = 'undo_of'
  AND void_at IS NULL`

	selectUndos = `
SELECT ` + actionColumns + `
FROM action_links
JOIN actions ON actions.id = action_links.cause_action_id
WHERE action_links.effect_action_id = $1
  AND action_links.relation = 'undo_of'
ORDER BY actions.id DESC`

	selectLiveUndo = `
SELECT ` + actionColumns + `
FROM action_links
JOIN actions ON actions.id = action_links.cause_action_id
WHERE action_links.effect_action_id = $1
  AND action_links.relation = 'undo_of'
  AND action_links.void_at IS NULL`

	insertApproval = `
INSERT INTO approvals (id, action_id, reasons_json, digest, requested_at, expires_at, outcome, approver, why)
VALUES ($1, $2, $3, $4, $5, $6, 'waiting', '', '')`

	selectParameters = `
SELECT parameters_json
FROM actions
WHERE id = $1`

	selectWaiting = `
SELECT ` + actionColumns + `, ` + approvalColumns + `
FROM actions
JOIN approvals ON approvals.action_id = actions.id
WHERE actions.id = $1
  AND actions.state = 'approved_pending'
  AND approvals.outcome = 'waiting'`

	// Only the first of several answers changes a row.
	closeApproval = `
UPDATE approvals
SET outcome = $1,
  approver = $2,
  why = $3,
  decided_at = $4
WHERE action_id = $5
  AND outcome = 'waiting'`

	selectApprovals = `
SELECT ` + approvalColumns + `
FROM approvals
WHERE action_id = $1
ORDER BY id`

	// Listings add what the filter asks for; their parameters are numbered when they are complete.
	listActions = `
SELECT ` + actionColumns + `, ` + decisionColumns + `
FROM actions
JOIN decisions ON decisions.id = actions.decision_id
WHERE `

	listDecisions = listActions + `NOT EXISTS (SELECT 1 FROM action_links WHERE cause_action_id = actions.id AND relation = 'undo_of')
  AND `

	listApprovals = `
SELECT ` + actionColumns + `, ` + decisionColumns + `, ` + approvalColumns + `
FROM actions
JOIN decisions ON decisions.id = actions.decision_id
JOIN approvals ON approvals.action_id = actions.id AND approvals.outcome = 'waiting'
WHERE `

	newestFirst = `
ORDER BY actions.id DESC
LIMIT ?`

	// An id is hexadecimal digits and dashes, all of which sort before "g".
	selectPrefix = `
SELECT id
FROM actions
WHERE id >= $1
  AND id < $2
ORDER BY id
LIMIT 11`

	countActions = `
SELECT type AS a, state AS b, COUNT(*) AS n
FROM actions
WHERE $1 = ''
  OR account_id = $1
GROUP BY type, state`

	countDecisions = `
SELECT source AS a, rule_name AS b, COUNT(*) AS n
FROM decisions
WHERE $1 = ''
  OR account_id = $1
GROUP BY source, rule_name`
)
