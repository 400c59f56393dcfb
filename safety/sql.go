package safety

const (
	listDecidingRules = `
SELECT DISTINCT rule_id, rule_version
FROM decisions
WHERE rule_id <> ''`

	// Each column is named after its table, since some statements read several; the db tags of the rows have these names.
	decisionColumns = `decisions.id AS "decision.id", decisions.account_id AS "decision.account_id",
  decisions.message_id AS "decision.message_id", decisions.decision_key AS "decision.decision_key",
  decisions.source AS "decision.source", decisions.action_type AS "decision.action_type",
  decisions.parameters_json AS "decision.parameters_json", decisions.confidence AS "decision.confidence",
  decisions.needs_approval AS "decision.needs_approval", decisions.rationale AS "decision.rationale",
  decisions.rule_id AS "decision.rule_id", decisions.rule_name AS "decision.rule_name",
  decisions.rule_version AS "decision.rule_version",
  decisions.safe_mode AS "decision.safe_mode", decisions.model AS "decision.model",
  decisions.explanations_json AS "decision.explanations_json", decisions.telemetry_json AS "decision.telemetry_json",
  decisions.sender AS "decision.sender", decisions.subject AS "decision.subject",
  decisions.provider_message_id AS "decision.provider_message_id",
  decisions.created_at AS "decision.created_at"`

	actionColumns = `actions.id AS "action.id", actions.account_id AS "action.account_id", actions.message_id AS "action.message_id",
  actions.decision_id AS "action.decision_id", actions.type AS "action.type",
  actions.parameters_json AS "action.parameters_json", actions.state AS "action.state",
  actions.error AS "action.error", actions.undo_hint_json AS "action.undo_hint_json",
  actions.job_id AS "action.job_id", COALESCE(actions.content_sha256, '') AS "action.content_sha256", actions.created_at AS "action.created_at",
  actions.updated_at AS "action.updated_at", actions.executed_at AS "action.executed_at", actions.rev AS "action.rev",
  actions.turn AS "action.turn", actions.seal AS "action.seal",
  (SELECT provider_message_id FROM decisions decided WHERE decided.id = actions.decision_id) AS "action.provider_message_id",
  COALESCE((SELECT MIN(effect_action_id) FROM action_links WHERE cause_action_id = actions.id AND relation = 'undo_of'), '') AS "action.undoes"`

	// The last entry about an action, as lastEntry scans it.
	lastOfAction = `(SELECT lane || ' ' || entry || ' ' || seen || ' ' || rev || ' ' || digest FROM audit_entries
    WHERE kind = 'action' AND subject_id = actions.id ORDER BY rev DESC LIMIT 1) AS last`

	// The last entry about a request for approval.
	lastOfApproval = `(SELECT lane || ' ' || entry || ' ' || seen || ' ' || rev || ' ' || digest FROM audit_entries
    WHERE kind = 'approval' AND subject_id = approvals.id ORDER BY rev DESC LIMIT 1) AS last`

	approvalColumns = `approvals.id AS "approval.id", approvals.action_id AS "approval.action_id",
  approvals.reasons_json AS "approval.reasons_json", approvals.digest AS "approval.digest",
  approvals.requested_at AS "approval.requested_at", approvals.expires_at AS "approval.expires_at",
  approvals.decided_at AS "approval.decided_at", approvals.outcome AS "approval.outcome",
  approvals.approver AS "approval.approver", approvals.why AS "approval.why", approvals.rev AS "approval.rev"`

	// The first decision with a key stays.
	insertDecision = `
INSERT INTO decisions (id, account_id, message_id, decision_key, source, action_type, parameters_json, confidence,
  needs_approval, rationale, rule_id, rule_name, rule_version, safe_mode, model, explanations_json, telemetry_json, sender,
  subject, created_at, provider_message_id)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)
ON CONFLICT (account_id, message_id, decision_key) DO NOTHING`

	selectDecision = `
SELECT ` + decisionColumns + `
FROM decisions
WHERE id = $1`

	insertAction = `
INSERT INTO actions (id, account_id, message_id, decision_id, type, parameters_json, state, error, undo_hint_json, job_id,
  turn, created_at, updated_at, executed_at, seal, rev)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, 1)`

	selectAction = `
SELECT ` + actionColumns + `
FROM actions
WHERE id = $1`

	selectLogged = `
SELECT ` + actionColumns + `, ` + lastOfAction + `
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

	// Compare and set: the row must be at the revision that was read.
	updateAction = `
UPDATE actions
SET state = $1,
  error = $2,
  undo_hint_json = $3,
  job_id = $4,
  content_sha256 = $5,
  turn = $6,
  executed_at = $7,
  updated_at = $8,
  seal = $9,
  rev = $10
WHERE id = $11
  AND state = $12
  AND rev = $13
RETURNING ` + actionColumns

	// An action with all that its seal is over. Of several approvals the last in the log counts: ids follow clocks, which may be set back.
	selectPermit = `
SELECT ` + actionColumns + `, ` + lastOfAction + `, ` + decisionColumns + `,
  COALESCE(approvals.id, '') AS "approval.id", COALESCE(approvals.approver, '') AS "approval.approver",
  approvals.requested_at AS "approval.requested_at", approvals.expires_at AS "approval.expires_at",
  approvals.decided_at AS "approval.decided_at",
  COALESCE(safety_switch.stopped, 0) AS stopped, COALESCE(safety_switch.undos, 0) AS undos,
  COALESCE(safety_switch.changed_by, '') AS changed_by, COALESCE(safety_switch.why, '') AS why, safety_switch.changed_at AS changed_at,
  ` + breakerColumns + `
FROM actions
JOIN decisions ON decisions.id = actions.decision_id
LEFT JOIN safety_switch ON safety_switch.id = 1
LEFT JOIN safety_breakers ON safety_breakers.account_id = actions.account_id AND safety_breakers.source = decisions.source
LEFT JOIN approvals ON approvals.id = (
  SELECT given.id
  FROM approvals given
  WHERE given.action_id = actions.id
    AND given.outcome = 'approved'
  ORDER BY COALESCE((SELECT MAX(seen) FROM audit_entries WHERE kind = 'approval' AND subject_id = given.id), 0) DESC, given.id DESC
  LIMIT 1)
WHERE actions.id = $1`

	lockAction = `
SELECT 1
FROM actions
WHERE id = $1
FOR UPDATE`

	selectKey = `
SELECT secret
FROM safety_keys
WHERE id = 1`

	// The first key stays.
	insertKey = `
INSERT INTO safety_keys (id, secret)
VALUES (1, $1)
ON CONFLICT (id) DO NOTHING`

	// No row: another action, or a wake-up, has the turn. The signed action rows take precedence over this table: an executing
	// action has the turn, and the numbers continue from those of the actions. The last parameter is the job of a wake-up.
	takeTurn = `
INSERT INTO message_turns (account_id, message_id, turn, action_id, job_id)
SELECT $1, $2, 1 + COALESCE(MAX(turn), 0), $3, $4
FROM actions
WHERE account_id = $1
  AND message_id = $2
HAVING COALESCE(MAX(CASE WHEN state = 'executing' AND id <> $3 THEN 1 ELSE 0 END), 0) = 0
ON CONFLICT (account_id, message_id) DO UPDATE
SET turn = CASE WHEN excluded.turn > message_turns.turn THEN excluded.turn ELSE message_turns.turn + 1 END,
  action_id = excluded.action_id,
  job_id = excluded.job_id
WHERE message_turns.action_id IS NULL
RETURNING turn`

	endTurn = `
UPDATE message_turns
SET action_id = NULL,
  job_id = NULL
WHERE account_id = $1
  AND message_id = $2
  AND action_id = $3`

	selectWakeUpTurn = `
SELECT turn
FROM message_turns
WHERE account_id = $1
  AND message_id = $2
  AND action_id = $3
  AND job_id = $4`

	endWakeUpTurn = `
UPDATE message_turns
SET action_id = NULL,
  job_id = NULL
WHERE account_id = $1
  AND message_id = $2
  AND action_id = $3
  AND job_id IS NOT NULL`

	selectTurn = `
SELECT ` + actionColumns + `,
  COALESCE((SELECT job_id FROM message_turns WHERE account_id = $1 AND message_id = $2 AND action_id = actions.id), '') AS turn_job
FROM actions
WHERE account_id = $1
  AND message_id = $2
  AND (state = 'executing' OR id = (SELECT action_id FROM message_turns WHERE account_id = $1 AND message_id = $2))
LIMIT 1`

	selectBeforeDeletion = `
SELECT ` + actionColumns + `
FROM actions
WHERE account_id = $1
  AND message_id = $2
  AND type <> 'delete'
  AND (state IN ('queued', 'approved_pending') OR state = 'failed' AND updated_at >= $3)
ORDER BY id`

	selectHistory = `
SELECT ` + actionColumns + `, ` + lastOfAction + `
FROM actions
WHERE actions.account_id = $1
  AND actions.message_id = $2
  AND actions.state = 'completed'
  AND actions.turn IS NOT NULL
ORDER BY actions.turn`

	updateReport = `
UPDATE actions
SET report_json = $1,
  report_rev = report_rev + 1
WHERE id = $2
  AND state = 'executing'
RETURNING ` + reportColumns

	reportColumns = `id, account_id, report_json, report_rev, created_at`

	selectReport = `
SELECT report_json
FROM actions
WHERE id = $1`

	insertUndoLink = `
INSERT INTO action_links (cause_action_id, effect_action_id, relation, created_at)
VALUES ($1, $2, 'undo_of', $3)
RETURNING ` + linkColumns

	linkColumns = `cause_action_id, effect_action_id, relation, created_at, void_at`

	voidUndoLink = `
UPDATE action_links
SET void_at = $1
WHERE cause_action_id = $2
  AND relation = 'undo_of'
  AND void_at IS NULL
RETURNING ` + linkColumns

	// The undo of an undo voids it.
	voidUndone = `
UPDATE action_links
SET void_at = $1
WHERE relation = 'undo_of'
  AND void_at IS NULL
  AND cause_action_id IN (
    SELECT effect_action_id
    FROM action_links
    WHERE cause_action_id = $2
      AND relation = 'undo_of')
RETURNING ` + linkColumns

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

	// Only the first of several answers changes a row.
	updateApproval = `
UPDATE approvals
SET digest = $1,
  outcome = $2,
  approver = $3,
  why = $4,
  decided_at = $5,
  rev = $6
WHERE id = $7
  AND outcome = 'waiting'
  AND rev = $8
RETURNING ` + approvalColumns

	selectRequest = `
SELECT ` + approvalColumns + `, ` + lastOfApproval + `
FROM approvals
WHERE action_id = $1
  AND outcome = 'waiting'`

	selectLoggedApproval = `
SELECT ` + approvalColumns + `, ` + lastOfApproval + `
FROM approvals
WHERE id = $1`

	// The last answer that a person gave, by the log.
	selectAnswer = `
SELECT ` + approvalColumns + `
FROM approvals
WHERE action_id = $1
  AND outcome IN ('approved', 'rejected')
ORDER BY COALESCE((SELECT MAX(seen) FROM audit_entries WHERE kind = 'approval' AND subject_id = approvals.id), 0) DESC, id DESC
LIMIT 1`

	insertApproval = `
INSERT INTO approvals (id, action_id, reasons_json, digest, requested_at, expires_at, outcome, approver, why, rev)
VALUES ($1, $2, $3, $4, $5, $6, 'waiting', '', '', 1)`

	selectApproval = `
SELECT ` + approvalColumns + `
FROM approvals
WHERE id = $1`

	selectApprovals = `
SELECT ` + approvalColumns + `
FROM approvals
WHERE action_id = $1
ORDER BY id`

	// Listings append the clauses of the filter. Their parameters are numbered when they are complete.
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
SELECT source AS a, rule_name AS b, model AS c, COUNT(*) AS n
FROM decisions
WHERE $1 = ''
  OR account_id = $1
GROUP BY source, rule_name, model`
)
