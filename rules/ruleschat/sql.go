package ruleschat

// The statements. SQLite numbers parameters in the order in which they first appear.

const (
	sqlInsertSession = `
INSERT INTO rules_chat_sessions (id, account_id, begun_by, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5)`

	sessionColumns = `
SELECT id, account_id, begun_by, created_at, updated_at
FROM rules_chat_sessions`

	sqlSession = sessionColumns + `
WHERE id = $1`

	sqlSessions = sessionColumns + `
WHERE $1 IN ('', account_id)
ORDER BY updated_at DESC, id DESC
LIMIT $2`

	// The row's lock also orders the messages of a session.
	sqlTouchSession = `
UPDATE rules_chat_sessions
SET updated_at = $1
WHERE id = $2`

	sqlDeleteSession = `
DELETE FROM rules_chat_sessions
WHERE id = $1`

	// The messages are deleted with them.
	sqlPruneSessions = `
DELETE FROM rules_chat_sessions
WHERE id IN (SELECT id FROM rules_chat_sessions WHERE updated_at < $1 LIMIT $2)`

	sqlDeleteMessages = `
DELETE FROM rules_chat_messages
WHERE session_id = $1`

	sqlNextNumber = `
SELECT COALESCE(MAX(number), 0) + 1
FROM rules_chat_messages
WHERE session_id = $1`

	sqlInsertMessage = `
INSERT INTO rules_chat_messages (session_id, number, role, content, model, proposal, base, result, accepted_by, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, '', $9)`

	sqlMessages = `
SELECT session_id, number, role, content, model, proposal, base, result, accepted_by, accepted_at, created_at
FROM rules_chat_messages
WHERE session_id = $1
ORDER BY number`

	// A later proposal of a session stands for the earlier ones.
	sqlCountOpen = `
SELECT COUNT(DISTINCT s.id)
FROM rules_chat_sessions AS s
JOIN rules_chat_messages AS m ON m.session_id = s.id
WHERE s.begun_by = $1 AND m.proposal <> ''
  AND NOT EXISTS (SELECT 1 FROM rules_chat_messages AS a WHERE a.session_id = s.id AND a.accepted_at IS NOT NULL)`

	sqlAccept = `
UPDATE rules_chat_messages
SET accepted_by = $1, accepted_at = $2
WHERE session_id = $3 AND number = $4`
)
