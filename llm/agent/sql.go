package agent

// The statements of the runs. They run on SQLite and PostgreSQL alike: parameters are numbered in the order of their
// first appearance.

const (
	// On PostgreSQL the row stays locked until the transaction ends, so that two runs cannot both be the last of a day.
	sqlLockProfile = `
INSERT INTO agent_profiles (name, failures, reason)
VALUES ($1, 0, '')
ON CONFLICT (name) DO UPDATE
SET failures = agent_profiles.failures
RETURNING name, failures, paused_at, reason`

	sqlProfiles = `
SELECT name, failures, paused_at, reason
FROM agent_profiles
ORDER BY name`

	sqlFailed = `
UPDATE agent_profiles
SET failures = failures + 1
WHERE name = $1
RETURNING failures`

	sqlPause = `
UPDATE agent_profiles
SET paused_at = $1, reason = $2
WHERE name = $3`

	sqlWell = `
UPDATE agent_profiles
SET failures = 0
WHERE name = $1`

	sqlResume = `
UPDATE agent_profiles
SET failures = 0, paused_at = NULL, reason = ''
WHERE name = $1`

	sqlCountDay = `
SELECT COUNT(*)
FROM agent_runs
WHERE account_id = $1 AND profile = $2 AND started_at > $3 AND state <> 'refused' AND replay_of = ''`

	sqlCountThread = `
SELECT COUNT(*)
FROM agent_runs
WHERE account_id = $1 AND thread_id = $2 AND profile = $3 AND started_at > $4 AND state <> 'refused' AND replay_of = ''`

	sqlInsertRun = `
INSERT INTO agent_runs (
  id, account_id, thread_id, message_id, profile, version, model, job_id, replay_of, state, reason, started_at, ended_at,
  outcome, parameters, action_id, model_calls, tool_calls, tokens, cost, duration_ms)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, '', '{}', '', 0, 0, 0, 0, 0)`

	sqlEndRun = `
UPDATE agent_runs
SET state = $1, reason = $2, outcome = $3, parameters = $4, action_id = $5, model = $6, model_calls = $7, tool_calls = $8,
  tokens = $9, cost = $10, duration_ms = $11, ended_at = $12
WHERE id = $13 AND state = 'running'`

	sqlRunState = `
SELECT state
FROM agent_runs
WHERE id = $1`

	// A refused run has used nothing, and a replay counts for no limit but has a cost.
	sqlUsed = `
SELECT profile, SUM(CASE WHEN replay_of = '' THEN 1 ELSE 0 END) AS runs, CAST(SUM(tokens) AS BIGINT) AS tokens,
  CAST(SUM(cost) AS BIGINT) AS cost
FROM agent_runs
WHERE started_at > $1 AND state <> 'refused' AND (account_id = $2 OR $2 = '')
GROUP BY profile`

	sqlFailRun = `
UPDATE agent_runs
SET state = 'failed', reason = $1, ended_at = $2
WHERE job_id = $3 AND state = 'running'
RETURNING profile`

	sqlFailReplay = `
UPDATE agent_runs
SET state = 'failed', reason = $1, ended_at = $2
WHERE id = $3 AND state = 'running'`

	sqlCancelRun = `
UPDATE agent_runs
SET state = 'canceled', reason = $1, ended_at = $2
WHERE id = $3 AND state = 'running'
RETURNING job_id`

	sqlRunColumns = `
SELECT id, account_id, thread_id, message_id, profile, version, model, job_id, replay_of, state, reason, outcome, parameters,
  action_id, model_calls, tool_calls, tokens, cost, duration_ms, started_at, ended_at
FROM agent_runs`

	sqlRun = sqlRunColumns + `
WHERE id = $1`

	sqlRunning = sqlRunColumns + `
WHERE state = 'running'
ORDER BY id
LIMIT 1000`

	// An id is made when its run starts, so they sort alike.
	sqlRuns = sqlRunColumns + `
WHERE (account_id = $1 OR $1 = '') AND (profile = $2 OR $2 = '') AND (message_id = $3 OR $3 = '') AND (id < $4 OR $4 = '')
ORDER BY id DESC
LIMIT $5`

	sqlInsertStep = `
INSERT INTO agent_steps (run_id, n, kind, name, input, input_sha256, output, fault, tokens, cost, duration_ms)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
ON CONFLICT (run_id, n) DO NOTHING`

	sqlSteps = `
SELECT run_id, n, kind, name, input, input_sha256, output, fault, tokens, cost, duration_ms
FROM agent_steps
WHERE run_id = $1
ORDER BY n`

	// The steps go first: a run without them is still found by its start.
	sqlPruneSteps = `
DELETE FROM agent_steps
WHERE (run_id, n) IN (
  SELECT s.run_id, s.n
  FROM agent_steps s JOIN agent_runs r ON r.id = s.run_id
  WHERE r.started_at < $1 AND r.state <> 'running'
  LIMIT $2)`

	sqlPruneRuns = `
DELETE FROM agent_runs
WHERE id IN (SELECT id FROM agent_runs WHERE started_at < $1 AND state <> 'running' LIMIT $2)`

	sqlForgetSteps = `DELETE FROM agent_steps WHERE run_id IN (SELECT id FROM agent_runs WHERE account_id = $1)`
	sqlForgetRuns  = `DELETE FROM agent_runs WHERE account_id = $1`
)
