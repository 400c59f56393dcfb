package safety

const (
	selectLane = `
SELECT lane, entries, mac, seal, (SELECT SUM(entries) FROM audit_lanes) AS seen, (
    SELECT CAST(lane AS TEXT) || ' ' || CAST(entry AS TEXT) || ' ' || CAST(seen AS TEXT) || ' ' || CAST(rev AS TEXT) || ' ' || mac
    FROM audit_entries
    WHERE audit_entries.lane = audit_lanes.lane
      AND audit_entries.entry = audit_lanes.entries) AS last
FROM audit_lanes`

	firstLane = `
ORDER BY lane
LIMIT 1`

	thisLane = `
WHERE lane = $1`

	skipLocked = `
FOR UPDATE SKIP LOCKED`

	// There are more transactions than chains.
	waitLocked = `
FOR UPDATE`

	selectLanes = `
SELECT lane, entries, mac, seal, 0 AS seen
FROM audit_lanes
ORDER BY lane`

	selectEntries = `
SELECT lane, entry, seen, account_id, kind, subject_id, rev, note, digest, mac, created_at
FROM audit_entries
WHERE lane = $1
  AND entry > $2
ORDER BY entry
LIMIT $3`

	selectEntriesBack = `
SELECT lane, entry, seen, account_id, kind, subject_id, rev, note, digest, mac, created_at
FROM audit_entries
WHERE lane = $1
  AND entry <= $2
ORDER BY entry DESC
LIMIT $3`

	// The rejections among some entries of a chain, each with the signature over the entry before.
	selectRefusals = `
SELECT lane, entry, seen, account_id, kind, subject_id, rev, note, digest, mac, created_at, COALESCE((
    SELECT mac
    FROM audit_entries previous
    WHERE previous.lane = audit_entries.lane
      AND previous.entry = audit_entries.entry - 1), '') AS before_mac
FROM audit_entries
WHERE lane = $1
  AND entry > $2
  AND entry <= $3
  AND kind = 'action'
  AND note = 'rejected'`

	// Of two that have begun at once, each names ends that are right.
	selectKeyEntry = `
SELECT lane, entry, seen, account_id, kind, subject_id, rev, note, digest, mac, created_at
FROM audit_entries
WHERE kind = 'key'
  AND subject_id = $1
ORDER BY seen, lane`

	selectKeyEntries = `
SELECT lane, entry, seen, account_id, kind, subject_id, rev, note, digest, mac, created_at
FROM audit_entries
WHERE kind = 'key'
ORDER BY seen, lane`

	countEntries = `
SELECT COUNT(*)
FROM audit_entries`

	selectDecisions = `
SELECT ` + decisionColumns + `
FROM decisions
WHERE id > $1
ORDER BY id
LIMIT $2`

	selectActions = `
SELECT ` + actionColumns + `
FROM actions
WHERE id > $1
ORDER BY id
LIMIT $2`

	selectRequests = `
SELECT ` + approvalColumns + `
FROM approvals
WHERE id > $1
ORDER BY id
LIMIT $2`

	// The entry about a decision. It is found by reading all entries.
	selectDecisionEntries = `
SELECT lane, entry, seen, account_id, kind, subject_id, rev, note, digest, mac, created_at
FROM audit_entries
WHERE kind = 'decision'
  AND subject_id = $1`

	selectUndoRequest = `
SELECT lane, entry, seen, account_id, kind, subject_id, rev, note, digest, mac, created_at
FROM audit_entries
WHERE kind = 'undo'
  AND subject_id = $1
ORDER BY rev DESC
LIMIT 1`

	// An undo that is not void by the audit log, and is missing or void in the links.
	selectMissedUndo = `
SELECT logged.subject_id
FROM (
  SELECT subject_id
  FROM audit_entries
  WHERE kind = 'link'
    AND note = $1
  GROUP BY subject_id
  HAVING MAX(rev) = 1) AS logged
WHERE NOT EXISTS (
  SELECT 1
  FROM action_links
  WHERE cause_action_id = logged.subject_id
    AND effect_action_id = $1
    AND relation = 'undo_of'
    AND void_at IS NULL)
LIMIT 1`

	selectLinks = `
SELECT ` + linkColumns + `
FROM action_links
WHERE relation = 'undo_of'
  AND cause_action_id > $1
ORDER BY cause_action_id
LIMIT $2`

	// Actions that differ from their decision. Undos have the parameters of the action that they undo, encoded again.
	selectIncoherent = `
SELECT actions.id AS id, actions.type AS type, CAST(actions.parameters_json AS TEXT) AS parameters,
  CAST(decisions.parameters_json AS TEXT) AS decided_parameters,
  CASE WHEN actions.account_id = decisions.account_id
    AND actions.message_id = decisions.message_id
    AND actions.type IN (decisions.action_type, 'undo_' || decisions.action_type, 'redo_' || decisions.action_type) THEN 1 ELSE 0 END AS fits
FROM actions
JOIN decisions ON decisions.id = actions.decision_id
WHERE actions.id > $1
  AND (actions.account_id <> decisions.account_id
    OR actions.message_id <> decisions.message_id
    OR actions.type NOT IN (decisions.action_type, 'undo_' || decisions.action_type, 'redo_' || decisions.action_type)
    OR CAST(actions.parameters_json AS TEXT) <> CAST(decisions.parameters_json AS TEXT))
ORDER BY actions.id
LIMIT $2`

	selectAllEvents = `
SELECT id, kind, account_id, source, changed_by, why, created_at
FROM safety_events
WHERE id > $1
ORDER BY id
LIMIT $2`

	selectReports = `
SELECT ` + reportColumns + `
FROM actions
WHERE report_json IS NOT NULL
  AND id > $1
ORDER BY id
LIMIT $2`

	selectAllBreakers = `
SELECT ` + breakerColumns + `
FROM safety_breakers
WHERE account_id || ' ' || source > $1
ORDER BY account_id || ' ' || source
LIMIT $2`

	insertEntry = `
INSERT INTO audit_entries (lane, entry, seen, account_id, kind, subject_id, rev, note, digest, mac, created_at)
VALUES `

	// One round trip to PostgreSQL in place of two.
	insertLast = `
WITH added AS (%s
  RETURNING lane)
UPDATE audit_lanes
SET entries = $%d,
  mac = $%d,
  seal = $%d
WHERE lane = $%d
  AND (SELECT COUNT(*) FROM added) = $%d`

	// No row: the chain has another end, or the audit log has more entries.
	moveLane = `
UPDATE audit_lanes
SET entries = $1,
  mac = $2,
  seal = $3
WHERE lane = $4
  AND entries = $5
  AND mac = $6
  AND (SELECT SUM(entries) FROM audit_lanes) = $7`

	lockEnds = `
SELECT 1
FROM audit_lanes
ORDER BY lane
FOR UPDATE`

	endLane = `
UPDATE audit_lanes
SET entries = $1,
  mac = $2,
  seal = $3
WHERE lane = $4`
)
