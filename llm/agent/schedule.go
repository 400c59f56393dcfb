package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/uuid7"
	"github.com/postroom-go/postroom/queue"
)

// A Schedule has a profile tell the owner of an account something, again and again: "every weekday at 7:30, what
// waits". It is a schedule of the queue, whose jobs are [JobInvocation].
type Schedule struct {
	// ID identifies it. Empty: [Agent.SetSchedule] makes one.
	ID string
	// AccountID is whose mailbox it is about. Required.
	AccountID string
	// Profile names the profile. Its limits hold for the runs of schedules as for others, but that of a thread. Required.
	Profile string
	// Prompt is the owner's word of what to tell; at most 2000 characters. Required.
	Prompt string
	// Cron and Zone say when, see [queue.Schedule]. Cron is required; the default zone is "UTC".
	Cron, Zone string
	// Config is for [Config].Material. Default: an empty object.
	Config json.RawMessage

	Paused bool      // at the queue
	NextAt time.Time // zero while it is paused
	LastAt time.Time // zero before the first time
	Fault  string    // why it cannot fire; empty if it can
}

// ErrInvalidSchedule reports that the values are not those of a schedule.
var ErrInvalidSchedule = errors.New("invalid schedule of an agent")

const (
	maxPrompt = 2000
	// schedulePrefix begins the names of the queue's schedules.
	schedulePrefix = string(JobInvocation) + ":"
)

// SetSchedule stores a schedule in the caller's transaction, in place of the one with its id, and returns it with its
// id. The error is [ErrInvalidSchedule] if it cannot be one.
func (a *Agent) SetSchedule(ctx context.Context, tx queue.Tx, q *queue.Queue, s Schedule) (Schedule, error) {
	invalid := func(format string, args ...any) (Schedule, error) {
		return s, fmt.Errorf("llm/agent: %w: "+format, append([]any{ErrInvalidSchedule}, args...)...)
	}
	s.Prompt = strings.TrimSpace(s.Prompt)
	switch {
	case a.cfg.Material == nil:
		return invalid("there is nothing to tell of: Config.Material is nil")
	case s.AccountID == "":
		return invalid("it has no account")
	case a.profiles[s.Profile] == nil:
		return invalid("there is no profile %q; the profiles are %s", s.Profile, join(slices.Sorted(maps.Keys(a.profiles))))
	case s.Prompt == "":
		return invalid("the prompt is blank: write what to tell")
	case utf8.RuneCountInString(s.Prompt) > maxPrompt:
		return invalid("the prompt is longer than %d characters", maxPrompt)
	case strings.TrimSpace(s.Cron) == "":
		return invalid("it has no cron expression")
	}
	if s.ID == "" {
		id, err := uuid7.New()
		if err != nil {
			return s, err
		}
		s.ID = id
	}
	if len(s.Config) == 0 {
		s.Config = json.RawMessage("{}")
	}
	job := JobInvocation.New(Invocation{ID: s.ID, UserID: s.AccountID, AgentName: s.Profile, Prompt: s.Prompt,
		Config: s.Config}, &queue.Options{UserID: s.AccountID, MaxAttempts: invocationAttempts,
		Key: queue.WhileUnfinished(fmt.Sprintf("%s:%s:%s", JobInvocation, s.AccountID, s.ID))})
	err := q.SetScheduleTx(ctx, tx, queue.Schedule{Name: schedulePrefix + s.ID, Cron: s.Cron, Zone: s.Zone, Job: job,
		CatchUp: queue.CatchUpOnce})
	if errors.Is(err, queue.ErrInvalidSchedule) {
		return invalid("%w", err)
	}
	return s, err
}

// Schedules returns the schedules of an account by id; an empty account is all of them.
func (a *Agent) Schedules(ctx context.Context, q *queue.Queue, accountID string) ([]Schedule, error) {
	all, err := q.Schedules(ctx)
	if err != nil {
		return nil, fmt.Errorf("llm/agent: read the schedules: %w", err)
	}
	var list []Schedule
	for i := range all {
		stored := &all[i]
		id, ours := strings.CutPrefix(stored.Name, schedulePrefix)
		if !ours || accountID != "" && stored.Job.UserID != accountID {
			continue
		}
		s := Schedule{ID: id, AccountID: stored.Job.UserID, Cron: stored.Cron, Zone: stored.Zone, Paused: stored.Paused,
			NextAt: stored.NextAt, LastAt: stored.LastAt, Fault: stored.Fault}
		var inv Invocation
		if payload, ok := stored.Job.Payload.(json.RawMessage); ok && json.Unmarshal(payload, &inv) == nil {
			s.Profile, s.Prompt, s.Config = inv.AgentName, inv.Prompt, inv.Config
		}
		if s.Fault == "" && a.profiles[s.Profile] == nil {
			s.Fault = fmt.Sprintf("there is no profile %q", s.Profile)
		}
		list = append(list, s)
	}
	return list, nil
}

// RemoveSchedule removes a schedule. An unknown id is [postroom.ErrNotFound].
func (a *Agent) RemoveSchedule(ctx context.Context, tx queue.Tx, q *queue.Queue, id string) error {
	err := q.RemoveScheduleTx(ctx, tx, schedulePrefix+id)
	if errors.Is(err, queue.ErrScheduleNotFound) {
		err = postroom.ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("llm/agent: remove schedule %q: %w", id, err)
	}
	return nil
}
