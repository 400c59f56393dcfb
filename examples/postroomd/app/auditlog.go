package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/checkpoint"
	"github.com/postroom-go/postroom/safety/events"
)

// heldByRestore explains to people what waits because the database was put back, or because that is not known; empty
// if nothing does.
func (h *App) heldByRestore(ctx context.Context) (string, error) {
	err := h.Ledger.Remember(ctx)
	held, ok := errors.AsType[*postroom.HeldError](err)
	switch {
	case !ok:
		return "", err
	case errors.Is(err, checkpoint.ErrRestored):
		return "stopped: no action is carried out or taken back: " + held.Reason + " with 'postroomd audit accept'", nil
	}
	return "stopped: what cannot be taken back: " + held.Reason, nil
}

// recordSettings records the settings that apply to decisions from now on.
func (h *App) recordSettings(ctx context.Context) error {
	return h.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		return h.Ledger.RecordSettings(ctx, tx, CurrentUser())
	})
}

// onEvent logs stops, resumptions, and settings that differ from those of the last start, and tells people of stops and
// of requests that they are not asked any more.
func (h *App) onEvent(ctx context.Context, tx queue.Tx, e events.Event) error {
	switch e.Kind {
	case events.Settings:
		return h.logSettings(ctx, e)
	case events.NotAsked:
		h.Log.WarnContext(ctx, "nobody is asked about the rest of a group", "account", e.AccountID, "why", e.Why)
		return h.tellNotAsked(ctx, tx, e)
	}
	h.Log.WarnContext(ctx, "what may be done has changed", "event", e.Kind, "account", e.AccountID, "source", e.Source,
		"by", e.By, "why", e.Why)
	return h.tellOfEvent(ctx, tx, e)
}

// logSettings does not log the first settings: nobody has changed them.
func (h *App) logSettings(ctx context.Context, e events.Event) error {
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

// settingsIn returns the settings of a [events.Event], each as JSON, including those of the policy. An altered text
// that is not JSON has none.
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

// StoppedBy describes to people who has stopped everything, or which rules or models are stopped; empty if nothing is
// stopped.
func (h *App) StoppedBy(ctx context.Context) (string, error) { return h.StoppedIn(ctx, "") }

// StoppedIn is StoppedBy, of the rules and models of one mailbox alone; an empty id stands for all.
func (h *App) StoppedIn(ctx context.Context, accountID string) (string, error) {
	stop, err := h.Ledger.Switch().Stopped(ctx)
	if err != nil {
		return "", err
	}
	if stop != nil {
		return stop.String(), nil
	}
	held, err := h.heldByRestore(ctx)
	if err != nil || held != "" {
		return held, err
	}
	return h.openBreakers(ctx, accountID)
}

// OpenBreakers lists the rules or models that breakers have stopped; empty if there are none.
func (h *App) OpenBreakers(ctx context.Context) (string, error) { return h.openBreakers(ctx, "") }

func (h *App) openBreakers(ctx context.Context, accountID string) (string, error) {
	open, err := h.Ledger.Breakers().Open(ctx)
	var lines []string
	for i := range open {
		if accountID == "" || open[i].AccountID == accountID {
			lines = append(lines, "in account "+open[i].AccountID+" "+open[i].String())
		}
	}
	return strings.Join(lines, "\n"), err
}
