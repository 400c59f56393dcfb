package queueadmin

import (
	"context"
	"fmt"
	"slices"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

// A Violation is a row that breaks what the queue promises of its tables. There is none unless something other than this
// package has written them, or it has a bug.
type Violation struct {
	Rule    string // what always holds
	Subject string // the job, key or step that breaks it
}

// String is the violation in words.
func (v Violation) String() string { return v.Subject + ": " + v.Rule }

// An invariant is a query for what breaks it.
type invariant struct{ rule, query string }

// The lists of invariants run on both engines.
var invariants = []invariant{
	{"a job's state is one of the five", `
SELECT id
FROM jobs
WHERE state NOT IN ('queued', 'running', 'completed', 'failed', 'canceled')`},
	{"a running job names its worker, its start and its attempt, and has not finished", `
SELECT id
FROM jobs
WHERE state = 'running'
  AND (worker_id IS NULL OR started_at IS NULL OR attempt < 1 OR finished_at IS NOT NULL)`},
	{"a job has finished exactly when it is completed, failed or canceled", `
SELECT id
FROM jobs
WHERE (state IN ('completed', 'failed', 'canceled')) <> (finished_at IS NOT NULL)`},
	{"only a queued job is held back", `
SELECT id
FROM jobs
WHERE hold NOT BETWEEN 0 AND 3
  OR (hold IN (1, 2) AND state <> 'queued')
  OR (hold = 3 AND state = 'running')`},
	{"only a job with a limit key waits for one", `
SELECT id
FROM jobs
WHERE hold = 2
  AND limit_key IS NULL`},
	{"attempts that ended badly are no more than all attempts", `
SELECT id
FROM jobs
WHERE failures < 0 OR interruptions < 0 OR crashes < 0
  OR failures + interruptions + crashes > attempt`},
	{"an attempt record is of an attempt that was made", `
SELECT job_attempts.job_id
FROM job_attempts
LEFT JOIN jobs ON jobs.id = job_attempts.job_id
WHERE jobs.id IS NULL
  OR job_attempts.attempt > jobs.attempt
  OR job_attempts.attempt < 1`},
	{"a step is of a job and of an attempt that was made", `
SELECT job_steps.job_id
FROM job_steps
LEFT JOIN jobs ON jobs.id = job_steps.job_id
WHERE jobs.id IS NULL
  OR job_steps.attempt > jobs.attempt`},
	{"a key that is kept while its job is unfinished is there as long as the job is", `
SELECT jobs.id
FROM jobs
WHERE state IN ('queued', 'running')
  AND key_scope = 'unfinished'
  AND NOT EXISTS (
    SELECT 1
    FROM job_keys
    WHERE job_keys.key = jobs.idempotency_key
      AND job_keys.job_id = jobs.id)`},
	{"a key that is kept while its job is unfinished is free when the job has finished", `
SELECT job_keys.key
FROM job_keys
JOIN jobs ON jobs.id = job_keys.job_id
WHERE job_keys.scope = 'unfinished'
  AND jobs.state NOT IN ('queued', 'running')`},
	{"a job with a key for ever has taken it", `
SELECT jobs.id
FROM jobs
WHERE key_scope = 'forever'
  AND NOT EXISTS (
    SELECT 1
    FROM job_keys
    WHERE job_keys.key = jobs.idempotency_key
      AND job_keys.job_id = jobs.id)`},
}

const forgottenKeys = `
SELECT DISTINCT waiting.limit_key
FROM jobs AS waiting
WHERE waiting.state = 'queued'
  AND waiting.hold = 2
  AND waiting.limit_key IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM job_admissions WHERE job_admissions.limit_key = waiting.limit_key)
  AND NOT EXISTS (
    SELECT 1
    FROM jobs AS admitted
    WHERE admitted.limit_key = waiting.limit_key
      AND admitted.state IN ('queued', 'running')
      AND admitted.hold = 0)
  AND NOT EXISTS (
    SELECT 1
    FROM job_limits
    WHERE job_limits.kind IN ('key', 'prefix')
      AND job_limits.name = substr(waiting.limit_key, 1, LENGTH(job_limits.name))
      AND job_limits.paused)`

// invariantsOn adds the one that is not the same on every engine: SQLite has fronts of the keys that have room.
func invariantsOn(dialect driver.Dialect) []invariant {
	keys := invariant{"a limit key with waiting jobs has something running, or is to be looked at", forgottenKeys}
	if dialect == driver.SQLite {
		keys.query += `
  AND NOT EXISTS (SELECT 1 FROM job_fronts WHERE job_fronts.limit_key = waiting.limit_key)`
	}
	return append(slices.Clone(invariants), keys)
}

// Verify checks the queue's invariants in the database and returns what breaks them, at most 100 of each: an audit that an
// operator, or a test, may run at any time. It reads all tables, each invariant as of its own instant.
func Verify(ctx context.Context, q *queue.Queue) ([]Violation, error) {
	var found []Violation
	for _, inv := range invariantsOn(driverOf(q).Dialect()) {
		var subjects []string
		if err := driverOf(q).Reader().SelectContext(ctx, &subjects, inv.query+"\nLIMIT 100"); err != nil {
			return nil, wrap("verify", "", fmt.Errorf("%s: %w", inv.rule, err))
		}
		for _, s := range subjects {
			found = append(found, Violation{Rule: inv.rule, Subject: s})
		}
	}
	return found, nil
}
