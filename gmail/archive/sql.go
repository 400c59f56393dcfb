package archive

const (
	sqlEnsure = `
INSERT INTO archives (account_id, email, head_number, head_sha256, history_id, records_cursor, listing_history,
  listing_token, failure, chain_fault)
VALUES ($1, $2, 0, '', 0, '', 0, '', '', '')
ON CONFLICT (account_id) DO NOTHING`

	archiveColumns = `account_id, email, head_number, head_sha256, history_id, records_cursor, listing_history,
  listing_token, ran_at, failed_at, failure, verified_at, chain_fault`

	sqlArchive  = `SELECT ` + archiveColumns + ` FROM archives WHERE account_id = $1`
	sqlArchives = `SELECT ` + archiveColumns + ` FROM archives ORDER BY email, account_id`

	// Only the manifest after the one that is known moves the head.
	sqlMoveHead = `
UPDATE archives
SET head_number = $1,
  head_sha256 = $2,
  history_id = CASE WHEN CAST($3 AS BIGINT) > 0 THEN CAST($3 AS BIGINT) ELSE history_id END,
  records_cursor = CASE WHEN CAST($4 AS TEXT) <> '' THEN CAST($4 AS TEXT) ELSE records_cursor END,
  email = $5
WHERE account_id = $6 AND head_number = $7 AND head_sha256 = $8`

	// What is known of the object stays while the message has the same content.
	sqlSaveMessage = `
INSERT INTO archived_messages (account_id, message_id, thread_id, sha256, size, received_at, rfc_message_id,
  labels_json, state, verified_at, fault, removed)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, '', $11)
ON CONFLICT (account_id, message_id) DO UPDATE
SET thread_id = excluded.thread_id,
  sha256 = excluded.sha256,
  size = excluded.size,
  received_at = excluded.received_at,
  rfc_message_id = excluded.rfc_message_id,
  labels_json = excluded.labels_json,
  state = excluded.state,
  verified_at = COALESCE(excluded.verified_at,
    CASE WHEN archived_messages.sha256 = excluded.sha256 THEN archived_messages.verified_at END),
  fault = CASE WHEN archived_messages.sha256 = excluded.sha256 AND excluded.verified_at IS NULL AND excluded.removed = 0
    THEN archived_messages.fault ELSE '' END,
  removed = CASE WHEN excluded.removed = 1 AND archived_messages.removed = 2 THEN 2 ELSE excluded.removed END`

	messageColumns = `message_id, thread_id, sha256, size, received_at, rfc_message_id, labels_json, state, verified_at,
  fault, removed`

	sqlMessage = `
SELECT ` + messageColumns + `
FROM archived_messages
WHERE account_id = $1 AND message_id = $2`

	// The ids are added as further parameters.
	sqlKnown = `
SELECT ` + messageColumns + `
FROM archived_messages
WHERE account_id = $1 AND message_id IN `

	sqlKnownContents = `
SELECT DISTINCT sha256
FROM archived_messages
WHERE account_id = $1 AND removed < 2 AND sha256 IN `

	sqlMessagesAfter = `
SELECT ` + messageColumns + `
FROM archived_messages
WHERE account_id = $1 AND message_id > $2 AND removed = 0
ORDER BY message_id
LIMIT $3`

	// Those that were never verified come first on SQLite, and are asked for apart because PostgreSQL puts them last.
	sqlNeverVerified = `
SELECT ` + messageColumns + `
FROM archived_messages
WHERE account_id = $1 AND verified_at IS NULL AND removed = 0
ORDER BY message_id
LIMIT $2`
	sqlVerifiedLongAgo = `
SELECT ` + messageColumns + `
FROM archived_messages
WHERE account_id = $1 AND verified_at < $2 AND removed = 0
ORDER BY verified_at, message_id
LIMIT $3`

	sqlSetVerified = `
UPDATE archived_messages
SET verified_at = $1,
  fault = ''
WHERE account_id = $2 AND message_id = $3 AND sha256 = $4`

	// One with a fault counts as looked at, or a sample would consist of the same faults each time.
	sqlSetFault = `
UPDATE archived_messages
SET verified_at = $1,
  fault = $2
WHERE account_id = $3 AND message_id = $4 AND sha256 = $5 AND removed = 0`

	sqlFaults = `
SELECT ` + messageColumns + `
FROM archived_messages
WHERE account_id = $1 AND fault <> ''
ORDER BY message_id
LIMIT $2`

	// The triggers of archived_messages keep archive_months. SUM is of a wider type on PostgreSQL.
	sqlCount = `
SELECT CAST(COALESCE(SUM(messages), 0) AS BIGINT) AS messages,
  CAST(COALESCE(SUM(bytes), 0) AS BIGINT) AS bytes,
  CAST(COALESCE(SUM(gone), 0) AS BIGINT) AS gone,
  CAST(COALESCE(SUM(faults), 0) AS BIGINT) AS faults,
  CAST(COALESCE(SUM(unverified), 0) AS BIGINT) AS unverified,
  CAST(COALESCE(SUM(removed), 0) AS BIGINT) AS removed,
  CAST(COALESCE(SUM(removed_gone), 0) AS BIGINT) AS removed_gone
FROM archive_months
WHERE account_id = $1`

	// Who changes many messages at once takes its turn first: two would wait for each other's months otherwise.
	sqlTakeTurn = `UPDATE archives SET email = email WHERE account_id = $1`

	sqlTooOld = `
SELECT ` + messageColumns + `
FROM archived_messages
WHERE account_id = $1 AND received_at < $2 AND removed = 0
ORDER BY received_at, message_id
LIMIT $3`

	sqlRemoving = `
SELECT ` + messageColumns + `
FROM archived_messages
WHERE account_id = $1 AND removed = 1
ORDER BY message_id
LIMIT $2`

	// Equal messages share an object.
	sqlIsNeeded = `SELECT COUNT(*) FROM archived_messages WHERE account_id = $1 AND sha256 = $2 AND removed = 0`

	sqlIsRemoved = `UPDATE archived_messages SET removed = 2 WHERE account_id = $1 AND message_id = $2 AND removed = 1`

	sqlMonths = `
SELECT month, messages, bytes, gone, faults, removed
FROM archive_months
WHERE account_id = $1
ORDER BY month DESC`

	sqlCountUnarchived = `SELECT COUNT(*) FROM unarchived_messages WHERE account_id = $1`

	sqlListing = `
UPDATE archives
SET listing_history = $1,
  listing_token = $2
WHERE account_id = $3`

	sqlMoveHistory  = `UPDATE archives SET history_id = $1 WHERE account_id = $2`
	sqlForgetCursor = `
UPDATE archives
SET history_id = 0,
  listing_history = 0,
  listing_token = ''
WHERE account_id = $1`

	sqlRan = `
UPDATE archives
SET ran_at = $1,
  failure = '',
  failed_at = NULL
WHERE account_id = $2`

	sqlFailed = `
UPDATE archives
SET failed_at = $1,
  failure = $2
WHERE account_id = $3`

	sqlChainVerified = `
UPDATE archives
SET verified_at = $1,
  chain_fault = $2
WHERE account_id = $3`

	sqlSaveUnarchived = `
INSERT INTO unarchived_messages (account_id, message_id, reason, at)
VALUES ($1, $2, $3, $4)
ON CONFLICT (account_id, message_id) DO UPDATE
SET reason = excluded.reason`

	sqlUnarchived = `
SELECT message_id
FROM unarchived_messages
WHERE account_id = $1
ORDER BY message_id
LIMIT $2`

	sqlIsUnarchived = `SELECT COUNT(*) FROM unarchived_messages WHERE account_id = $1 AND message_id = $2`

	sqlArchivedNow = `DELETE FROM unarchived_messages WHERE account_id = $1 AND message_id = $2`

	sqlForgetMessages = `
DELETE FROM archived_messages
WHERE account_id = $1 AND message_id IN (
  SELECT message_id FROM archived_messages WHERE account_id = $1 LIMIT $2)`
	sqlForgetUnarchived = `DELETE FROM unarchived_messages WHERE account_id = $1`
	sqlForgetArchive    = `DELETE FROM archives WHERE account_id = $1`
)

// The restores.
const (
	restoredColumns = `restore_id, message_id, account_id, rfc_message_id, size, outcome, new_id, since_history, detail`

	sqlRestored = `
SELECT ` + restoredColumns + `
FROM restored_messages
WHERE restore_id = $1 AND message_id = $2`

	sqlRestoredAfter = `
SELECT ` + restoredColumns + `
FROM restored_messages
WHERE restore_id = $1 AND outcome = $2 AND message_id > $3
ORDER BY message_id
LIMIT $4`

	// The messages of a mailbox that have a content, or had it when a restore put them there.
	sqlSameContent = `
SELECT message_id
FROM archived_messages
WHERE account_id = $1 AND sha256 = $2 AND state <> 'gone'
UNION
SELECT new_id
FROM restored_messages
WHERE account_id = $1 AND message_id = $3 AND new_id <> ''
LIMIT 20`

	sqlSaveRestored = `
INSERT INTO restored_messages (restore_id, message_id, account_id, rfc_message_id, size, outcome, new_id,
  since_history, detail, at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
ON CONFLICT (restore_id, message_id) DO UPDATE
SET outcome = excluded.outcome,
  new_id = excluded.new_id,
  detail = excluded.detail`

	sqlCountRestored = `
SELECT outcome, COUNT(*) AS messages
FROM restored_messages
WHERE restore_id = $1
GROUP BY outcome`

	sqlIsRestored = `
SELECT COUNT(*)
FROM restored_messages
WHERE account_id = $1 AND new_id = $2 AND outcome IN ('restored', 'undone')`

	sqlIsImporting = `
SELECT COUNT(*)
FROM restored_messages
WHERE account_id = $1 AND rfc_message_id = $2 AND outcome = 'importing' AND at > $3`

	sqlForgetRestored = `DELETE FROM restored_messages WHERE account_id = $1`
)
