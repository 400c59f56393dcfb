package replies

const (
	columns = `account_id, thread_id, message_id, sent_message_id, state, reason, need, turn, reworks, draft_key, created_at,
  updated_at`

	// A write of nothing, which locks the row on PostgreSQL.
	sqlLock = `
UPDATE replies
SET turn = turn
WHERE account_id = $1 AND thread_id = $2
RETURNING ` + columns

	// The row of a thread without a reply has an empty state; it is there to be locked, and nobody else sees it.
	sqlInsert = `
INSERT INTO replies (account_id, thread_id, message_id, sent_message_id, state, reason, need, turn, reworks, created_at,
  updated_at)
VALUES ($1, $2, '', '', '', '', 0, 0, 0, $3, $4)
ON CONFLICT (account_id, thread_id) DO NOTHING`

	sqlUpdate = `
UPDATE replies
SET message_id = $3, sent_message_id = $4, state = $5, reason = $6, need = $7, turn = $8, reworks = $9, updated_at = $10,
  draft_key = $11
WHERE account_id = $1 AND thread_id = $2`

	sqlInsertChange = `
INSERT INTO reply_changes (account_id, thread_id, cause, seq, event, from_state, to_state, need, turn, reason, at)
SELECT $1, $2, $3, COALESCE(MAX(seq), 0) + 1, $4, $5, $6, $7, $8, $9, $10
FROM reply_changes
WHERE account_id = $1 AND thread_id = $2
ON CONFLICT (account_id, thread_id, cause) DO NOTHING`

	sqlReply = `
SELECT ` + columns + `
FROM replies
WHERE account_id = $1 AND thread_id = $2 AND state <> ''`

	sqlHistory = `
SELECT event, from_state, to_state, need, turn, reason, at
FROM reply_changes
WHERE account_id = $1 AND thread_id = $2
ORDER BY seq`

	sqlForget = `DELETE FROM replies WHERE account_id = $1`

	sqlForgetChanges = `DELETE FROM reply_changes WHERE account_id = $1`
)
