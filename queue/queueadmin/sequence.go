package queueadmin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

// turn adds what is ahead of the job in its sequence.
func (e *explainer) turn(ctx context.Context) error {
	store, ok := driver.As[driver.SequenceStore](e.q.DB().Driver())
	if !ok || e.job.Sequence == "" {
		return nil
	}
	id, ahead, err := store.Place(ctx, e.job.ID, maxAhead)
	if err != nil || ahead == 0 {
		return err
	}
	first, err := e.q.Job(ctx, id)
	if errors.Is(err, queue.ErrJobNotFound) {
		return nil // it has just ended
	}
	if err != nil {
		return err
	}
	e.addf(CauseSequence, time.Time{}, "it waits for its turn in the sequence %s, behind %s; the first, %s, %s",
		e.job.Sequence, jobsOf(ahead), first.ID, standingOf(first))
	return nil
}

func jobsOf(n int) string {
	if n == 1 {
		return "1 job"
	}
	return fmt.Sprintf("%d jobs", n)
}

func standingOf(first *queue.Job) string {
	switch first.State {
	case queue.StateFailed:
		return "has failed and stops it: retry or delete that job"
	case queue.StateQueued:
		return "is queued, due at " + first.NotBefore.Format(time.RFC3339)
	}
	return "is " + string(first.State)
}

// stoppedShown bounds the sequences that Doctor names.
const stoppedShown = 20

// checkSequences finds sequences that a failed job stops.
func checkSequences(ctx context.Context, q *queue.Queue) ([]Finding, error) {
	store, ok := driver.As[driver.SequenceStore](q.DB().Driver())
	if !ok {
		return nil, nil
	}
	stopped, err := store.Stopped(ctx, stoppedShown)
	findings := make([]Finding, len(stopped))
	for i, s := range stopped {
		findings[i] = Finding{Severity: SeverityProblem, Text: fmt.Sprintf(
			"sequence %s is stopped by job %s, which has failed; behind it: %s", s.Name, s.JobID, jobsOf(s.Waiting)),
			Hint:  "retry the job, or delete it and the sequence goes on without it",
			Topic: TopicJob, Subject: s.JobID}
	}
	return findings, err
}

// movedBefore is what the numbers of turns lose while they move, so that they are none that the new database has or
// gives: their jobs come before all that it has of the sequence. ThawTurns numbers them anew.
const movedBefore = 5_000_000_000_000_000_000

// moveTurns has the rows inserted before others, with nobody's turn, and as frozen.
func moveTurns(rows driver.Rows) {
	for name, value := range map[string]int64{"turn": 0, "moving": 1} {
		place := slices.Index(rows.Columns, name)
		for _, values := range rows.Values {
			values[place] = value
		}
	}
	place := slices.Index(rows.Columns, "number")
	for _, values := range rows.Values {
		if number, ok := values[place].(int64); ok {
			values[place] = number - movedBefore
		}
	}
}

// alive is how long ago the last sign of life of a worker is at most that may run jobs.
const alive = time.Minute

// refuseSequences refuses to move jobs of sequences while others may run in the old database.
func (m *mover) refuseSequences(ctx context.Context) error {
	if _, ok := driver.As[driver.SequenceStore](m.from.Driver); !ok {
		return nil
	}
	turns, err := m.from.TableRows(ctx, driver.TableTurns, nil, 1)
	if err != nil || len(turns.Values) == 0 {
		return err
	}
	workers, err := m.from.Workers(ctx)
	now := driver.Now(m.from.Driver)
	for _, w := range workers {
		if !isMover(w) && (w.Beat < 0 || now.Sub(w.BeatAt) < alive) {
			return fmt.Errorf("%w: %s may run jobs of sequences, whose order would be lost; stop the dispatchers of the old "+
				"database, and call Move again after a minute if they were killed", ErrStillRunning, w.ID)
		}
	}
	return err
}

// thawTurns goes on, in the new database, with the sequences whose jobs have all moved.
func (m *mover) thawTurns(ctx context.Context) error {
	store, ok := driver.As[driver.SequenceStore](m.to.Driver)
	if !ok {
		return nil
	}
	return driver.Write(ctx, m.to, func(ctx context.Context, tx *driver.WriteTx) error {
		if err := store.ThawTurns(ctx, tx); err != nil {
			return err
		}
		return m.to.Notify(ctx, tx)
	})
}
