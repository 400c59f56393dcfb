package gmailtest

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
