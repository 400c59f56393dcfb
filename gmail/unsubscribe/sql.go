package unsubscribe

const (
	columns = `action_id, account_id, message_id, sender, list_id, way, target, asked_at, left_at`

	// Others that count for the account wait until the transaction ends.
	sqlLock = `
INSERT INTO unsubscription_counts (account_id, counted)
VALUES ($1, 1)
ON CONFLICT (account_id) DO UPDATE
SET counted = unsubscription_counts.counted + 1`

	sqlRecord = `
SELECT ` + columns + `
FROM unsubscriptions
WHERE action_id = $1`

	sqlOfList = `
SELECT ` + columns + `
FROM unsubscriptions
WHERE account_id = $1 AND sender = $2 AND list_id = $3 AND (asked_at >= $4 OR left_at >= $4)
ORDER BY asked_at DESC, action_id DESC
LIMIT 100`

	sqlAskedSince = `
SELECT asked_at
FROM unsubscriptions
WHERE account_id = $1 AND asked_at > $2
ORDER BY asked_at DESC, action_id DESC
LIMIT $3`

	sqlInsert = `
INSERT INTO unsubscriptions (` + columns + `)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, NULL)`

	sqlLeft = `
UPDATE unsubscriptions
SET left_at = $2
WHERE action_id = $1`

	sqlNewest = `
SELECT ` + columns + `
FROM unsubscriptions
WHERE account_id = $1
ORDER BY asked_at DESC, action_id DESC
LIMIT $2`

	// What was asked last of each list. The index unsubscriptions_list has what was asked later.
	sqlLists = `
SELECT ` + columns + `
FROM unsubscriptions u
WHERE account_id = $1 AND (asked_at, action_id) < ($2, $3) AND NOT EXISTS (
  SELECT 1
  FROM unsubscriptions later
  WHERE later.account_id = u.account_id AND later.sender = u.sender AND later.list_id = u.list_id
    AND (later.asked_at, later.action_id) > (u.asked_at, u.action_id)
)
ORDER BY asked_at DESC, action_id DESC
LIMIT $4`

	sqlForget      = `DELETE FROM unsubscriptions WHERE account_id = $1`
	sqlForgetCount = `DELETE FROM unsubscription_counts WHERE account_id = $1`
)
