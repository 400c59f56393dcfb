package mailindex

// The statements of the index of searches.
const (
	sqlSaveTerms = `
INSERT INTO unindexed_messages (account_id, message_id, received, terms)
VALUES ($1, $2, $3, $4)
ON CONFLICT (account_id, message_id) DO UPDATE SET
  received = excluded.received,
  terms = excluded.terms`

	sqlCountUnindexed = `SELECT COUNT(*) FROM (SELECT 1 FROM unindexed_messages WHERE account_id = $1 LIMIT $2) waiting`

	sqlUnindexed = `
SELECT received, terms
FROM unindexed_messages
WHERE account_id = $1
LIMIT $2`

	sqlTakeUnindexed = `
DELETE FROM unindexed_messages
WHERE account_id = $1 AND message_id <= (
  SELECT MAX(message_id)
  FROM (
    SELECT message_id
    FROM unindexed_messages
    WHERE account_id = $1
    ORDER BY message_id
    LIMIT $2) batch)
RETURNING message_id, received, terms`

	sqlOpenPostings = `
SELECT slot, bucket, postings
FROM message_terms
WHERE account_id = $1 AND bucket = $2 AND part = 0 AND slot IN `

	sqlSavePostings = `
INSERT INTO message_terms (account_id, slot, bucket, part, postings)
VALUES `

	sqlSavePostingsAgain = `
ON CONFLICT (account_id, slot, bucket, part) DO UPDATE SET postings = excluded.postings`

	sqlClosePostings = `
INSERT INTO message_terms (account_id, slot, bucket, part, postings)
SELECT $1, $2, $3, COALESCE(MAX(part), 0) + 1, $4
FROM message_terms
WHERE account_id = $1 AND slot = $2 AND bucket = $3`

	sqlPostings = `
SELECT slot, bucket, postings
FROM message_terms
WHERE account_id = $1 AND slot = $2 AND bucket <= $3 AND bucket > $4
ORDER BY bucket DESC, part`

	sqlLabeled = `
SELECT at
FROM message_labels
WHERE account_id = $1 AND label_id = $2 AND at < $3
ORDER BY at DESC
LIMIT $4`

	// The index messages_received covers the columns compared and read.
	sqlReceivedWithin = `
SELECT id, COALESCE(received_at, created_at) AS at
FROM messages
WHERE account_id = %s AND deleted_at IS NULL
  AND COALESCE(received_at, created_at) >= %s AND COALESCE(received_at, created_at) < %s`

	sqlNewest = `
SELECT COALESCE(received_at, created_at) AS at
FROM messages
WHERE account_id = $1 AND deleted_at IS NULL
ORDER BY COALESCE(received_at, created_at) DESC, id DESC
LIMIT 1`

	sqlDeletePostings = `
DELETE FROM message_terms
WHERE account_id = $1 AND (slot, bucket, part) IN (SELECT slot, bucket, part FROM message_terms WHERE account_id = $1 LIMIT $2)`

	sqlDeleteUnindexed = `
DELETE FROM unindexed_messages
WHERE account_id = $1 AND message_id IN (SELECT message_id FROM unindexed_messages WHERE account_id = $1 LIMIT $2)`

	// The index messages_received covers it.
	sqlKeys = `
SELECT m.id, COALESCE(m.received_at, m.created_at) AS at
FROM messages AS m`

	sqlSearchOrder = `
ORDER BY COALESCE(m.received_at, m.created_at) DESC, m.id DESC
LIMIT `
)
