package outbox

const (
	// The first composed message stays.
	sqlInsertMessage = `
INSERT INTO outbound_messages (
  action_id, account_id, message_type, rfc_message_id, payload_json, sha256, size, created_at, updated_at, original_message_id)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
ON CONFLICT (action_id) DO NOTHING`

	// The stored message was written by something else, or the action would name it.
	sqlReplaceMessage = `
INSERT INTO outbound_messages (
  action_id, account_id, message_type, rfc_message_id, payload_json, sha256, size, created_at, updated_at, original_message_id)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
ON CONFLICT (action_id) DO UPDATE
SET account_id = excluded.account_id,
  message_type = excluded.message_type,
  rfc_message_id = excluded.rfc_message_id,
  payload_json = excluded.payload_json,
  sha256 = excluded.sha256,
  size = excluded.size,
  created_at = excluded.created_at,
  updated_at = excluded.updated_at,
  original_message_id = excluded.original_message_id,
  history_id = 0,
  attempts = 0,
  open_until = NULL,
  sent_message_id = '',
  sent_thread_id = ''`

	// The message that was read, if nobody has tried to send it.
	sqlEditMessage = `
UPDATE outbound_messages
SET payload_json = $1, sha256 = $2, size = $3, updated_at = $4
WHERE action_id = $5 AND sha256 = $6 AND sent_message_id = '' AND open_until IS NULL`

	sqlMessage = `
SELECT action_id, account_id, rfc_message_id, payload_json, sha256, size, history_id, open_until,
  sent_message_id, sent_thread_id
FROM outbound_messages
WHERE action_id = $1`

	// Messages that were sent, or may have been. A draft that is gone, and in whose thread a message was sent, may have
	// been.
	sqlSentMessages = `
SELECT action_id, '' AS draft_key, message_type, payload_json, sent_message_id, updated_at
FROM outbound_messages
WHERE account_id = $1 AND (sent_message_id <> '' OR open_until IS NOT NULL)
UNION ALL
SELECT 'draft ' || draft_key, draft_key, 'reply', payload_json, CASE WHEN state = 'sent' THEN sent_message_id ELSE '' END, updated_at
FROM drafts
WHERE account_id = $1 AND original_message_id <> '' AND (sent_message_id <> '' OR state = 'sending')
LIMIT $2`

	// Messages that other actions have sent about a message.
	sqlSentAbout = `
SELECT action_id, '' AS draft_key, message_type, payload_json, sent_message_id, updated_at
FROM outbound_messages
WHERE original_message_id = $1 AND account_id = $2 AND message_type = $3 AND action_id <> $4
  AND (sent_message_id <> '' OR open_until IS NOT NULL)
UNION ALL
SELECT 'draft ' || draft_key, draft_key, 'reply', payload_json, CASE WHEN state = 'sent' THEN sent_message_id ELSE '' END, updated_at
FROM drafts
WHERE original_message_id = $1 AND account_id = $2 AND $3 = 'reply' AND (sent_message_id <> '' OR state = 'sending')
ORDER BY updated_at`

	sqlDeleteDraft = `DELETE FROM drafts WHERE account_id = $1 AND draft_key = $2`

	sqlDeleteMessage = `DELETE FROM outbound_messages WHERE action_id = $1`

	sqlInsertSentBefore = `
INSERT INTO sent_before (mailbox, what, target, action_id, recipient, message_type, certain, sent_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (mailbox, what, target, action_id) DO NOTHING`

	sqlSentBefore = `
SELECT target, certain, sent_at
FROM sent_before
WHERE mailbox = $1 AND what = $2
ORDER BY sent_at`

	sqlForgetSent = `
DELETE FROM sent_before
WHERE mailbox = $1 AND action_id IN (SELECT action_id FROM sent_before WHERE mailbox = $1 LIMIT $2)`

	sqlMailboxOf = `SELECT email FROM accounts WHERE id = $1`

	sqlSentKept = `SELECT COUNT(*) FROM sent_before WHERE mailbox = $1`

	// On PostgreSQL the row's lock keeps other sends of the account out until the commit, so that each counts the others.
	sqlLockSending = `
UPDATE accounts
SET history_id = history_id
WHERE id = $1
RETURNING email`

	sqlBeginSend = `
UPDATE outbound_messages
SET attempts = attempts + 1,
  history_id = $1,
  open_until = $2,
  updated_at = $3
WHERE action_id = $4 AND sent_message_id = ''`

	sqlOpenUntil = `
UPDATE outbound_messages
SET open_until = $1, updated_at = $2
WHERE action_id = $3`

	sqlMarkSent = `
UPDATE outbound_messages
SET sent_message_id = $1, sent_thread_id = $2, open_until = NULL, updated_at = $3
WHERE action_id = $4`

	// A reply whose action has started, and whose sending has not begun, keeps no other from being sent first.
	sqlCountRecipient = `
SELECT COALESCE(SUM(CASE WHEN sent_at > $1 THEN 1 ELSE 0 END), 0) AS messages,
  COALESCE(SUM(CASE WHEN message_type = 'reply' AND sent_at > $2 AND waits = 0 THEN 1 ELSE 0 END), 0) AS replies
FROM (
  SELECT r.message_type, r.sent_at,
    CASE WHEN m.open_until IS NULL AND m.sent_message_id = '' THEN 1 ELSE 0 END AS waits
  FROM outbound_recipients r
  LEFT JOIN outbound_messages m ON m.action_id = r.action_id
  WHERE r.account_id = $3 AND r.email = $4 AND r.action_id <> $5
  UNION ALL
  SELECT message_type, sent_at, 0 AS waits
  FROM sent_before
  WHERE mailbox = $6 AND recipient = $7 AND sent_at > $8) AS sent`

	// The replies of which it is not known whether they were sent.
	sqlUnclearReplies = `
SELECT r.action_id
FROM outbound_recipients r
JOIN outbound_messages m ON m.action_id = r.action_id
WHERE r.account_id = $1 AND r.email = $2 AND r.action_id <> $3 AND r.sent_at > $4
  AND r.message_type = 'reply' AND m.open_until IS NOT NULL AND m.sent_message_id = ''`

	// When one of the messages of a day was sent, by its place among them.
	sqlRecipientAt = `
SELECT sent_at
FROM (
  SELECT sent_at
  FROM outbound_recipients
  WHERE account_id = $1 AND email = $2 AND action_id <> $3 AND sent_at > $4
  UNION ALL
  SELECT sent_at
  FROM sent_before
  WHERE mailbox = $5 AND recipient = $6 AND sent_at > $4) AS sent
ORDER BY sent_at
LIMIT 1 OFFSET $7`

	sqlForgetRecipient = `
DELETE FROM outbound_recipients
WHERE account_id = $1 AND email = $2 AND sent_at <= $3`

	sqlPutRecipient = `
INSERT INTO outbound_recipients (account_id, email, action_id, message_type, sent_at)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (account_id, email, action_id) DO UPDATE
SET sent_at = excluded.sent_at`

	sqlCountCounted = `
SELECT COUNT(*)
FROM outbound_recipients
WHERE account_id = $1 AND action_id = $2`

	sqlForgetRecipients = `
DELETE FROM outbound_recipients
WHERE account_id = $1 AND action_id = $2`

	sqlPutPlace = `
INSERT INTO outbound_waiting (account_id, email, action_id, decided_at, wait_until, asked)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (account_id, email, action_id) DO UPDATE
SET wait_until = excluded.wait_until, asked = excluded.asked`

	// A person who was asked has not answered yet.
	sqlLeavePlace = `
DELETE FROM outbound_waiting
WHERE account_id = $1 AND action_id = $2 AND asked = 0`

	sqlForgetAsked = `
DELETE FROM outbound_waiting
WHERE account_id = $1 AND email = $2 AND asked = 1 AND wait_until <= $3`

	// The places whose turn came some time ago.
	sqlOverduePlaces = `
SELECT action_id
FROM outbound_waiting
WHERE account_id = $1 AND email = $2 AND asked = 0 AND wait_until <= $3`

	sqlKeepPlace = `
UPDATE outbound_waiting
SET wait_until = $1
WHERE account_id = $2 AND action_id = $3 AND asked = 0`

	sqlCountAhead = `
SELECT COUNT(*)
FROM outbound_waiting
WHERE account_id = $1 AND email = $2 AND asked = 0 AND (decided_at < $3 OR decided_at = $3 AND action_id < $4)`

	sqlCountAsked = `
SELECT COUNT(*)
FROM outbound_waiting
WHERE account_id = $1 AND action_id = $2 AND asked = 1`

	sqlCountWaiting = `
SELECT COUNT(DISTINCT action_id)
FROM outbound_waiting
WHERE asked = 0 AND wait_until > $1`

	sqlOverdueActions = `
SELECT action_id
FROM outbound_waiting
WHERE asked = 0
GROUP BY action_id
HAVING MAX(wait_until) <= $1
ORDER BY action_id
LIMIT $2`
)

const (
	// The first draft stays.
	sqlInsertDraft = `
INSERT INTO drafts (account_id, draft_key, state, rfc_message_id, created_at, updated_at)
VALUES ($1, $2, 'creating', $3, $4, $5)
ON CONFLICT (account_id, draft_key) DO NOTHING`

	sqlDraft = `
SELECT account_id, draft_key, state, rfc_message_id, provider_draft_id, provider_thread_id, sent_message_id, history_id,
  open_until, version, original_message_id, payload_json
FROM drafts
WHERE account_id = $1 AND draft_key = $2`

	// Compare and set.
	sqlSaveDraft = `
UPDATE drafts
SET state = $1, rfc_message_id = $2, provider_draft_id = $3, provider_thread_id = $4, sent_message_id = $5, history_id = $6,
  open_until = $7, version = version + 1, updated_at = $8, original_message_id = $9, payload_json = $10
WHERE account_id = $11 AND draft_key = $12 AND version = $13`

	// What a draft answers, another call may have changed since. That it was sent is never taken back.
	sqlEndDraft = `
UPDATE drafts
SET state = $1, provider_thread_id = $2, sent_message_id = $3, open_until = $4, version = version + 1, updated_at = $5
WHERE account_id = $6 AND draft_key = $7 AND state NOT IN ($1, 'sent')`

	sqlEndDraftCalls = `
UPDATE drafts
SET open_until = $1, version = version + 1
WHERE open_until > $1`
)
