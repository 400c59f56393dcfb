package runs

import (
	"context"
	"strconv"
	"time"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/llm/agent"
)

// A Profile is what an agent is, and whether it works.
type Profile struct {
	Name     string    `json:"name"`
	Version  string    `json:"version"`
	Model    string    `json:"model"`
	Tools    []string  `json:"tools"`
	Outcomes []string  `json:"outcomes"`
	Limits   Limits    `json:"limits"`
	Used     Used      `json:"used"`
	Failures int       `json:"failures"` // in a row
	PausedAt time.Time `json:"paused_at,omitzero"`
	Reason   string    `json:"reason,omitempty"` // why it is paused
}

// Paused reports whether the profile is paused.
func (p *Profile) Paused() bool { return !p.PausedAt.IsZero() }

// Limits bound the runs of a profile.
type Limits struct {
	ModelCalls  int     `json:"model_calls"`
	ToolCalls   int     `json:"tool_calls"`
	EqualCalls  int     `json:"equal_calls"`
	CallSeconds float64 `json:"call_seconds"`
	RunSeconds  float64 `json:"run_seconds"`
	Tokens      int     `json:"tokens"`
	Cost        string  `json:"cost"`
	RunsADay    int     `json:"runs_a_day"` // of a mailbox
	RunsAThread int     `json:"runs_a_thread"`
	Failures    int     `json:"failures"` // in a row, that pause it
}

// Minutes is the time of a run, for people.
func (l Limits) Minutes() string { return strconv.FormatFloat(l.RunSeconds/60, 'f', -1, 64) }

// A Used is what a profile has used within 24 hours.
type Used struct {
	Runs   int    `json:"runs"` // without replays
	Tokens int    `json:"tokens"`
	Cost   string `json:"cost"`
}

// Profiles are the profiles of the configuration.
type Profiles struct {
	List []Profile `json:"profiles"`
}

// window is the time of a [Used], that of the limits of a day.
const window = 24 * time.Hour

// NewProfiles reads the profiles, with what they have used in an account; an empty one is all.
func NewProfiles(ctx context.Context, h *app.App, accountID string) (v Profiles, err error) {
	list, err := h.Agents.Profiles(ctx)
	if err != nil {
		return v, err
	}
	used, err := h.Agents.Used(ctx, accountID, time.Now().Add(-window))
	if err != nil {
		return v, err
	}
	of := make(map[string]agent.Used, len(used))
	for _, u := range used {
		of[u.Profile] = u
	}
	v.List = printer.List(list, func(p agent.ProfileState) Profile { return newProfile(&p, of[p.Name]) })
	return v, nil
}

func newProfile(p *agent.ProfileState, used agent.Used) Profile {
	l := p.Limits
	return Profile{Name: p.Name, Version: p.Version, Model: p.Model, Tools: append([]string{}, p.Tools...),
		Outcomes: printer.List(p.Outcomes, func(o agent.Outcome) string { return string(o) }),
		Limits: Limits{ModelCalls: l.ModelCalls, ToolCalls: l.ToolCalls, EqualCalls: l.EqualCalls,
			CallSeconds: l.CallTime.Seconds(), RunSeconds: l.RunTime.Seconds(), Tokens: l.Tokens, Cost: l.Cost.String(),
			RunsADay: l.RunsADay, RunsAThread: l.RunsAThread, Failures: l.Failures},
		Used:     Used{Runs: used.Runs, Tokens: used.Tokens, Cost: used.Cost.String()},
		Failures: p.Failures, PausedAt: p.PausedAt, Reason: p.Reason}
}
