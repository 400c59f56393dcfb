package mailstore

import (
	"github.com/postroom-go/postroom/gmail/internal/maildb"
)

// The statements of the stores. They run on SQLite and PostgreSQL alike: parameters are numbered in the order of their
// first appearance.

const (
	sqlEnsureAccount = `
INSERT INTO accounts (id, provider, email, decide_since, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (provider, email) DO UPDATE SET email = excluded.email
WHERE accounts.state <> 'removing'
RETURNING id`

	accountColumns = `
SELECT id, email, history_id, backfill_state, backfill_query, backfill_page, backfilled_all,
  backfill_pages, backfill_messages, backfill_estimate, backfill_error, watch_expires_at, last_sync_at, state, state_reason,
  COALESCE(state_since, created_at) AS state_since, granted_scopes, decide_since, setup_error,
  created_at, updated_at
FROM accounts`

	sqlSetScopes = `
UPDATE accounts
SET granted_scopes = $1,
  updated_at = $2
WHERE id = $3`

	sqlSetSetupError = `UPDATE accounts SET setup_error = $1, updated_at = $2 WHERE id = $3`

	sqlAddress = `SELECT email FROM accounts WHERE id = $1`

	sqlAccount        = accountColumns + ` WHERE id = $1`
	sqlAccountByEmail = accountColumns + ` WHERE provider = $1 AND email = $2`
	sqlAccounts       = accountColumns + ` WHERE provider = $1 ORDER BY email`

	// Nothing changes but the row's lock: on PostgreSQL it keeps other syncs of the account out until the commit.
	sqlLockCursor = `
UPDATE accounts
SET history_id = history_id
WHERE id = $1
RETURNING history_id`

	// SQLite has one writer: nothing need be written to keep others out.
	sqlCursor = `SELECT history_id FROM accounts WHERE id = $1`

	sqlMoveCursor = `
UPDATE accounts
SET history_id = $1, last_sync_at = COALESCE($2, last_sync_at), updated_at = $3
WHERE id = $4`

	sqlBoundDecideSince = `UPDATE accounts SET decide_since = $1 WHERE id = $2 AND decide_since > $3`

	// A state that stays the same stays since it began.
	sqlMoveState = `
UPDATE accounts
SET state = $1, state_reason = $2, state_since = CASE WHEN state = $1 THEN state_since ELSE $3 END, updated_at = $4
WHERE id = $5 AND state <> 'removing'`

	sqlLoseGrant = `
UPDATE accounts
SET state = 'reauthorize', state_reason = $1, state_since = $2, updated_at = $3
WHERE id = $4 AND state = 'active' AND COALESCE(state_since, created_at) = $5`

	sqlRemoving = `
UPDATE accounts
SET state = 'removing', state_reason = '', state_since = $1, updated_at = $2
WHERE id = $3`

	sqlDeleteMessages = `
DELETE FROM messages
WHERE id IN (SELECT id FROM messages WHERE account_id = $1 LIMIT $2)`

	sqlDeleteThreads = `
DELETE FROM threads
WHERE id IN (SELECT id FROM threads WHERE account_id = $1 LIMIT $2)`

	sqlDeleteBrokens    = `DELETE FROM broken_messages` + oneBatch + ` FROM broken_messages` + ofAccount
	sqlDeleteReconciled = `DELETE FROM reconciled_messages` + oneBatch + ` FROM reconciled_messages` + ofAccount

	oneBatch  = ` WHERE account_id = $1 AND provider_message_id IN (SELECT provider_message_id`
	ofAccount = ` WHERE account_id = $1 LIMIT $2)`

	sqlDeleteAccount = `DELETE FROM accounts WHERE id = $1`

	sqlStartBackfill = `
UPDATE accounts
SET backfill_state = 'running', backfill_query = $1, backfill_page = '', backfill_pages = 0, backfill_messages = 0,
  backfill_estimate = $2, backfill_error = '', updated_at = $3
WHERE id = $4 AND (backfill_state <> 'running' OR backfill_query = $1 OR backfill_error <> '')`

	sqlSetWatch = `UPDATE accounts SET watch_expires_at = $1, updated_at = $2 WHERE id = $3`

	sqlBackfilledAll = `UPDATE accounts SET backfilled_all = 1, updated_at = $1 WHERE id = $2`

	sqlMoveBackfill = `
UPDATE accounts
SET backfill_state = $1, backfill_page = $2, backfill_pages = backfill_pages + 1, backfill_messages = backfill_messages + $3,
  backfill_error = '', updated_at = $4
WHERE id = $5 AND backfill_query = $6`

	sqlFailBackfill = `
UPDATE accounts
SET backfill_state = 'running', backfill_query = $1, backfill_error = $2, updated_at = $3
WHERE id = $4 AND (backfill_state = 'none' OR backfill_state = 'running' AND backfill_query = $1)`
)

const (
	// A message that is not the thread's newest, or whose time is unknown, leaves subject, snippet and time unchanged.
	sqlUpsertThread = `
INSERT INTO threads (id, account_id, provider_thread_id, subject, snippet, last_message_at, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (account_id, provider_thread_id) DO UPDATE SET
  subject = CASE WHEN threads.last_message_at IS NULL OR excluded.last_message_at >= threads.last_message_at
    THEN excluded.subject ELSE threads.subject END,
  snippet = CASE WHEN threads.last_message_at IS NULL OR excluded.last_message_at >= threads.last_message_at
    THEN excluded.snippet ELSE threads.snippet END,
  last_message_at = CASE WHEN threads.last_message_at IS NULL OR excluded.last_message_at >= threads.last_message_at
    THEN excluded.last_message_at ELSE threads.last_message_at END,
  updated_at = excluded.updated_at
RETURNING id`

	sqlThread = `
SELECT id, provider_thread_id, subject, snippet, last_message_at
FROM threads
WHERE account_id = $1 AND id = $2`
)

const (
	sqlUpsertMessage = `
INSERT INTO messages (
  id, account_id, thread_id, provider_message_id, history_id, labels_json, rfc_message_id, in_reply_to,
  references_json, from_name, from_email, recipients_json, subject, snippet, headers_json, body_plain, body_html,
  attachments_json, size, received_at, sent_at, created_at, updated_at, from_key)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24)
ON CONFLICT (account_id, provider_message_id) DO UPDATE SET
  thread_id = excluded.thread_id,
  history_id = excluded.history_id,
  labels_json = excluded.labels_json,
  rfc_message_id = excluded.rfc_message_id,
  in_reply_to = excluded.in_reply_to,
  references_json = excluded.references_json,
  from_name = excluded.from_name,
  from_email = excluded.from_email,
  recipients_json = excluded.recipients_json,
  subject = excluded.subject,
  snippet = excluded.snippet,
  headers_json = excluded.headers_json,
  body_plain = excluded.body_plain,
  body_html = excluded.body_html,
  attachments_json = excluded.attachments_json,
  size = excluded.size,
  received_at = excluded.received_at,
  sent_at = excluded.sent_at,
  deleted_at = NULL,
  updated_at = excluded.updated_at,
  from_key = excluded.from_key
RETURNING id, COALESCE(received_at, created_at) AS at`

	messageColumns = bareColumns + `, m.body_plain, m.body_html`

	// A message without its bodies.
	bareColumns = `
SELECT m.id, m.account_id, m.thread_id, m.provider_message_id, t.provider_thread_id, m.labels_json, m.rfc_message_id,
  m.in_reply_to, m.references_json, m.from_name, m.from_email, m.recipients_json, m.subject, m.snippet,
  m.headers_json, m.attachments_json, m.size, m.received_at, m.sent_at`

	messageTables = `
FROM messages m
JOIN threads t ON t.id = m.thread_id`

	sqlMessage = messageColumns + messageTables + `
WHERE m.account_id = $1 AND m.id = $2`

	sqlThreadMessages = messageColumns + messageTables + `
WHERE m.account_id = $1 AND m.thread_id = $2 AND ` + maildb.NotDeleted + `
ORDER BY COALESCE(m.received_at, m.created_at), m.id`

	sqlThreadHeaders = bareColumns + messageTables + `
WHERE m.account_id = $1 AND m.thread_id = $2 AND ` + maildb.NotDeleted + `
  AND COALESCE(m.received_at, m.created_at) <= $3
ORDER BY COALESCE(m.received_at, m.created_at), m.id`

	// The index messages_received has the order.
	sqlSearch     = messageColumns + messageAt
	sqlSearchBare = bareColumns + messageAt
	messageAt     = `, COALESCE(m.received_at, m.created_at) AS at` + messageTables

	sqlMessageID  = `SELECT id FROM messages WHERE account_id = $1 AND provider_message_id = $2`
	sqlProviderID = `SELECT provider_message_id FROM messages WHERE account_id = $1 AND id = $2`

	sqlProviderThreadID = `
SELECT t.provider_thread_id
FROM messages m
JOIN threads t ON t.id = m.thread_id
WHERE m.account_id = $1 AND m.id = $2`

	sqlThreadID = `SELECT id FROM threads WHERE account_id = $1 AND provider_thread_id = $2`

	sqlStoredIDs = `
SELECT provider_message_id
FROM messages
WHERE account_id = $1 AND deleted_at IS NULL AND provider_message_id IN `

	// The CASE leaves only the index of the ids: with many ids SQLite would otherwise scan all messages of the account.
	sqlCopies = `
SELECT id, labels_json
FROM messages
WHERE CASE WHEN account_id = $1 AND deleted_at IS NULL THEN 1 ELSE 0 END = 1 AND id IN `

	// The index messages_sender covers the columns compared.
	sqlCountEarlier = `
SELECT COUNT(*)
FROM (
  SELECT id
  FROM messages
  WHERE account_id = $1 AND SUBSTR(COALESCE(from_key, LOWER(from_email)), 1, 320) = SUBSTR(CAST($2 AS TEXT), 1, 320)
    AND COALESCE(from_key, LOWER(from_email)) = $2
    AND COALESCE(received_at, created_at) <= $3 AND (COALESCE(received_at, created_at) < $3 OR id < $4)
  LIMIT $5
) AS earlier`

	sqlCountMessages = `SELECT COUNT(*) FROM messages WHERE account_id = $1 AND deleted_at IS NULL`

	// SQLite by itself takes the index of senders, and reads each row.
	sqlCountMessagesSQLite = `SELECT COUNT(*) FROM messages INDEXED BY messages_present WHERE account_id = $1 AND deleted_at IS NULL`

	// However many messages there are, few entries of the index are read.
	sqlCountSomeMessages = `
SELECT COUNT(*)
FROM (
  SELECT 1
  FROM messages
  WHERE account_id = $1 AND deleted_at IS NULL
  LIMIT $2
) AS counted`

	sqlCountSomeMessagesSQLite = `
SELECT COUNT(*)
FROM (
  SELECT 1
  FROM messages INDEXED BY messages_present
  WHERE account_id = $1 AND deleted_at IS NULL
  LIMIT $2
) AS counted`

	sqlMessageCopy = `SELECT id, provider_message_id, history_id, labels_json FROM messages WHERE account_id = $1 AND id = $2`

	// Unless a sync has stored something newer.
	sqlStoreOwnChange = `
UPDATE messages
SET labels_json = $1, updated_at = $2
WHERE account_id = $3 AND id = $4 AND history_id = $5`

	sqlSetLabelsAt = `
UPDATE messages
SET labels_json = $1, history_id = $2, updated_at = $3
WHERE account_id = $4 AND id = $5`

	sqlSetDeleted = `
UPDATE messages
SET deleted_at = $1, updated_at = $2
WHERE account_id = $3 AND provider_message_id = $4 AND deleted_at IS NULL
RETURNING id`

	sqlSetDeletedByID = `
UPDATE messages
SET deleted_at = $1, updated_at = $2
WHERE account_id = $3 AND id = $4 AND deleted_at IS NULL
RETURNING provider_message_id`

	sqlStoredState = `
SELECT id, history_id, labels_json, deleted_at
FROM messages
WHERE account_id = $1 AND provider_message_id = $2`

	// On PostgreSQL the row's lock, taken by a change that changes nothing, lasts until the labels are written.
	sqlLockState = `
UPDATE messages
SET history_id = history_id
WHERE account_id = $1 AND provider_message_id = $2
RETURNING id, history_id, labels_json, deleted_at`

	sqlReplaceLabels = `
UPDATE messages
SET labels_json = $1, history_id = CASE WHEN history_id > $2 THEN history_id ELSE $2 END, deleted_at = NULL, updated_at = $3
WHERE account_id = $4 AND id = $5`
)

const (
	sqlUpsertBroken = `
INSERT INTO broken_messages (
  account_id, provider_message_id, job_id, reason, subject, snippet, raw, received_at, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
ON CONFLICT (account_id, provider_message_id) DO UPDATE SET
  job_id = excluded.job_id,
  reason = excluded.reason,
  subject = excluded.subject,
  snippet = excluded.snippet,
  raw = excluded.raw,
  received_at = excluded.received_at,
  updated_at = excluded.updated_at`

	sqlBroken = `
SELECT account_id, provider_message_id, job_id, reason, subject, snippet, LENGTH(raw) AS size, received_at, created_at
FROM broken_messages
WHERE account_id = $1
ORDER BY created_at, provider_message_id`

	sqlBrokenRaw    = `SELECT raw FROM broken_messages WHERE account_id = $1 AND provider_message_id = $2`
	sqlDeleteBroken = `DELETE FROM broken_messages WHERE account_id = $1 AND provider_message_id = $2`
)

const (
	// The user's settings stay: description and available are written once.
	sqlUpsertLabel = `
INSERT INTO labels (account_id, id, name, name_key, type, available, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (account_id, id) DO UPDATE SET
  name = excluded.name,
  name_key = excluded.name_key,
  type = excluded.type,
  updated_at = excluded.updated_at`

	sqlDescribeLabel = `
UPDATE labels
SET description = $1, available = $2, updated_at = $3
WHERE account_id = $4 AND id = $5`

	sqlKnownLabels = `SELECT id FROM labels WHERE account_id = $1 AND id IN `
	sqlDeleteLabel = `DELETE FROM labels WHERE account_id = $1 AND id = $2`

	labelColumns = `
SELECT account_id, id, name, type, description, available
FROM labels
WHERE account_id = $1`

	sqlLabels = labelColumns + ` ORDER BY name_key, id`

	// A name goes before an id, and among labels of one name the oldest id decides.
	// A label is there, or wanted, and becomes the one from the other in one transaction: one statement reads both.
	sqlLabelID = `
SELECT (SELECT name FROM wanted_labels WHERE account_id = $1 AND name_key = $2) AS wanted,
  COALESCE(
    (SELECT id FROM labels WHERE account_id = $1 AND name_key = $2 ORDER BY id LIMIT 1),
    (SELECT id FROM labels WHERE account_id = $1 AND id = $3)) AS id`

	// The parameter of an action is an id, or the name of a label that was wanted when it was decided.
	sqlActionLabel = `
SELECT (SELECT name FROM wanted_labels WHERE account_id = $1 AND name_key = $2) AS wanted,
  COALESCE(
    (SELECT id FROM labels WHERE account_id = $1 AND id = $3),
    (SELECT id FROM labels WHERE account_id = $1 AND name_key = $2 ORDER BY id LIMIT 1)) AS id`

	sqlWantLabel = `
INSERT INTO wanted_labels (account_id, name_key, name)
VALUES ($1, $2, $3)
ON CONFLICT (account_id, name_key) DO NOTHING`

	// As sqlWantLabel, unless the label is there.
	sqlWantMissingLabel = `
INSERT INTO wanted_labels (account_id, name_key, name)
SELECT $1, $2, $3
WHERE NOT EXISTS (SELECT 1 FROM labels WHERE account_id = $1 AND name_key = $2)
ON CONFLICT (account_id, name_key) DO NOTHING`

	sqlWantedLabels = `SELECT name FROM wanted_labels WHERE account_id = $1 ORDER BY name_key`

	sqlForgetWanted = `DELETE FROM wanted_labels WHERE account_id = $1 AND name_key = $2`
)
