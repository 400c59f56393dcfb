package app

import (
	"context"
	"errors"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
)

// rememberInterval is the interval at which the end of the audit log is stored in the seen file.
const rememberInterval = time.Second

// Remember stores the end of the audit log until ctx is done, and once more then.
func (s *Stopper) remember(ctx context.Context) {
	again := time.NewTicker(rememberInterval)
	defer again.Stop()
	for said := ""; ; {
		last := ctx.Err() != nil
		err := s.ledger.Remember(context.WithoutCancel(ctx))
		switch {
		case err == nil:
			said = ""
		case err.Error() != said:
			said = err.Error()
			s.log.ErrorContext(ctx, unremembered(err), "error", err)
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

// waitsForSeen is what waits while the seen file cannot be used. Without it, nobody knows whether a rule was put back to what it was.
const waitsForSeen = "what a person has approved, what cannot be taken back and, if the file cannot be read, what rules decide"

// unremembered says what follows from an error of Remember.
func unremembered(err error) string {
	switch {
	case errors.Is(err, safety.ErrLogCut):
		return "no action is carried out or taken back, since the end of the log is gone; 'postroomd audit verify' says more"
	case errors.Is(err, postroom.ErrHeld):
		return waitsForSeen + " waits; 'postroomd audit verify' says more"
	}
	return "the end of the log cannot be read; trying again"
}

// heldByLog explains to people what waits because of the audit log, and why; empty if nothing does. Once Remember has found that the log
// was cut, no action starts and no undo; while the seen file cannot be used, the others do that were decided before.
func (s *Stopper) heldByLog(ctx context.Context) (string, error) {
	err := s.ledger.Remember(ctx)
	held, ok := errors.AsType[*postroom.HeldError](err)
	switch {
	case !ok:
		return "", err
	case errors.Is(err, safety.ErrLogCut):
		return "stopped: no action is carried out or taken back: " + held.Reason + " with 'postroomd audit accept'", nil
	}
	return "stopped: " + waitsForSeen + ": " + held.Reason, nil
}

// recordSettings records the settings that apply to decisions from now on.
func (h *App) recordSettings(ctx context.Context) error {
	return h.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error { return h.Ledger.RecordSettings(ctx, tx, CurrentUser()) })
}
