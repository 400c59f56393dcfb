package app

import (
	"cmp"
	"errors"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/safety/gate"
	"github.com/postroom-go/postroom/safety/limits"
)

// policy converts the checked sections [policy] and [safety].
func (h *App) policy() (gate.Policy, error) {
	c := h.Env.Config.Safety
	p := gate.Policy{
		ConfidenceThreshold: h.Env.Config.Policy.ConfidenceDefault,
		ApprovalAlways:      actionTypes(h.Env.Config.Policy.ApprovalAlways),
		ModelUnattended:     actionTypes(h.Env.Config.Policy.ModelUnattended), ModelShare: h.Env.Config.Policy.ModelShare,
		ModelFree: h.Env.Config.Policy.ModelFree, SendAge: cmp.Or(h.Env.Config.Policy.SendAge, -1),
		Breaker: limits.Breaker{
			Actions: c.BreakerActions, Failures: c.BreakerFailures, Window: c.BreakerWindow,
			OpenFor: c.BreakerOpen,
		},
		Recipients: c.Recipients,
		Quiet:      limits.Quiet{May: actionTypes(c.QuietActions), Zone: time.Local},
	}
	for _, text := range c.Caps {
		bound, err := limits.ParseCap(text)
		if err != nil {
			return p, err
		}
		p.Caps = append(p.Caps, bound)
	}
	for _, text := range c.QuietHours {
		span, err := limits.ParseQuietSpan(text)
		if err != nil {
			return p, err
		}
		p.Quiet.Spans = append(p.Quiet.Spans, span)
	}
	if c.QuietZone == "" {
		return p, nil
	}
	zone, err := time.LoadLocation(c.QuietZone)
	p.Quiet.Zone = zone
	return p, err
}

// QuietUntil returns when the quiet hours end in which now is; zero if it is in none.
func (h *App) QuietUntil(now time.Time) (time.Time, error) {
	policy, err := h.policy()
	if err != nil {
		return time.Time{}, err
	}
	policy.Quiet.May = nil // the hours, whatever is carried out in them
	if held, ok := errors.AsType[*postroom.HeldError](policy.Quiet.Hold("", now)); ok {
		return held.Until, nil
	}
	return time.Time{}, nil
}

func actionTypes(names []string) []postroom.ActionType {
	types := []postroom.ActionType{}
	for _, name := range names {
		types = append(types, postroom.ActionType(name))
	}
	return types
}
