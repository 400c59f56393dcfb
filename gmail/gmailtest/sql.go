package gmailtest

const (
	createProfile = `
INSERT INTO profile (id, email, history_id, history_floor, last_label)
VALUES (1, $1, $2, $2, 0)
ON CONFLICT DO NOTHING`

	selectProfile = `
SELECT email, history_id, history_floor,
  (SELECT COUNT(*) FROM messages) AS messages,
  (SELECT COUNT(DISTINCT thread_id) FROM messages) AS threads
FROM profile`

	// Ids grow with gaps, as Gmail's do.
	nextHistoryID = `
UPDATE profile
SET history_id = history_id + 1 + history_id % 7
RETURNING history_id`

	nextLabelNumber = `
UPDATE profile
SET last_label = last_label + 1
RETURNING last_label`

	insertLabel = `
INSERT INTO labels (id, name, name_key, type, message_visibility, label_visibility, text_color, background_color)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT DO NOTHING`

	updateLabel = `
UPDATE labels
SET name = $1, name_key = $2, message_visibility = $3, label_visibility = $4, text_color = $5, background_color = $6
WHERE id = $7`

	deleteLabel = `
DELETE FROM labels
WHERE id = $1`

	selectLabels = `
SELECT id, name, type, message_visibility, label_visibility, text_color, background_color
FROM labels
ORDER BY type, name_key`

	selectLabel = `
SELECT id, name, type, message_visibility, label_visibility, text_color, background_color
FROM labels
WHERE id = $1`

	selectLabelNamed = `
SELECT id, name, type, message_visibility, label_visibility, text_color, background_color
FROM labels
WHERE name_key = $1`

	// In queries "Receipts/Old stuff" is written receipts-old-stuff.
	selectLabelSearched = `
SELECT id
FROM labels
WHERE REPLACE(REPLACE(name_key, ' ', '-'), '/', '-') = REPLACE(REPLACE($1, ' ', '-'), '/', '-')`

	countLabel = `
SELECT COUNT(*) AS messages,
  COUNT(DISTINCT m.thread_id) AS threads,
  COUNT(u.message_id) AS unread_messages,
  COUNT(DISTINCT CASE WHEN u.message_id IS NOT NULL THEN m.thread_id END) AS unread_threads
FROM message_labels l
JOIN messages m ON m.id = l.message_id
LEFT JOIN message_labels u ON u.message_id = l.message_id AND u.label_id = 'UNREAD'
WHERE l.label_id = $1`

	selectMessagesLabeled = `
SELECT message_id
FROM message_labels
WHERE label_id = $1
ORDER BY message_id`

	insertMessage = `
INSERT INTO messages (id, thread_id, rfc822_id, internal_date, history_id, size, snippet)
VALUES ($1, $2, $3, $4, $5, $6, $7)`

	insertRaw = `
INSERT INTO message_raw (message_id, raw)
VALUES ($1, $2)`

	insertMessageLabel = `
INSERT INTO message_labels (message_id, label_id)
VALUES ($1, $2)`

	deleteMessageLabel = `
DELETE FROM message_labels
WHERE message_id = $1
  AND label_id = $2`

	// Labels come as a JSON list: one statement reads a message with its labels.
	messageColumns = `
SELECT m.id, m.thread_id, m.rfc822_id, m.internal_date, m.history_id, m.size, m.snippet,
  (SELECT json_group_array(label_id) FROM (
    SELECT label_id FROM message_labels WHERE message_id = m.id ORDER BY label_id)) AS labels
FROM messages m`

	selectMessage = messageColumns + `
WHERE m.id = $1`

	// The rest of these depends on what is asked for.
	selectMessagesWhere = messageColumns + `
WHERE `

	countMessagesWhere = `
SELECT COUNT(*)
FROM messages m
WHERE `

	// SQLite takes a bare column from the row that has the maximum.
	selectThreadsWhere = `
SELECT m.thread_id, MAX(m.internal_date) AS newest, m.snippet, m.history_id
FROM messages m
WHERE `

	countThreadsWhere = `
SELECT COUNT(DISTINCT thread_id)
FROM messages m
WHERE `

	selectThread = messageColumns + `
WHERE m.thread_id = $1
ORDER BY m.internal_date, m.id`

	selectRaw = `
SELECT raw
FROM message_raw
WHERE message_id = $1`

	updateMessageHistory = `
UPDATE messages
SET history_id = $1
WHERE id = $2`

	deleteMessage = `
DELETE FROM messages
WHERE id = $1`

	selectThreadExists = `
SELECT EXISTS (SELECT 1 FROM messages WHERE thread_id = $1)`

	selectThreadOf = `
SELECT thread_id
FROM thread_references
WHERE reference IN (SELECT value FROM json_each($1))
ORDER BY thread_id
LIMIT 1`

	insertReference = `
INSERT INTO thread_references (reference, thread_id)
VALUES ($1, $2)
ON CONFLICT DO NOTHING`

	insertHistory = `
INSERT INTO history (id, kind, message_id, thread_id, labels, labels_added, labels_removed)
VALUES ($1, $2, $3, $4, $5, $6, $7)`

	selectHistoryWhere = `
SELECT id, kind, message_id, thread_id, labels, labels_added, labels_removed
FROM history
WHERE `

	forgetHistory = `
UPDATE profile
SET history_floor = history_id`

	deleteHistory = `
DELETE FROM history`

	insertImport = `
INSERT INTO imports (message_id, mailbox, position, name, problem, subject)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT DO NOTHING`

	forgetRefused = `
DELETE FROM imports
WHERE mailbox = $1
  AND problem <> ''`

	selectImported = `
SELECT message_id
FROM imports
WHERE message_id IN (SELECT value FROM json_each($1))`

	selectPosition = `
SELECT position
FROM imports
WHERE message_id = $1`

	selectRefused = `
SELECT mailbox, position, name, problem, subject
FROM imports
WHERE problem <> ''
ORDER BY mailbox, position`

	messageViewColumns = `
SELECT m.id, m.thread_id, m.rfc822_id, m.internal_date,
  COALESCE(i.mailbox, '') AS mailbox,
  COALESCE(i.position, 0) AS position,
  (SELECT json_group_array(name) FROM (
    SELECT l.name FROM message_labels ml JOIN labels l ON l.id = ml.label_id
    WHERE ml.message_id = m.id ORDER BY l.name)) AS labels
FROM messages m
LEFT JOIN imports i ON i.message_id = m.id`

	selectMessageView = messageViewColumns + `
WHERE m.id = $1`

	selectSnapshot = messageViewColumns + `
ORDER BY m.id`
)
