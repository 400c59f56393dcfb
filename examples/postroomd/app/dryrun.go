package app

import (
	"cmp"
	"context"
	"maps"
	"sync"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/safety"
)

// A Would counts what a dry run has decided and neither done nor recorded.
type Would struct {
	Actions   map[postroom.ActionType]int `json:"actions"`
	Rules     map[string]int              `json:"rules"`
	Approvals int                         `json:"approvals"` // about which a person would be asked
	Refused   int                         `json:"refused"`   // that would end at once, see the log
	Unmatched int                         `json:"unmatched"`
}

// A dryRun logs and counts what a dry run decides.
type dryRun struct {
	mu    sync.Mutex
	would Would
}

// Would returns what this process has decided in a dry run so far.
func (h *App) Would() Would {
	h.dry.mu.Lock()
	defer h.dry.mu.Unlock()
	w := h.dry.would
	w.Actions, w.Rules = maps.Clone(w.Actions), maps.Clone(w.Rules)
	return w
}

// tried is that of [pipeline.Config].
func (h *App) tried(ctx context.Context, msg *postroom.Message, e safety.Entry) {
	action, rule := &e.Action, e.Decision.Decision.RuleName
	h.dry.add(action, rule)
	would := "nothing"
	switch {
	case safety.LeftOut(action):
		names, err := h.LabelNames(ctx)
		if err != nil {
			names = nil // the ids say it as well
		}
		would = Describe(*action, names)
		if safety.WouldAsk(action) {
			would = "ask a person whether to " + would
		}
	case action.Error != "":
		would += ": " + action.Error
	}
	h.Log.InfoContext(ctx, "dry run: nothing was done", "would", would, "by",
		cmp.Or(rule, string(e.Decision.Decision.Source)), "from", msg.From.Email, "subject", msg.Subject, "message",
		msg.ProviderID)
}

func (d *dryRun) add(a *postroom.Action, rule string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.would.Actions == nil {
		d.would.Actions, d.would.Rules = map[postroom.ActionType]int{}, map[string]int{}
	}
	switch {
	case safety.WouldAsk(a):
		d.would.Approvals++
	case safety.LeftOut(a):
		d.would.Actions[a.Type]++
	case a.Error != "":
		d.would.Refused++
	case rule == "":
		d.would.Unmatched++
	}
	if rule != "" {
		d.would.Rules[rule]++
	}
}
