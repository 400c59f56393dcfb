package safety

const (
	selectLane = `
SELECT lane, entries, mac, seal, (SELECT SUM(entries) FROM audit_lanes) AS seen
FROM audit_lanes
ORDER BY lane
LIMIT 1`

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
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`

	// One round trip to PostgreSQL in place of two.
	insertLastEntry = `
WITH added AS (
  INSERT INTO audit_entries (lane, entry, seen, account_id, kind, subject_id, rev, note, digest, mac, created_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11))
UPDATE audit_lanes
SET entries = $12,
  mac = $13,
  seal = $14
WHERE lane = $15`

	endLane = `
UPDATE audit_lanes
SET entries = $1,
  mac = $2,
  seal = $3
WHERE lane = $4`
)
