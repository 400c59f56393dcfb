package queueadmin

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

const longWait = 10 * time.Minute

func checkJobs(ctx context.Context, q *queue.Queue) ([]Finding, error) {
	counts, err := q.Counts(ctx, queue.Filter{})
	if err != nil {
		return nil, err
	}
	var words []string
	for _, s := range queue.States() {
		words = append(words, fmt.Sprintf("%d %s", counts[s], s))
	}
	findings := []Finding{{Severity: SeverityOK, Text: "jobs: " + strings.Join(words, ", ")}}
	all, free, err := dueTypes(ctx, q)
	if err != nil {
		return findings, err
	}
	handled, err := handledTypes(ctx, q)
	for _, t := range all {
		if handled != nil && !handled[t.Type] {
			findings = append(findings, Finding{Severity: SeverityProblem,
				Text: fmt.Sprintf("type %s: %d jobs are due, and no worker that is alive has a handler for it", t.Type,
					t.Jobs),
				Hint: "run a Dispatcher that has one, or cancel the jobs", Topic: TopicType, Subject: t.Type})
		}
	}
	for _, t := range free {
		waits := driver.Now(q.DB().Driver()).Sub(t.Due)
		if waits > longWait && (handled == nil || handled[t.Type]) {
			findings = append(findings, Finding{Severity: SeverityWarning,
				Text: fmt.Sprintf("type %s: %d jobs are due, the oldest for %v", t.Type, t.Jobs,
					waits.Round(time.Second)), Hint: "see Explain of one of them", Topic: TopicType, Subject: t.Type})
		}
	}
	return findings, err
}

// dueTypes returns the types with jobs that are due, and which of them wait for nothing but a worker.
func dueTypes(ctx context.Context, q *queue.Queue) (all, free []driver.TypeSummary, err error) {
	auditor, err := auditorOf(q)
	if err != nil {
		return nil, nil, err
	}
	free, err = auditor.TypesAt(ctx, driver.Standing{State: driver.StateQueued, Hold: driver.HoldNone})
	if err != nil {
		return nil, nil, err
	}
	// Jobs with a limit key may be there although nothing limits it.
	limited, err := auditor.TypesAt(ctx, driver.Standing{State: driver.StateQueued, Hold: driver.HoldLimited})
	if err != nil {
		return nil, nil, err
	}
	limits, err := q.Limits(ctx)
	all = merged(free, limited)
	if !slices.ContainsFunc(limits, func(l queue.LimitStatus) bool { return l.Kind != queue.TargetType }) {
		free = all
	}
	return all, free, err
}

func merged(one, two []driver.TypeSummary) []driver.TypeSummary {
	all := slices.Clone(one)
	for _, t := range two {
		i := slices.IndexFunc(all, func(a driver.TypeSummary) bool { return a.Type == t.Type })
		if i < 0 {
			all = append(all, t)
			continue
		}
		a := &all[i]
		a.Jobs, a.First = a.Jobs+t.Jobs, min(a.First, t.First)
		if t.Due.Before(a.Due) {
			a.Due = t.Due
		}
	}
	slices.SortFunc(all, func(a, b driver.TypeSummary) int { return cmp.Compare(a.Type, b.Type) })
	return all
}

// handledTypes are the types that workers which are alive have handlers for; nil if there are no such workers, or one
// of them has not said.
func handledTypes(ctx context.Context, q *queue.Queue) (handled map[string]bool, err error) {
	workers, err := q.DB().Driver().Workers(ctx)
	now := driver.Now(q.DB().Driver())
	for _, w := range workers {
		switch {
		case w.Beat < 0 || isMover(w) || now.Sub(w.BeatAt) > quiet:
			continue
		case w.Types == nil:
			return nil, err
		case handled == nil:
			handled = make(map[string]bool)
		}
		for _, t := range w.Types {
			handled[t] = true
		}
	}
	return handled, err
}
