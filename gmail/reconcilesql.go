package gmail

const (
	sqlRun = `
SELECT account_id, run, seq, cause, phase, history_id, since, lists_json, page, listed, added, relabelled, deleted, restored,
  started_at, finished_at
FROM reconciliations
WHERE account_id = $1`

	// A check does not begin while another run is under way. A gap does, and goes back to before the first one.
	sqlStartRun = `
INSERT INTO reconciliations (
  account_id, run, seq, cause, phase, history_id, since, lists_json, page, listed, added, relabelled, deleted, restored,
  started_at, updated_at)
VALUES ($1, 1, 1, $2, $3, $4, $5, '[]', '', 0, 0, 0, 0, 0, $6, $7)
ON CONFLICT (account_id) DO UPDATE SET
  run = reconciliations.run + 1,
  seq = reconciliations.seq + 1,
  cause = excluded.cause,
  phase = excluded.phase,
  history_id = excluded.history_id,
  since = CASE WHEN reconciliations.phase = 'done' OR reconciliations.cause = 'check' OR reconciliations.since > excluded.since
    THEN excluded.since ELSE reconciliations.since END,
  lists_json = excluded.lists_json,
  page = '',
  listed = 0,
  added = 0,
  relabelled = 0,
  deleted = 0,
  restored = 0,
  started_at = excluded.started_at,
  updated_at = excluded.updated_at,
  finished_at = NULL
WHERE reconciliations.phase = 'done' OR excluded.cause = 'gap'
RETURNING run, seq`

	// On PostgreSQL the row's lock lasts until the step is stored.
	sqlLockRun = `
UPDATE reconciliations
SET seq = seq
WHERE account_id = $1 AND seq = $2`

	sqlSaveRun = `
UPDATE reconciliations
SET seq = $1, phase = $2, lists_json = $3, page = $4, listed = $5, added = $6, relabelled = $7, deleted = $8, restored = $9,
  updated_at = $10, finished_at = $11
WHERE account_id = $12`

	sqlSaveListed = `
INSERT INTO reconciled_messages (account_id, provider_message_id, run, labels, last_label)
VALUES `

	// A page that is listed again, or that overlaps the one before, adds its label once.
	sqlSaveListedAgain = `
ON CONFLICT (account_id, provider_message_id) DO UPDATE SET
  labels = CASE
    WHEN reconciled_messages.run <> excluded.run THEN excluded.labels
    WHEN reconciled_messages.last_label = excluded.last_label THEN reconciled_messages.labels
    ELSE reconciled_messages.labels || ' ' || excluded.labels END,
  last_label = excluded.last_label,
  run = excluded.run`

	sqlUnknown = `
SELECT l.provider_message_id, l.labels
FROM reconciled_messages l
LEFT JOIN messages m ON m.account_id = l.account_id AND m.provider_message_id = l.provider_message_id
LEFT JOIN broken_messages b ON b.account_id = l.account_id AND b.provider_message_id = l.provider_message_id
WHERE l.account_id = $1 AND l.run = $2 AND m.id IS NULL AND b.account_id IS NULL
  AND l.provider_message_id IN `

	sqlCompared = `
SELECT l.provider_message_id, l.labels, m.labels_json, m.deleted_at
FROM reconciled_messages l
JOIN messages m ON m.account_id = l.account_id AND m.provider_message_id = l.provider_message_id
WHERE l.account_id = $1 AND l.run = $2 AND l.provider_message_id > $3
ORDER BY l.provider_message_id
LIMIT $4`

	sqlUnlisted = `
SELECT s.provider_message_id, s.history_id,
  CASE WHEN EXISTS (
    SELECT 1
    FROM reconciled_messages l
    WHERE l.run = $1 AND l.account_id = s.account_id AND l.provider_message_id = s.provider_message_id
  ) THEN 1 ELSE 0 END AS listed
FROM (
  SELECT m.account_id, m.provider_message_id, m.history_id
  FROM (
    SELECT account_id, provider_message_id, history_id
    FROM messages
    WHERE account_id = $2 AND provider_message_id > $3 AND deleted_at IS NULL
    ORDER BY provider_message_id
    LIMIT $4
  ) m
  UNION ALL
  SELECT b.account_id, b.provider_message_id, 0
  FROM (
    SELECT account_id, provider_message_id
    FROM broken_messages
    WHERE account_id = $5 AND provider_message_id > $6
    ORDER BY provider_message_id
    LIMIT $7
  ) b
) s
ORDER BY s.provider_message_id
LIMIT $8`

	sqlSaveSuspects = `
INSERT INTO reconcile_suspects (account_id, provider_message_id)
VALUES `

	sqlSuspects = `
SELECT provider_message_id
FROM reconcile_suspects
WHERE account_id = $1
ORDER BY provider_message_id
LIMIT $2`

	sqlDropSuspect  = `DELETE FROM reconcile_suspects WHERE account_id = $1 AND provider_message_id = $2`
	sqlDropSuspects = `DELETE FROM reconcile_suspects WHERE account_id = $1`

	sqlCleanListed = `
DELETE FROM reconciled_messages
WHERE account_id = $1 AND provider_message_id IN (
  SELECT provider_message_id
  FROM reconciled_messages
  WHERE account_id = $2
  LIMIT $3)`
)
