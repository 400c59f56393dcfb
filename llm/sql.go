package llm

// The statements of the records. They run on SQLite and PostgreSQL alike: parameters are numbered in the order of their
// first appearance.

const (
	sqlInsertCall = `
INSERT INTO llm_calls (
  id, account_id, purpose, model, state, failure, input_tokens, output_tokens, cost, latency_ms, trace_id, request_id, created_at,
  about, prompt, answer, reused_from, reused_why)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)`

	sqlFinishCall = `
UPDATE llm_calls
SET state = $1, failure = $2, input_tokens = $3, output_tokens = $4, cost = $5, latency_ms = $6, request_id = $7, answer = $8
WHERE id = $9`

	sqlCallColumns = `
SELECT id, account_id, purpose, model, state, failure, input_tokens, output_tokens, cost, latency_ms, trace_id, request_id, created_at,
  about, prompt, answer, reused_from, reused_why
FROM llm_calls`

	sqlCalls = sqlCallColumns + `
WHERE created_at >= $1 AND created_at < $2
ORDER BY created_at, id
LIMIT $3`

	sqlCallsAbout = sqlCallColumns + `
WHERE about = $1 AND account_id = $2
ORDER BY created_at, id
LIMIT $3`

	sqlCall = sqlCallColumns + `
WHERE id = $1`

	// By the index llm_calls_about: a message has few calls.
	sqlAnswerAbout = `
SELECT id, model
FROM llm_calls
WHERE about = $1 AND account_id = $2 AND purpose = $3 AND state = 'answered'
ORDER BY id DESC
LIMIT 1`

	// SUM is of a wider type on PostgreSQL.
	sqlCosts = `
SELECT account_id, model,
  CAST(SUM(CASE WHEN state IN ('answered', 'calling') THEN 1 ELSE 0 END) AS BIGINT) AS calls,
  CAST(SUM(CASE WHEN state IN ('failed', 'refused') THEN 1 ELSE 0 END) AS BIGINT) AS failed,
  CAST(SUM(CASE WHEN state = 'cached' THEN 1 ELSE 0 END) AS BIGINT) AS cached,
  CAST(SUM(input_tokens) AS BIGINT) AS input_tokens,
  CAST(SUM(output_tokens) AS BIGINT) AS output_tokens,
  CAST(SUM(cost) AS BIGINT) AS cost
FROM llm_calls
WHERE created_at >= $1 AND created_at < $2
GROUP BY account_id, model
ORDER BY account_id, model`

	// One look into the index llm_calls_model for each model.
	sqlModels = `
WITH RECURSIVE asked (model) AS (
  SELECT MIN(model) FROM llm_calls
  UNION ALL
  SELECT (SELECT MIN(model) FROM llm_calls WHERE model > asked.model) FROM asked WHERE asked.model IS NOT NULL
)
SELECT model
FROM asked
WHERE model IS NOT NULL
ORDER BY model`

	// On PostgreSQL the row stays locked until the transaction ends, so that two calls cannot both take the rest of a
	// budget.
	sqlSpend = `
INSERT INTO llm_spend (day, account_id, calls, tokens, cost)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (day, account_id) DO UPDATE
SET calls = llm_spend.calls + excluded.calls, tokens = llm_spend.tokens + excluded.tokens, cost = llm_spend.cost + excluded.cost
RETURNING calls, tokens, cost`

	sqlSpent = `
SELECT day, calls, tokens, cost
FROM llm_spend
WHERE account_id = $1 AND day >= $2 AND day < $3
ORDER BY day`

	sqlAnswer = `
SELECT answer
FROM llm_answers
WHERE key = $1 AND expires_at > $2`

	sqlKeepAnswer = `
INSERT INTO llm_answers (key, answer, expires_at)
VALUES ($1, $2, $3)
ON CONFLICT (key) DO UPDATE
SET answer = excluded.answer, expires_at = excluded.expires_at`

	sqlPruneAnswers = `
DELETE FROM llm_answers
WHERE key IN (SELECT key FROM llm_answers WHERE expires_at <= $1 LIMIT $2)`

	sqlPruneCalls = `
DELETE FROM llm_calls
WHERE id IN (SELECT id FROM llm_calls WHERE created_at < $1 LIMIT $2)`

	// An outage of another kind, or of a budget that was reset since, begins at this call.
	sqlOutage = `
INSERT INTO llm_outages (model, account_id, reason, failure, began_at, last_at, calls, until_at, least_tokens)
VALUES ($1, $2, $3, $4, $5, $5, 1, $6, $7)
ON CONFLICT (model, account_id) DO UPDATE
SET reason = excluded.reason, failure = excluded.failure, last_at = excluded.last_at, until_at = excluded.until_at,
  began_at = CASE
    WHEN llm_outages.reason = excluded.reason AND (llm_outages.until_at IS NULL OR llm_outages.until_at > excluded.last_at) THEN llm_outages.began_at
    ELSE excluded.began_at
  END,
  calls = CASE
    WHEN llm_outages.reason = excluded.reason AND (llm_outages.until_at IS NULL OR llm_outages.until_at > excluded.last_at) THEN llm_outages.calls + 1
    ELSE 1
  END,
  least_tokens = CASE
    WHEN llm_outages.reason = excluded.reason AND llm_outages.until_at > excluded.last_at
      AND llm_outages.least_tokens < excluded.least_tokens THEN llm_outages.least_tokens
    ELSE excluded.least_tokens
  END
RETURNING calls`

	sqlEndOutages = `
DELETE FROM llm_outages
WHERE model = $1 AND account_id IN ('', $2) AND least_tokens <= $3`

	sqlOutages = `
SELECT model, account_id, reason, failure, began_at, last_at, calls, until_at
FROM llm_outages
WHERE until_at IS NULL OR until_at > $1
ORDER BY began_at, model, account_id`
)
