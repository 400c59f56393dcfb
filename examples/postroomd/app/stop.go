package app

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/undo"
)

// changing are the types of the jobs that change mailboxes. During a stop they are paused as well, so that they do not retry
// again and again, and continue at once afterwards.
func changing(undos bool) []queue.Target {
	targets := []queue.Target{queue.ForType(gmail.JobAction), queue.ForType(gmail.JobOutboundSend), queue.ForType(gmail.JobUnsnooze)}
	if undos {
		targets = append(targets, queue.ForType(undo.JobAction))
	}
	return targets
}

// A Stopper stops what changes mailboxes, says what is stopped, and lets it go on.
type Stopper struct {
	db     queue.DB
	queue  *queue.Queue
	ledger *safety.Ledger
	log    *slog.Logger
}

// Stop stops everything that changes mailboxes, and pauses its jobs.
func (s *Stopper) Stop(ctx context.Context, by string, o safety.StopOptions) error {
	return s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		errs := []error{s.ledger.Stop(ctx, tx, by, o)}
		if o.Undos {
			errs = append(errs, s.queue.ResumeTx(ctx, tx, queue.ForType(undo.JobAction)))
		}
		for _, t := range changing(!o.Undos) {
			errs = append(errs, s.queue.PauseTx(ctx, tx, t))
		}
		return errors.Join(errs...)
	})
}

// Resume ends a stop, and closes the breakers.
func (s *Stopper) Resume(ctx context.Context, by, why string) error {
	return s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		_, err := s.ledger.CloseBreakers(ctx, tx, "", by, why)
		errs := []error{err, s.ledger.Resume(ctx, tx, by, why)}
		for _, t := range changing(true) {
			errs = append(errs, s.queue.ResumeTx(ctx, tx, t))
		}
		return errors.Join(errs...)
	})
}

// StoppedBy describes to people who has stopped everything, or which rules or models are stopped; empty if nothing is stopped.
func (s *Stopper) StoppedBy(ctx context.Context) (string, error) {
	stop, err := s.ledger.Stopped(ctx)
	if err != nil {
		return "", err
	}
	if stop != nil {
		return stop.String(), nil
	}
	held, err := s.heldByRestore(ctx)
	if err != nil || held != "" {
		return held, err
	}
	return s.OpenBreakers(ctx)
}

// OpenBreakers lists the rules or models that breakers have stopped; empty if there are none.
func (s *Stopper) OpenBreakers(ctx context.Context) (string, error) {
	open, err := s.ledger.Breakers(ctx)
	lines := make([]string, len(open))
	for i := range open {
		lines[i] = "in account " + open[i].AccountID + " " + open[i].String()
	}
	return strings.Join(lines, "\n"), err
}
