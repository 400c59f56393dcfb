package gmailtest

const (
	createAccount = `
INSERT INTO accounts (email, email_key, history_id, history_floor, last_label)
VALUES ($1, $2, $3, $3, 0)
ON CONFLICT DO NOTHING`

	selectAccount = `
SELECT id, email
FROM accounts
WHERE email_key = $1`

	selectOwner = `
SELECT id, email
FROM accounts
ORDER BY id
LIMIT 1`

	selectHistoryBounds = `
SELECT history_id, history_floor
FROM accounts
WHERE id = $1`

	countMessages = `
SELECT COUNT(*) AS messages, COUNT(DISTINCT thread_id) AS threads
FROM messages
WHERE account = $1`

	// Ids grow with gaps, as Gmail's do.
	nextHistoryID = `
UPDATE accounts
SET history_id = history_id + 1 + history_id % 7
WHERE id = $1
RETURNING history_id`

	nextLabelNumber = `
UPDATE accounts
SET last_label = last_label + 1
WHERE id = $1
RETURNING last_label`

	insertLabel = `
INSERT INTO labels (account, id, name, name_key, type, message_visibility, label_visibility, text_color, background_color)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
ON CONFLICT DO NOTHING`

	updateLabel = `
UPDATE labels
SET name = $1, name_key = $2, message_visibility = $3, label_visibility = $4, text_color = $5, background_color = $6
WHERE account = $7
  AND id = $8`

	deleteLabel = `
DELETE FROM labels
WHERE account = $1
  AND id = $2`

	selectLabels = `
SELECT account, id, name, type, message_visibility, label_visibility, text_color, background_color
FROM labels
WHERE account = $1
ORDER BY type, name_key`

	selectLabel = `
SELECT account, id, name, type, message_visibility, label_visibility, text_color, background_color
FROM labels
WHERE account = $1
  AND id = $2`

	countLabels = `
SELECT COUNT(*)
FROM labels
WHERE account = $1
  AND type = 'user'`

	selectLabelNamed = `
SELECT account, id, name, type, message_visibility, label_visibility, text_color, background_color
FROM labels
WHERE account = $1
  AND name_key = $2`

	countLabel = `
SELECT COUNT(*) AS messages,
  COUNT(DISTINCT m.thread_id) AS threads,
  COUNT(u.seq) AS unread_messages,
  COUNT(DISTINCT CASE WHEN u.seq IS NOT NULL THEN m.thread_id END) AS unread_threads
FROM message_labels l
JOIN messages m ON m.seq = l.seq
LEFT JOIN message_labels u ON u.seq = l.seq AND u.label_id = 'UNREAD'
WHERE l.account = $1
  AND l.label_id = $2`

	selectMessagesLabeled = `
SELECT m.id
FROM message_labels l
JOIN messages m ON m.seq = l.seq
WHERE l.account = $1
  AND l.label_id = $2
ORDER BY l.internal_date, l.seq`

	insertMessage = `
INSERT INTO messages (account, id, thread_id, rfc822_id, internal_date, history_id, size, snippet, hidden, subject_key, indexed)
VALUES ($1, $2, $3, $4, $5, 0, $6, $7, $8, $9, 1)
RETURNING seq`

	insertRaw = `
INSERT INTO message_raw (seq, raw)
VALUES ($1, $2)`

	insertMessageLabel = `
INSERT INTO message_labels (seq, label_id, account, internal_date)
VALUES ($1, $2, $3, $4)`

	deleteMessageLabel = `
DELETE FROM message_labels
WHERE seq = $1
  AND label_id = $2`

	// Labels come as a JSON list: one statement reads a message with its labels.
	messageColumns = `
SELECT m.seq, m.account, m.id, m.thread_id, m.rfc822_id, m.internal_date, m.history_id, m.size, m.snippet,
  (SELECT json_group_array(label_id) FROM (
    SELECT label_id FROM message_labels WHERE seq = m.seq ORDER BY label_id)) AS labels
FROM messages m`

	selectMessage = messageColumns + `
WHERE m.account = $1
  AND m.id = $2`

	// The rest of these depends on the request.
	selectListed = `
SELECT m.seq, m.id, m.thread_id, m.internal_date
FROM `

	// Without a column that is not in the index of threads: this scans all of them.
	selectThreadsListed = `
SELECT m.thread_id, MAX(m.internal_date) AS newest
FROM `

	// The sign keeps SQLite from scanning the account in the order of time.
	selectThreadNewest = `
SELECT thread_id, internal_date AS newest, snippet, history_id
FROM messages
WHERE account = $1
  AND thread_id = $2
ORDER BY +internal_date DESC, +seq DESC
LIMIT 1`

	// Enough for a small number, or to know that there are many.
	countLabeledUpTo = `
SELECT COUNT(*) FROM (SELECT 1 FROM message_labels WHERE account = $1 AND label_id = $2 LIMIT $3)`

	insertWords = `
INSERT INTO message_words (docid, sender, recipient, cc, bcc, subject, body, filename)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`

	insertKeys = `
INSERT INTO message_keys (docid, list, delivered)
VALUES ($1, $2, $3)`

	insertMark = `
INSERT INTO message_marks (seq, mark)
VALUES ($1, $2)`

	selectUnindexed = `
SELECT m.seq, r.raw
FROM messages m
JOIN message_raw r ON r.seq = m.seq
WHERE m.indexed = 0
LIMIT $1`

	updateIndexed = `
UPDATE messages
SET indexed = 1, subject_key = $1
WHERE seq = $2`

	selectThread = messageColumns + `
WHERE m.account = $1
  AND m.thread_id = $2
ORDER BY +m.internal_date, +m.seq`

	selectRaw = `
SELECT raw
FROM message_raw
WHERE seq = $1`

	updateMessageHistory = `
UPDATE messages
SET history_id = $1, hidden = $2
WHERE seq = $3`

	deleteMessage = `
DELETE FROM messages
WHERE seq = $1`

	// The newest of the messages with this Message-ID.
	selectMessageOf = messageColumns + `
WHERE m.account = $1
  AND m.rfc822_id = $2
ORDER BY +m.internal_date DESC, +m.seq DESC
LIMIT 1`

	selectSubjects = `
SELECT DISTINCT subject_key
FROM messages
WHERE account = $1
  AND thread_id = $2`

	selectReferencesOf = `
SELECT reference
FROM thread_references
WHERE account = $1
  AND thread_id = $2
  AND reference IN (SELECT value FROM json_each($3))`

	selectThreadOf = `
SELECT r.thread_id
FROM thread_references r
WHERE r.account = $1
  AND r.reference IN (SELECT value FROM json_each($2))
  AND EXISTS (SELECT 1 FROM messages m WHERE m.account = r.account AND m.thread_id = r.thread_id AND m.subject_key = $3)
ORDER BY r.thread_id
LIMIT 1`

	insertReference = `
INSERT INTO thread_references (account, reference, thread_id)
VALUES ($1, $2, $3)
ON CONFLICT DO NOTHING`

	insertDraft = `
INSERT INTO drafts (account, id, seq)
VALUES ($1, $2, $3)`

	draftColumns = `
SELECT d.account, d.id, d.seq, m.id AS message_id, m.thread_id
FROM drafts d
JOIN messages m ON m.seq = d.seq`

	selectDraft = draftColumns + `
WHERE d.account = $1
  AND d.id = $2`

	selectDraftOf = draftColumns + `
WHERE d.seq = $1`

	insertHistory = `
INSERT INTO history (account, id, kind, message_id, thread_id, labels, labels_added, labels_removed)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`

	selectHistoryWhere = `
SELECT id, kind, message_id, thread_id, labels, labels_added, labels_removed
FROM history
WHERE `

	forgetHistory = `
UPDATE accounts
SET history_floor = history_id
WHERE id = $1`

	deleteHistory = `
DELETE FROM history
WHERE account = $1`

	insertImport = `
INSERT INTO imports (account, message_id, mailbox, position, name, problem, subject)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT DO NOTHING`

	forgetRefused = `
DELETE FROM imports
WHERE account = $1
  AND mailbox = $2
  AND problem <> ''`

	selectImported = `
SELECT message_id
FROM imports
WHERE account = $1
  AND message_id IN (SELECT value FROM json_each($2))`

	selectPosition = `
SELECT position
FROM imports
WHERE account = $1
  AND message_id = $2`

	selectRefused = `
SELECT mailbox, position, name, problem, subject
FROM imports
WHERE account = $1
  AND problem <> ''
ORDER BY mailbox, position`

	messageViewColumns = `
SELECT m.id, m.thread_id, m.rfc822_id, m.internal_date,
  COALESCE(i.mailbox, '') AS mailbox,
  COALESCE(i.position, 0) AS position,
  (SELECT json_group_array(name) FROM (
    SELECT l.name FROM message_labels ml JOIN labels l ON l.account = m.account AND l.id = ml.label_id
    WHERE ml.seq = m.seq ORDER BY l.name)) AS labels
FROM messages m
LEFT JOIN imports i ON i.account = m.account AND i.message_id = m.id
WHERE m.account = $1`

	selectMessageView = messageViewColumns + `
  AND m.id = $2`

	selectSnapshot = messageViewColumns + `
ORDER BY m.id`
)

const (
	upsertWatch = `
INSERT INTO watches (account, topic, labels, exclude, expires_at)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (account) DO UPDATE
SET topic = excluded.topic,
  labels = excluded.labels,
  exclude = excluded.exclude,
  expires_at = excluded.expires_at`

	selectWatch = `
SELECT account, topic, labels, exclude, expires_at
FROM watches
WHERE account = $1`

	selectWatches = `
SELECT w.account, a.email, w.topic, w.labels, w.exclude, w.expires_at
FROM watches w
JOIN accounts a ON a.id = w.account
WHERE w.expires_at > $1`

	deleteWatch = `
DELETE FROM watches
WHERE account = $1`

	insertNotification = `
INSERT INTO notifications (account, history_id, labels)
SELECT account, $1, $2
FROM watches
WHERE account = $3`

	// Without the labels of an excluding filter, the change itself would be left out.
	insertFirstNotification = `
INSERT INTO notifications (account, history_id, labels)
SELECT account, $1, CASE WHEN exclude THEN '[]' ELSE $2 END
FROM watches
WHERE account = $3`

	takeNotifications = `
DELETE FROM notifications
RETURNING id, account, history_id, labels`
)
