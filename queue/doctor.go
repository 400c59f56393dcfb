package queue

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/postroom-go/postroom/internal/dbtime"
)

// A Severity is how much a [Finding] matters.
type Severity string

// The severities.
const (
	SeverityOK      Severity = "ok"      // as it should be
	SeverityWarning Severity = "warning" // worth a look
	SeverityProblem Severity = "problem" // something does not work
)

// A Finding is one thing that [Queue.Doctor] has looked at.
type Finding struct {
	Severity Severity
	Text     string // what was found
	Hint     string // what to do; empty when there is nothing
}

// String is the finding in words.
func (f Finding) String() string {
	s := string(f.Severity) + ": " + f.Text
	if f.Hint != "" {
		s += " (" + f.Hint + ")"
	}
	return s
}

// A Patient is a driver that can tell how its database is.
type Patient interface {
	// Examine looks at the database, in seconds at most.
	Examine(ctx context.Context) ([]Finding, error)
}

// Doctor looks at the database's health and the queue's, for an operator: the engine's own state, workers, jobs that wait
// for long, schedules that do not fire, and [Queue.Verify]. It only reads; on a large database it takes seconds.
func (q *Queue) Doctor(ctx context.Context) ([]Finding, error) {
	var findings []Finding
	looks := []func(context.Context) ([]Finding, error){q.lookAtWorkers, q.lookAtJobs, q.lookAtSchedules, q.lookAtRules}
	if patient, ok := q.driver.(Patient); ok {
		looks = append([]func(context.Context) ([]Finding, error){patient.Examine}, looks...)
	}
	for _, look := range looks {
		found, err := look(ctx)
		if err != nil {
			return findings, wrap("doctor", "", err)
		}
		findings = append(findings, found...)
	}
	return findings, nil
}

// quiet is after how long a worker that gave no sign of life is worth telling of; its own clock is not compared closely.
const quiet = 5 * time.Minute

func (q *Queue) lookAtWorkers(ctx context.Context) ([]Finding, error) {
	workers, err := q.driver.Workers(ctx)
	if err != nil {
		return nil, err
	}
	var findings []Finding
	alive := 0
	for _, w := range workers {
		switch {
		case w.Beat < 0:
			findings = append(findings, Finding{SeverityWarning,
				fmt.Sprintf("worker %s is not registered and holds running jobs", w.ID), "the next dispatcher to look gives them back within two leases"})
		case time.Since(w.BeatAt) > quiet:
			findings = append(findings, Finding{SeverityWarning,
				fmt.Sprintf("worker %s gave its last sign of life at %s", w.ID, w.BeatAt.Format(time.RFC3339)), "it is dead, or its clock is wrong; a running dispatcher takes its jobs over"})
		default:
			alive++
		}
	}
	if alive == 0 {
		return append(findings, Finding{SeverityWarning, "no worker is alive", "run a Dispatcher on this database"}), nil
	}
	return append(findings, Finding{SeverityOK, fmt.Sprintf("%d workers are alive", alive), ""}), nil
}

const selectOldestReady = `
SELECT type, MIN(not_before) AS due, COUNT(*) AS jobs
FROM jobs
WHERE state = 'queued'
  AND hold = 0
GROUP BY type
ORDER BY type`

const longWait = 10 * time.Minute

func (q *Queue) lookAtJobs(ctx context.Context) ([]Finding, error) {
	counts, err := q.driver.Counts(ctx, Filter{})
	if err != nil {
		return nil, err
	}
	var words []string
	for _, s := range States() {
		words = append(words, fmt.Sprintf("%d %s", counts[s], s))
	}
	findings := []Finding{{SeverityOK, "jobs: " + strings.Join(words, ", "), ""}}
	rows, err := q.driver.Reader().QueryxContext(ctx, selectOldestReady)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var jobType string
		var due dbtime.Time
		var n int
		if err := rows.Scan(&jobType, &due, &n); err != nil {
			return nil, err
		}
		if waits := time.Since(due.Time); waits > longWait {
			findings = append(findings, Finding{SeverityWarning,
				fmt.Sprintf("type %s: %d jobs are due, the oldest for %v", jobType, n, waits.Round(time.Second)), "see Explain of one of them"})
		}
	}
	return findings, rows.Err()
}

func (q *Queue) lookAtRules(ctx context.Context) ([]Finding, error) {
	violations, err := q.Verify(ctx)
	if err != nil {
		return nil, err
	}
	if len(violations) == 0 {
		return []Finding{{SeverityOK, "all invariants hold", ""}}, nil
	}
	var findings []Finding
	for _, v := range violations {
		findings = append(findings, Finding{SeverityProblem, v.String(), "something else than the queue has written its tables, or this is a bug: please report it"})
	}
	return findings, nil
}
