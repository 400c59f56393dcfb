package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
)

// rememberInterval is the interval at which the checkpoint is written.
const rememberInterval = time.Second

// remember writes the checkpoint until ctx is done, and once more then.
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

// unremembered says what follows from an error of Remember.
func unremembered(err error) string {
	switch {
	case errors.Is(err, safety.ErrRestored):
		return "no action is carried out or taken back, since the database was put back; 'postroomd audit accept' goes on"
	case errors.Is(err, postroom.ErrHeld):
		return "what cannot be taken back waits, since the checkpoint cannot be used"
	}
	return "the checkpoint cannot be written; trying again"
}

// heldByRestore explains to people what waits because the database was put back, or because that is not known; empty if nothing
// does.
func (s *Stopper) heldByRestore(ctx context.Context) (string, error) {
	err := s.ledger.Remember(ctx)
	held, ok := errors.AsType[*postroom.HeldError](err)
	switch {
	case !ok:
		return "", err
	case errors.Is(err, safety.ErrRestored):
		return "stopped: no action is carried out or taken back: " + held.Reason + " with 'postroomd audit accept'", nil
	}
	return "stopped: what cannot be taken back: " + held.Reason, nil
}

// recordSettings records the settings that apply to decisions from now on.
func (h *App) recordSettings(ctx context.Context) error {
	return h.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error { return h.Ledger.RecordSettings(ctx, tx, CurrentUser()) })
}

// logEvent logs stops, resumptions, and settings that differ from those of the last start.
func (h *App) logEvent(ctx context.Context, _ queue.Tx, e safety.Event) error {
	if e.Kind == safety.EventSettings {
		return h.logSettings(ctx, e)
	}
	h.Log.WarnContext(ctx, "what may be done has changed", "event", e.Kind, "account", e.AccountID, "source", e.Source, "by", e.By, "why", e.Why)
	return nil
}

// logSettings does not log the first settings: nobody has changed them.
func (h *App) logSettings(ctx context.Context, e safety.Event) error {
	if e.Was == "" {
		return nil
	}
	was, is := settingsIn(e.Was), settingsIn(e.Why)
	attrs := []any{"by", e.By}
	for _, name := range slices.Sorted(maps.Keys(is)) {
		if was[name] != is[name] {
			attrs = append(attrs, name, fmt.Sprintf("%s, before %s", is[name], cmp.Or(was[name], "unset")))
		}
	}
	h.Log.WarnContext(ctx, "the settings of what needs a person have changed", attrs...)
	return nil
}

// settingsIn returns the settings of a [safety.Event], each as JSON, including those of the policy. An altered text that is not
// JSON has none.
func settingsIn(text string) map[string]string {
	var all, policy map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &all) != nil || json.Unmarshal(all["Policy"], &policy) != nil {
		return nil
	}
	delete(all, "Policy")
	maps.Copy(all, policy)
	flat := map[string]string{}
	for name, value := range all {
		flat[name] = string(value)
	}
	return flat
}
