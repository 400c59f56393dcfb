package queueadmin

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

// A Finding is one result of [Doctor].
type Finding struct {
	Severity Severity
	Text     string // what was found
	Hint     string // what to do; empty if there is nothing to do
	// Topic is what it is about, in a form for programs, and Subject which one: the name or id of the worker, type, job,
	// limit, schedule or flow. Both are empty where it is about the database or the queue as a whole.
	Topic   Topic
	Subject string
	Kind    queue.TargetKind // of a limit
}

// String formats the severity, the text and the hint.
func (f Finding) String() string {
	return driver.Finding{Severity: f.Severity, Text: f.Text, Hint: f.Hint}.String()
}

// A Topic is what a [Finding] is about.
type Topic string

// The topics.
const (
	TopicWorker   Topic = "worker"
	TopicType     Topic = "type"
	TopicFailing  Topic = "failing" // a type
	TopicJob      Topic = "job"
	TopicLimit    Topic = "limit"
	TopicPaused   Topic = "paused" // a limit
	TopicSchedule Topic = "schedule"
	TopicFlow     Topic = "flow"
)

// A Severity is the severity of a [Finding].
type Severity = driver.Severity

// The severities.
const (
	SeverityOK      = driver.SeverityOK      // as it should be
	SeverityWarning = driver.SeverityWarning // worth a look
	SeverityProblem = driver.SeverityProblem // something does not work
)

// Doctor checks the health of the database and of the queue, for an operator: the state of the database engine,
// the time of a write transaction, workers, jobs that have waited or run for long, types that fail, jobs whose workers
// die, pauses and limits that hold jobs back, jobs of an interrupted [Move], schedules that do not fire, flows that
// stand still, sequences that are stopped, and [Verify]. It leaves nothing written. On a large database it takes
// seconds.
func Doctor(ctx context.Context, q *queue.Queue) ([]Finding, error) {
	if q == nil {
		return nil, wrap("doctor", "", errNoQueue)
	}
	if ctx == nil {
		return nil, wrap("doctor", "", driver.ErrNilContext)
	}
	if _, err := auditorOf(q); err != nil {
		return nil, wrap("doctor", "", err)
	}
	var findings []Finding
	checks := []func(context.Context, *queue.Queue) ([]Finding, error){checkEngine, checkSpeed, checkClock, checkWorkers,
		checkTypes, checkRunning, checkCrashes, checkJobs, checkMove, checkSchedules, checkFlows, checkSequences, checkRules}
	for _, check := range checks {
		found, err := check(ctx, q)
		if err != nil {
			return findings, failed(ctx, q, "doctor", err)
		}
		findings = append(findings, found...)
	}
	return findings, nil
}

func checkEngine(ctx context.Context, q *queue.Queue) ([]Finding, error) {
	checker, ok := driver.As[driver.HealthChecker](q.DB().Driver())
	if !ok {
		return nil, nil
	}
	found, err := checker.CheckHealth(ctx)
	findings := make([]Finding, len(found))
	for i := range found {
		findings[i] = Finding{Severity: found[i].Severity, Text: found[i].Text, Hint: found[i].Hint}
	}
	return findings, err
}

// quiet is how long a worker may be silent before it is reported. Its clock is not compared exactly.
const quiet = 5 * time.Minute

func checkWorkers(ctx context.Context, q *queue.Queue) ([]Finding, error) {
	workers, err := q.DB().Driver().Workers(ctx)
	if err != nil {
		return nil, err
	}
	var findings []Finding
	alive, now := 0, driver.Now(q.DB().Driver())
	for _, w := range workers {
		switch {
		case isMover(w): // runs no jobs
		case w.Beat < 0:
			findings = append(findings, Finding{Severity: SeverityWarning,
				Text:  fmt.Sprintf("worker %s is not registered and holds running jobs", w.ID),
				Hint:  "the next dispatcher that checks gives them back within two leases",
				Topic: TopicWorker, Subject: w.ID})
		case now.Sub(w.BeatAt) > quiet:
			findings = append(findings, Finding{Severity: SeverityWarning,
				Text:  fmt.Sprintf("worker %s gave its last sign of life at %s", w.ID, w.BeatAt.Format(time.RFC3339)),
				Hint:  "it is dead, or its clock is wrong; a running dispatcher takes its jobs over",
				Topic: TopicWorker, Subject: w.ID})
		default:
			alive++
		}
	}
	if alive == 0 {
		return append(findings, Finding{Severity: SeverityWarning, Text: "no worker is alive",
			Hint: "run a Dispatcher on this database"}), nil
	}
	return append(findings, Finding{Severity: SeverityOK, Text: fmt.Sprintf("%d workers are alive", alive)}), nil
}

// maxHeld bounds the count of jobs of an interrupted move.
const maxHeld = 10_000

// MovingJobs returns the ids of at most limit jobs, ordered by id, that an unfinished [Move] holds: no dispatcher runs
// them. It is empty on a database that jobs cannot be moved to.
func MovingJobs(ctx context.Context, q *queue.Queue, limit int) ([]string, error) {
	if q == nil {
		return nil, wrap("moving jobs", "", errNoQueue)
	}
	target, ok := driver.As[driver.MoveTarget](q.DB().Driver())
	if !ok {
		return nil, nil
	}
	held, err := target.HeldJobs(ctx, limit)
	return held, wrap("moving jobs", "", err)
}

// checkMove finds the jobs that [Move] holds: no dispatcher runs them.
func checkMove(ctx context.Context, q *queue.Queue) ([]Finding, error) {
	held, err := MovingJobs(ctx, q, maxHeld)
	if err != nil || len(held) == 0 {
		return nil, err
	}
	count := strconv.Itoa(len(held))
	if len(held) == maxHeld {
		count = "at least " + count
	}
	return []Finding{{Severity: SeverityWarning, Text: count +
			" jobs are held by a move to or from another database, the first is " + held[0],
			Hint: "they do not run until it has ended: if no queueadmin.Move runs, call it again with the same two databases"}},
		nil
}

func checkRules(ctx context.Context, q *queue.Queue) ([]Finding, error) {
	violations, err := Verify(ctx, q)
	if err != nil {
		return nil, err
	}
	if len(violations) == 0 {
		return []Finding{{Severity: SeverityOK, Text: "all invariants hold"}}, nil
	}
	var findings []Finding
	for _, v := range violations {
		findings = append(findings, Finding{Severity: SeverityProblem, Text: v.String(),
			Hint: "something else than the queue has written its tables, or this is a bug: please report it"})
	}
	return findings, nil
}

func checkSchedules(ctx context.Context, q *queue.Queue) ([]Finding, error) {
	schedules, err := q.Schedules(ctx)
	if err != nil {
		return nil, err
	}
	var findings []Finding
	for i := range schedules {
		s := &schedules[i]
		switch late := driver.Now(q.DB().Driver()).Sub(s.NextAt); {
		case s.Fault != "":
			findings = append(findings, Finding{Severity: SeverityProblem,
				Text: fmt.Sprintf("schedule %s cannot fire: %s", s.Name, s.Fault),
				Hint: "set it anew, or give this machine what it lacks", Topic: TopicSchedule, Subject: s.Name})
		case !s.NextAt.IsZero() && late > longWait:
			findings = append(findings, Finding{Severity: SeverityWarning,
				Text: fmt.Sprintf("schedule %s has been due for %v", s.Name, late.Round(time.Second)),
				Hint: "a Dispatcher that runs would have fired it", Topic: TopicSchedule, Subject: s.Name})
		}
	}
	return findings, nil
}
