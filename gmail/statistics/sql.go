package statistics

import "strings"

const (
	sqlMarkersSQLite = `
SELECT name
FROM sqlite_schema
WHERE type IN ('trigger', 'index')
  AND name LIKE 'statistics\_1\_%' ESCAPE '\'`

	sqlMarkersPostgres = `
SELECT t.tgname
FROM pg_trigger t
JOIN pg_class c ON c.oid = t.tgrelid
WHERE c.relnamespace = CAST(current_schema() AS regnamespace)
  AND t.tgname LIKE 'statistics\_1\_%'
UNION ALL
SELECT indexname
FROM pg_indexes
WHERE schemaname = current_schema()
  AND indexname LIKE 'statistics\_1\_%'`

	sqlLockMarkers = `SELECT pg_advisory_xact_lock(7067369)`

	sqlMarkAll = `INSERT INTO statistics_marks (account_id, day) SELECT id, '' FROM accounts`

	sqlLockAccount = `
INSERT INTO statistics_accounts (account_id, rev, counted_at)
VALUES ($1, 1, $2)
ON CONFLICT (account_id) DO UPDATE
SET rev = statistics_accounts.rev + 1`

	sqlForgetRows    = `DELETE FROM statistics WHERE account_id = $1`
	sqlForgetMarks   = `DELETE FROM statistics_marks WHERE account_id = $1`
	sqlForgetAccount = `DELETE FROM statistics_accounts WHERE account_id = $1`

	sqlRevs = `SELECT account_id, rev, counted_at FROM statistics_accounts`

	sqlMarks = `
SELECT id, account_id, day
FROM statistics_marks
ORDER BY id
LIMIT $1`

	// However many marks there are after an import, few are read.
	sqlMarkedDays = `
SELECT COUNT(DISTINCT CASE WHEN account_id = $1 THEN day END) AS days, COUNT(*) AS marks
FROM (SELECT account_id, day FROM statistics_marks ORDER BY id LIMIT $2) AS oldest`

	// Changes no row if another has written since the rev was read.
	sqlClaim = `
INSERT INTO statistics_accounts (account_id, rev, counted_at)
VALUES ($1, 1, $2)
ON CONFLICT (account_id) DO UPDATE
SET rev = statistics_accounts.rev + 1,
  counted_at = excluded.counted_at
WHERE statistics_accounts.rev = $3`

	sqlIsCounted = `SELECT COUNT(*) FROM accounts WHERE id = $1 AND state <> 'removing'`

	sqlMarkDay = `INSERT INTO statistics_marks (account_id, day) VALUES ($1, $2)`

	sqlAdd = `
INSERT INTO statistics (account_id, dimension, span, day, name, outcome, bin, n, total)
VALUES `

	sqlToWhatIsThere = `
ON CONFLICT (account_id, dimension, span, day, name, outcome, bin) DO UPDATE
SET n = statistics.n + excluded.n,
  total = statistics.total + excluded.total`

	sqlDropEmpty = `DELETE FROM statistics WHERE account_id = $1 AND n = 0`

	sqlStored = `
SELECT dimension, name, outcome, bin, n, total
FROM statistics
WHERE account_id = $1
  AND dimension IN ('sender', 'category', 'rule', 'model', 'act', 'action_time', 'answer_time')
  AND span = 'day'
  AND day = $2`
)

// What is counted of a day: $2 and $3 are its first and its last instant.
const (
	// By the index messages_received.
	sqlSenders = `
SELECT SUBSTR(COALESCE(from_key, LOWER(from_email)), 1, 320) AS name, COUNT(*) AS n
FROM messages
WHERE account_id = $1
  AND deleted_at IS NULL
  AND COALESCE(received_at, created_at) >= $2
  AND COALESCE(received_at, created_at) <= $3
  AND CAST(labels_json AS TEXT) NOT LIKE '%"SENT"%'
  AND CAST(labels_json AS TEXT) NOT LIKE '%"DRAFT"%'
  AND from_email NOT LIKE '%@postroom.invalid'
GROUP BY SUBSTR(COALESCE(from_key, LOWER(from_email)), 1, 320)`

	sqlCategories = `
SELECT category AS name, category_confidence AS confidence
FROM enrichments
WHERE account_id = $1
  AND received_at >= $2
  AND received_at <= $3
  AND category <> ''`

	// The type of an undo is not that of its decision. counted = 2 is a correction that was not a person's.
	sqlActions = `
SELECT a.state, a.approval_id, a.ended_at, d.source, d.rule_name, d.model, COALESCE(d.confidence, 0) AS confidence,
  d.decision_key, COALESCE(m.received_at, m.created_at) AS came,
  CASE WHEN EXISTS (SELECT 1 FROM approvals p WHERE p.action_id = a.id AND p.outcome = 'rejected')
    THEN 1 ELSE 0 END AS rejected,
  CASE WHEN EXISTS (SELECT 1 FROM action_links l
    WHERE l.effect_action_id = a.id AND l.relation = 'undo_of' AND l.void_at IS NULL) THEN 1 ELSE 0 END AS undone,
  COALESCE((SELECT f.verdict FROM feedback f
    WHERE f.account_id = a.account_id AND f.message_id = a.message_id AND f.action_id = a.id AND f.verdict <> 0
      AND f.counted <> 2
    ORDER BY f.id DESC LIMIT 1), 0) AS verdict
FROM actions a
JOIN decisions d ON d.id = a.decision_id AND d.action_type = a.type
LEFT JOIN messages m ON m.id = a.message_id
WHERE a.account_id = $1
  AND a.ended_at >= $2
  AND a.ended_at <= $3
  AND a.state IN ('completed', 'rejected')
  AND d.source IN ('deterministic', 'llm')`

	sqlAnswers = `
SELECT p.outcome, p.replaced_by, p.requested_at, p.decided_at
FROM approvals p
JOIN actions a ON a.id = p.action_id
WHERE a.account_id = $1
  AND p.decided_at >= $2
  AND p.decided_at <= $3
  AND (p.outcome IN ('approved', 'rejected') OR p.replaced_by <> '')`

	// SQLite keeps the order of the tables for a CROSS JOIN: there are few undos.
	sqlUndone = `
SELECT COUNT(*)
FROM action_links l
CROSS JOIN actions a
WHERE l.relation = 'undo_of'
  AND l.void_at IS NULL
  AND l.created_at >= $2
  AND l.created_at <= $3
  AND a.id = l.effect_action_id
  AND a.account_id = $1`

	sqlByHand = `
SELECT kind AS name, COUNT(*) AS n
FROM feedback
WHERE account_id = $1
  AND created_at >= $2
  AND created_at <= $3
  AND kind IN ('relabelled', 'moved_back', 'chosen')
  AND counted <> 2
GROUP BY kind`
)

// sqlDays are the days on which an account has something that is counted, or was counted; day is made of instants.
var sqlDays = []struct{ at, from string }{
	{"COALESCE(received_at, created_at)", "FROM messages WHERE account_id = $1 AND deleted_at IS NULL"},
	{"received_at", "FROM enrichments WHERE account_id = $1"},
	{"ended_at", "FROM actions WHERE account_id = $1 AND ended_at IS NOT NULL"},
	{"p.decided_at", "FROM approvals p JOIN actions a ON a.id = p.action_id " +
		"WHERE a.account_id = $1 AND p.decided_at IS NOT NULL"},
	{"l.created_at", "FROM action_links l JOIN actions a ON a.id = l.effect_action_id " +
		"WHERE a.account_id = $1 AND l.relation = 'undo_of'"},
	{"created_at", "FROM feedback WHERE account_id = $1"},
}

// daysQueries are the queries of the days of an account.
func daysQueries(dialect string) []string {
	queries := []string{sqlCountedDays}
	for _, d := range sqlDays {
		if dialect == postgres {
			queries = append(queries, "SELECT DISTINCT statistics_day("+d.at+") "+d.from)
			continue
		}
		// SQLite by itself takes an index that has it read the messages.
		from := strings.Replace(d.from, "FROM messages", "FROM messages INDEXED BY messages_received", 1)
		queries = append(queries, "SELECT DISTINCT SUBSTR("+d.at+", 1, 10) "+from)
	}
	return queries
}

const sqlCountedDays = `SELECT DISTINCT day FROM statistics WHERE account_id = $1 AND span = 'day'`
