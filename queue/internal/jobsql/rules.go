package jobsql

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/postroom-go/postroom/queue/driver"
)

// A rule is an invariant; its query selects the violations.
type rule struct{ text, query string }

var rules = []rule{
	{"a job's state is one of the five", `
SELECT id
FROM /*q.*/jobs
WHERE state NOT IN (` + everyState() + `)`},
	{"a running job names its worker, its start and its attempt, and has not finished", `
SELECT id
FROM /*q.*/jobs
WHERE state = 'running'
  AND (worker_id IS NULL OR started_at IS NULL OR attempt < 1 OR finished_at IS NOT NULL)`},
	{"a job has finished exactly when it is completed, failed or canceled", `
SELECT id
FROM /*q.*/jobs
WHERE (state IN ('completed', 'failed', 'canceled')) <> (finished_at IS NOT NULL)`},
	{"only a queued job is held back", `
SELECT id
FROM /*q.*/jobs
WHERE hold NOT IN (` + everyHold() + `)
  OR (hold IN (` + Scheduled + `, ` + Limited + `, ` + Waiting + `) AND state <> 'queued')
  OR (hold = ` + Moving + ` AND state = 'running')`},
	{"only a job with a limit key waits for one", `
SELECT id
FROM /*q.*/jobs
WHERE hold = ` + Limited + `
  AND limit_key IS NULL`},
	{"attempts that ended badly are no more than all attempts", `
SELECT id
FROM /*q.*/jobs
WHERE failures < 0 OR interruptions < 0 OR crashes < 0
  OR CAST(failures AS BIGINT) + interruptions + crashes > attempt`},
	{"the attempts of a job can be counted on", `
SELECT id
FROM /*q.*/jobs
WHERE attempt > ` + BeforeLast + `
  OR failures > ` + BeforeLast + `
  OR interruptions > ` + BeforeLast + `
  OR crashes > ` + BeforeLast},
	{"an attempt record is of an attempt that was made", `
SELECT /*q.*/job_attempts.job_id
FROM /*q.*/job_attempts
LEFT JOIN /*q.*/jobs ON /*q.*/jobs.id = /*q.*/job_attempts.job_id
WHERE /*q.*/jobs.id IS NULL
  OR /*q.*/job_attempts.attempt > /*q.*/jobs.attempt
  OR /*q.*/job_attempts.attempt < 1`},
	{"a step is of a job and of an attempt that was made", `
SELECT /*q.*/job_steps.job_id
FROM /*q.*/job_steps
LEFT JOIN /*q.*/jobs ON /*q.*/jobs.id = /*q.*/job_steps.job_id
WHERE /*q.*/jobs.id IS NULL
  OR /*q.*/job_steps.attempt > /*q.*/jobs.attempt`},
	{"a signal is of a job, and of an attempt that was made", `
SELECT /*q.*/job_signals.job_id
FROM /*q.*/job_signals
LEFT JOIN /*q.*/jobs ON /*q.*/jobs.id = /*q.*/job_signals.job_id
WHERE /*q.*/jobs.id IS NULL
  OR /*q.*/job_signals.attempt > /*q.*/jobs.attempt`},
	{"the signals of a name are numbered, and answered in their order", `
SELECT s.job_id
FROM /*q.*/job_signals AS s
LEFT JOIN /*q.*/job_signals AS before ON before.job_id = s.job_id AND before.name = s.name AND before.number = s.number - 1
WHERE s.number < 1
  OR (s.number > 1 AND before.answered_at IS NULL)`},
	{"a key that is kept while its job is unfinished is there as long as the job is", `
SELECT /*q.*/jobs.id
FROM /*q.*/jobs
WHERE state IN ('queued', 'running')
  AND key_scope = 'unfinished'
  AND NOT EXISTS (
    SELECT 1
    FROM /*q.*/job_keys
    WHERE /*q.*/job_keys.key = /*q.*/jobs.idempotency_key
      AND /*q.*/job_keys.job_id = /*q.*/jobs.id)`},
	{"a key that is kept while its job is unfinished is free when the job has finished", `
SELECT /*q.*/job_keys.key
FROM /*q.*/job_keys
JOIN /*q.*/jobs ON /*q.*/jobs.id = /*q.*/job_keys.job_id
WHERE /*q.*/job_keys.scope = 'unfinished'
  AND /*q.*/jobs.state NOT IN ('queued', 'running')`},
	{"a job with a key for ever has taken it", `
SELECT /*q.*/jobs.id
FROM /*q.*/jobs
WHERE key_scope = 'forever'
  AND NOT EXISTS (
    SELECT 1
    FROM /*q.*/job_keys
    WHERE /*q.*/job_keys.key = /*q.*/jobs.idempotency_key
      AND /*q.*/job_keys.job_id = /*q.*/jobs.id)`},
}

// What follows is the engine's [Store.KeyIsOpen].
const forgottenKeys = `
SELECT DISTINCT waiting.limit_key
FROM /*q.*/jobs AS waiting
WHERE waiting.state = 'queued'
  AND waiting.hold = ` + Limited + `
  AND waiting.limit_key IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM /*q.*/job_limit_marks WHERE /*q.*/job_limit_marks.limit_key = waiting.limit_key)
  AND NOT EXISTS (
    SELECT 1
    FROM /*q.*/jobs AS admitted
    WHERE admitted.limit_key = waiting.limit_key
      AND admitted.state IN ('queued', 'running')
      AND admitted.hold = ` + None + `)
  AND NOT EXISTS (
    SELECT 1
    FROM /*q.*/job_limits
    WHERE /*q.*/job_limits.kind IN ('key', 'prefix')
      AND /*q.*/job_limits.name = substr(waiting.limit_key, 1, LENGTH(/*q.*/job_limits.name))
      AND /*q.*/job_limits.paused)
  AND NOT `

// everyState lists the states as SQL does.
func everyState() string {
	var quoted []string
	for _, state := range driver.States() {
		quoted = append(quoted, "'"+string(state)+"'")
	}
	return strings.Join(quoted, ", ")
}

// Violations implements [driver.Auditor]. It reads all tables, each invariant at its own instant.
func (s *Store) Violations(ctx context.Context) ([]driver.Violation, error) {
	var found []driver.Violation
	all := append(slices.Clone(rules),
		rule{"a limit key with waiting jobs has something running, or is to be examined", forgottenKeys + s.KeyIsOpen},
		rule{"claims find each job that waits for a limit key", s.SelectUnfound},
	)
	all = append(all, flowRules...)
	all = append(all, sequenceRules...)
	all = append(all, altered(s.Engine)...)
	for _, r := range all {
		subjects, err := read(ctx, s, ScanText, r.query+"\nLIMIT 100")
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.text, err)
		}
		for _, subject := range subjects {
			found = append(found, driver.Violation{Rule: r.text, Subject: subject})
		}
	}
	return found, nil
}
