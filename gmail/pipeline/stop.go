package pipeline

import (
	"context"
	"errors"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/checkpoint"
	"github.com/postroom-go/postroom/safety/stop"
	"github.com/postroom-go/postroom/undo"
)

// changing are the types of the jobs that change mailboxes. During a stop they are paused as well, so that they do
// not retry again and again, and continue at once afterwards.
func changing(undos bool) []queue.Target {
	targets := []queue.Target{queue.ForType(gmail.JobAction), queue.ForType(outbox.JobSend),
		queue.ForType(gmail.JobUnsnooze)}
	if undos {
		targets = append(targets, queue.ForType(undo.JobAction))
	}
	return targets
}

// Stop stops everything that changes mailboxes, in all processes on the database, and pauses its jobs; see
// [stop.Switch.Stop].
func (p *Pipeline) Stop(ctx context.Context, by string, o stop.Options) error {
	return p.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		errs := []error{p.Ledger.Switch().Stop(ctx, tx, by, o)}
		if o.Undos {
			errs = append(errs, p.Queue.ResumeTx(ctx, tx, queue.ForType(undo.JobAction)))
		}
		for _, t := range changing(!o.Undos) {
			errs = append(errs, p.Queue.PauseTx(ctx, tx, t))
		}
		return errors.Join(errs...)
	})
}

// Resume ends a stop, and closes the breakers.
func (p *Pipeline) Resume(ctx context.Context, by, why string) error {
	return p.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		_, err := p.Ledger.Breakers().Close(ctx, tx, "", by, why)
		errs := []error{err, p.Ledger.Switch().Resume(ctx, tx, by, why)}
		for _, t := range changing(true) {
			errs = append(errs, p.Queue.ResumeTx(ctx, tx, t))
		}
		return errors.Join(errs...)
	})
}

// rememberInterval is the interval at which the checkpoint is written.
const rememberInterval = time.Second

// remember writes the checkpoint until ctx is done, and once more then.
func (p *Pipeline) remember(ctx context.Context) {
	again := time.NewTicker(rememberInterval)
	defer again.Stop()
	for said := ""; ; {
		last := ctx.Err() != nil
		err := p.Ledger.Remember(context.WithoutCancel(ctx))
		switch {
		case err == nil:
			said = ""
		case err.Error() != said:
			said = err.Error()
			p.cfg.Logger.ErrorContext(ctx, unremembered(err), "error", err)
		}
		if last {
			return
		}
		select {
		case <-ctx.Done():
		case <-again.C:
		}
	}
}

// unremembered says what follows from an error of Remember.
func unremembered(err error) string {
	switch {
	case errors.Is(err, checkpoint.ErrRestored):
		return "no action is carried out or taken back, since the database was put back, until a person accepts that"
	case errors.Is(err, postroom.ErrHeld):
		return "what cannot be taken back waits, since the checkpoint cannot be used"
	}
	return "the checkpoint cannot be written; trying again"
}
