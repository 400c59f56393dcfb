package safety

import (
	"github.com/postroom-go/postroom/safety/limits"
	"github.com/postroom-go/postroom/safety/stop"
)

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
  actions.job_id AS "action.job_id", actions.content_sha256 AS "action.content_sha256", actions.created_at AS "action.created_at",
  actions.updated_at AS "action.updated_at", actions.executed_at AS "action.executed_at", actions.rev AS "action.rev",
  actions.sequence AS "action.sequence", actions.approval_id AS "action.approval_id",
  (SELECT provider_message_id FROM decisions decided WHERE decided.id = actions.decision_id) AS "action.provider_message_id",
  COALESCE((SELECT MIN(effect_action_id) FROM action_links WHERE cause_action_id = actions.id AND relation = 'undo_of'), '') AS "action.undoes"`

	approvalColumns = `approvals.id AS "approval.id", approvals.action_id AS "approval.action_id",
  approvals.reasons_json AS "approval.reasons_json", approvals.digest AS "approval.digest",
  approvals.requested_at AS "approval.requested_at", approvals.expires_at AS "approval.expires_at",
  approvals.decided_at AS "approval.decided_at", approvals.outcome AS "approval.outcome",
  approvals.approver AS "approval.approver", approvals.why AS "approval.why", approvals.signature AS "approval.signature", approvals.used_by AS "approval.used_by",
  approvals.group_id AS "approval.group_id", approvals.content_sha256 AS "approval.content_sha256",
  approvals.replaced_by AS "approval.replaced_by"`

	// The first decision with a key stays.
	insertDecision = `
INSERT INTO decisions (id, account_id, message_id, decision_key, source, action_type, parameters_json, confidence,
  needs_approval, rationale, rule_id, rule_name, rule_version, safe_mode, model, explanations_json, telemetry_json, sender,
  subject, created_at, provider_message_id, origin)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22)
ON CONFLICT (account_id, message_id, decision_key) DO NOTHING`

	selectDecision = `
SELECT ` + decisionColumns + `
FROM decisions
WHERE id = $1`

	insertAction = `
INSERT INTO actions (id, account_id, message_id, decision_id, type, parameters_json, content_sha256, state, error, undo_hint_json,
  approval_id, job_id, sequence, created_at, updated_at, executed_at, ended_at, rev)
VALUES ($1, $2, $3, $4, $5, $6, '', $7, $8, $9, '', $10, $11, $12, $13, $14, $15, 1)`

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

	// Compare and set: the row must be at the revision that was read.
	updateAction = `
UPDATE actions
SET state = $1,
  error = $2,
  undo_hint_json = $3,
  job_id = $4,
  content_sha256 = $5,
  sequence = $6,
  executed_at = $7,
  updated_at = $8,
  approval_id = $9,
  rev = $10,
  ended_at = COALESCE(ended_at, $11)
WHERE id = $12
  AND state = $13
  AND rev = $14`

	// An action with its decision, its approval, and what may hold it.
	selectPermit = `
SELECT ` + actionColumns + `, ` + decisionColumns + `,
  COALESCE(approvals.id, '') AS "approval.id", COALESCE(approvals.digest, '') AS "approval.digest", COALESCE(approvals.reasons_json, 'null') AS "approval.reasons_json",
  COALESCE(approvals.outcome, '') AS "approval.outcome", COALESCE(approvals.approver, '') AS "approval.approver",
  COALESCE(approvals.signature, '') AS "approval.signature", COALESCE(approvals.used_by, '') AS "approval.used_by", COALESCE(approvals.action_id, '') AS "approval.action_id",
  approvals.requested_at AS "approval.requested_at", approvals.expires_at AS "approval.expires_at", approvals.decided_at AS "approval.decided_at",
  CASE WHEN decisions.needs_approval <> 0 OR EXISTS (SELECT 1 FROM approvals asked WHERE asked.action_id = actions.id) THEN 1 ELSE 0 END AS asked,
  safety_switch.accepted_at AS accepted_at, ` + stop.Columns + `, ` + limits.Columns + `
FROM actions
JOIN decisions ON decisions.id = actions.decision_id
LEFT JOIN safety_switch ON safety_switch.id = 1
LEFT JOIN safety_breakers ON safety_breakers.account_id = actions.account_id AND safety_breakers.source = decisions.source
LEFT JOIN approvals ON approvals.id = actions.approval_id
WHERE actions.id = $1`

	lockAction = `
SELECT 1
FROM actions
WHERE id = $1
FOR UPDATE`

	// No row: another action, or a wake-up, has the lock. The rows of actions take precedence over this table: an
	// executing action has the lock, and the sequence continues from those of the actions. The last parameter is the job
	// of a wake-up.
	takeLock = `
INSERT INTO message_locks (account_id, message_id, sequence, action_id, job_id)
SELECT $1, $2, 1 + COALESCE(MAX(sequence), 0), $3, $4
FROM actions
WHERE account_id = $1
  AND message_id = $2
HAVING COALESCE(MAX(CASE WHEN state = 'executing' AND id <> $3 THEN 1 ELSE 0 END), 0) = 0
ON CONFLICT (account_id, message_id) DO UPDATE
SET sequence = CASE WHEN excluded.sequence > message_locks.sequence THEN excluded.sequence ELSE message_locks.sequence + 1 END,
  action_id = excluded.action_id,
  job_id = excluded.job_id
WHERE message_locks.action_id IS NULL
RETURNING sequence`

	endLock = `
UPDATE message_locks
SET action_id = NULL,
  job_id = NULL
WHERE account_id = $1
  AND message_id = $2
  AND action_id = $3`

	selectWakeUpLock = `
SELECT sequence
FROM message_locks
WHERE account_id = $1
  AND message_id = $2
  AND action_id = $3
  AND job_id = $4`

	unlockWakeUp = `
UPDATE message_locks
SET action_id = NULL,
  job_id = NULL
WHERE account_id = $1
  AND message_id = $2
  AND action_id = $3
  AND job_id IS NOT NULL`

	selectLockHolder = `
SELECT ` + actionColumns + `,
  COALESCE((SELECT job_id FROM message_locks WHERE account_id = $1 AND message_id = $2 AND action_id = actions.id), '') AS lock_job
FROM actions
WHERE account_id = $1
  AND message_id = $2
  AND (state = 'executing' OR id = (SELECT action_id FROM message_locks WHERE account_id = $1 AND message_id = $2))
LIMIT 1`

	selectBeforeDeletion = `
SELECT ` + actionColumns + `
FROM actions
WHERE account_id = $1
  AND message_id = $2
  AND type <> 'delete'
  AND (state IN ('queued', 'pending_approval') OR state = 'failed' AND updated_at >= $3)
ORDER BY id`

	selectHistory = `
SELECT ` + actionColumns + `
FROM actions
WHERE actions.account_id = $1
  AND actions.message_id = $2
  AND actions.state = 'completed'
  AND actions.sequence IS NOT NULL
ORDER BY actions.sequence`

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
VALUES ($1, $2, 'undo_of', $3)`

	insertLink = `
INSERT INTO action_links (cause_action_id, effect_action_id, relation, created_at)
VALUES ($1, $2, $3, $4)
ON CONFLICT DO NOTHING`

	selectLinks = `
SELECT cause_action_id, effect_action_id, relation, created_at
FROM action_links
WHERE (cause_action_id = $1 OR effect_action_id = $1)
  AND relation <> 'undo_of'
ORDER BY created_at, cause_action_id, effect_action_id`

	voidUndoLink = `
UPDATE action_links
SET void_at = $1
WHERE cause_action_id = $2
  AND relation = 'undo_of'
  AND void_at IS NULL`

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
      AND relation = 'undo_of')`

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

	// Only the first of several answers changes a row, and only if the request is as it was read.
	updateApproval = `
UPDATE approvals
SET digest = $1,
  outcome = $2,
  approver = $3,
  why = $4,
  decided_at = $5,
  signature = $6,
  content_sha256 = $7,
  replaced_by = $8
WHERE id = $9
  AND outcome = $10
  AND digest = $11
  AND signature = $12`

	// An approval is used once.
	useApproval = `
UPDATE approvals
SET used_by = $1
WHERE id = $2
  AND outcome = 'approved'
  AND used_by = ''`

	selectRequest = `
SELECT ` + approvalColumns + `
FROM approvals
WHERE action_id = $1
  AND outcome = 'waiting'`

	// The last answer that a person gave.
	selectAnswer = `
SELECT ` + approvalColumns + `
FROM approvals
WHERE action_id = $1
  AND outcome IN ('approved', 'rejected')
ORDER BY decided_at DESC, id DESC
LIMIT 1`

	selectApprover = `
SELECT ` + approvalColumns + `
FROM approvals
WHERE id = (SELECT approval_id FROM actions WHERE id = $1)
  AND action_id = $1
  AND outcome = 'approved'`

	insertApproval = `
INSERT INTO approvals (id, action_id, reasons_json, digest, requested_at, expires_at, group_id, content_sha256, outcome, approver, why,
  signature, used_by)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'waiting', '', '', '', '')`

	// Without group_id <> '' the index of groups is not used, whatever the parameter.
	selectGroup = `
SELECT ` + approvalColumns + `
FROM approvals
WHERE group_id = $1
  AND group_id <> ''
  AND outcome = 'waiting'
  AND expires_at > $2
ORDER BY id`

	// A row is locked by writing it; a group is named by its first request.
	lockApproval = `
UPDATE approvals
SET group_id = group_id
WHERE id = $1`

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

	selectEntry = listActions + `actions.id = $1`

	selectLastDone = listDecisions + `actions.account_id = $1
  AND actions.message_id = $2
  AND actions.state = 'completed'
  AND actions.sequence IS NOT NULL
ORDER BY actions.sequence DESC
LIMIT 10`

	// SQLite keeps the order of a cross join. By itself it reads all actions, once it has counted those and no request.
	listApprovals = `
SELECT ` + actionColumns + `, ` + decisionColumns + `, ` + approvalColumns + `
FROM approvals
CROSS JOIN actions
JOIN decisions ON decisions.id = actions.decision_id
WHERE approvals.outcome = 'waiting'
  AND actions.id = approvals.action_id
  AND `

	selectWaiting = listApprovals + `approvals.action_id = $1
  AND actions.state = 'pending_approval'`

	// What has not ended is found by the index actions_open.
	isOpen = `actions.state IN ('queued', 'executing', 'pending_approval')`

	// The smallest id of the actions since an instant, by the index actions_created: the search for the newest, which
	// goes by ids, ends there. Where they are many, a page is full before.
	firstSince = `(SELECT CASE WHEN COUNT(*) < 10000 THEN MIN(id) ELSE '' END
  FROM (SELECT id FROM actions WHERE created_at >= ? LIMIT 10000) AS since)`

	// By the index decisions_confidence.
	selectOfConfidence = `SELECT id FROM decisions WHERE confidence < 1 AND confidence BETWEEN ? AND ?`

	newestFirst = `
ORDER BY actions.id DESC
LIMIT ?`

	// An id is hexadecimal digits and dashes, all of which sort before "g".
	selectQueued = `
SELECT id
FROM actions
WHERE message_id = $2
  AND account_id = $1
  AND state = 'queued'
ORDER BY id
LIMIT 100`

	selectPrefix = `
SELECT id
FROM actions
WHERE id >= $1
  AND id < $2
ORDER BY id
LIMIT 11`

	// A cross join as in listApprovals.
	countApprovals = `
SELECT COUNT(*)
FROM approvals
CROSS JOIN actions
WHERE actions.id = approvals.action_id
  AND outcome = 'waiting'
  AND state = 'pending_approval'`

	selectRev = `
SELECT COALESCE(MAX(rev), 0)
FROM actions
WHERE id = $1`

	selectAccepted = `
SELECT accepted_at
FROM safety_switch
WHERE id = 1`

	acceptRestore = `
INSERT INTO safety_switch (id, stopped, undos, changed_by, why, changed_at, accepted_at)
VALUES (1, 0, 0, '', '', $1, $1)
ON CONFLICT (id) DO UPDATE
SET accepted_at = excluded.accepted_at`
)
