package app

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
)

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
