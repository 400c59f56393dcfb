package decide

// The statements of the templates and the turns. They run on SQLite and PostgreSQL alike.

const (
	sqlTemplate = `
SELECT message_id, decision, made_at
FROM llm_templates
WHERE account_id = $1 AND key = $2 AND expires_at > $3`

	sqlUseTemplate = `
UPDATE llm_templates
SET uses = uses + 1
WHERE account_id = $1 AND key = $2`

	sqlKeepTemplate = `
INSERT INTO llm_templates (account_id, key, message_id, decision, uses, made_at, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (account_id, key) DO UPDATE
SET message_id = excluded.message_id, decision = excluded.decision, uses = excluded.uses, made_at = excluded.made_at, expires_at = excluded.expires_at`

	sqlPruneTemplates = `
DELETE FROM llm_templates
WHERE (account_id, key) IN (SELECT account_id, key FROM llm_templates WHERE expires_at <= $1 LIMIT $2)`

	sqlTakeTurn = `
INSERT INTO llm_turns (account_id, day, sender, messages)
VALUES ($1, $2, $3, $4)
ON CONFLICT (account_id, day, sender) DO UPDATE
SET messages = llm_turns.messages + excluded.messages
RETURNING messages`

	sqlPruneTurns = `
DELETE FROM llm_turns
WHERE account_id = $1 AND day < $2`

	sqlForgetTurns = `DELETE FROM llm_turns WHERE account_id = $1`
)
