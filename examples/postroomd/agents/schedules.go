package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/llm/agent"
	"github.com/postroom-go/postroom/queue"
)

// A NewSchedule is what a person wants to be told, and when.
type NewSchedule struct {
	AccountID, Profile, Prompt string

	Cron, Zone string
	// Since is how far back what came and was done is told of. Default 24 hours; at most 31 days.
	Since time.Duration
}

// The bounds of Since.
const (
	defaultSince = 24 * time.Hour
	maxSince     = 31 * 24 * time.Hour
)

// settings are the configuration of an invocation.
type settings struct {
	Since string `json:"since"`
}

// Since returns how far back an invocation tells of what came and was done.
func Since(inv agent.Invocation) (time.Duration, error) {
	var s settings
	if len(inv.Config) > 0 {
		if err := json.Unmarshal(inv.Config, &s); err != nil {
			return 0, queue.Fatal(fmt.Errorf("agents: the configuration of schedule %s: %w", inv.ID, err))
		}
	}
	if s.Since == "" {
		return defaultSince, nil
	}
	since, err := time.ParseDuration(s.Since)
	if err != nil || since <= 0 || since > maxSince {
		return 0, queue.Fatal(fmt.Errorf("agents: the schedule %s has since %q; it must be within 0 and %v", inv.ID, s.Since,
			maxSince))
	}
	return since, nil
}

// Schedule has a profile tell a person something again and again. What cannot be is a [usage.Error].
func (s *Service) Schedule(ctx context.Context, n NewSchedule) (made agent.Schedule, err error) {
	if err := s.Check(n.Profile); err != nil {
		return made, err
	}
	if n.Since == 0 {
		n.Since = defaultSince
	}
	if n.Since < 0 || n.Since > maxSince {
		return made, usage.Errorf("since is %v; it must be more than 0 and at most %v", n.Since, maxSince)
	}
	config, err := json.Marshal(settings{n.Since.String()})
	if err != nil {
		return made, err
	}
	err = s.cfg.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		made, err = s.SetSchedule(ctx, tx, s.cfg.Queue, agent.Schedule{AccountID: n.AccountID, Profile: n.Profile,
			Prompt: n.Prompt, Cron: n.Cron, Zone: n.Zone, Config: config})
		return err
	})
	if errors.Is(err, agent.ErrInvalidSchedule) {
		return made, usage.Wrap(err)
	}
	if err != nil {
		return made, err
	}
	return s.FindSchedule(ctx, made.ID)
}

// Scheduled returns the schedules of an account; an empty one is all of them.
func (s *Service) Scheduled(ctx context.Context, accountID string) ([]agent.Schedule, error) {
	return s.Schedules(ctx, s.cfg.Queue, accountID)
}

// FindSchedule returns a schedule; an unknown one is [postroom.ErrNotFound].
func (s *Service) FindSchedule(ctx context.Context, id string) (agent.Schedule, error) {
	list, err := s.Scheduled(ctx, "")
	for i := range list {
		if list[i].ID == id {
			return list[i], nil
		}
	}
	if err == nil {
		err = fmt.Errorf("agents: schedule %q: %w", id, postroom.ErrNotFound)
	}
	return agent.Schedule{}, err
}

// Unschedule removes a schedule; an unknown one is [postroom.ErrNotFound].
func (s *Service) Unschedule(ctx context.Context, id string) error {
	return s.cfg.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		return s.RemoveSchedule(ctx, tx, s.cfg.Queue, id)
	})
}

// UnscheduleAll removes the schedules of an account that is removed.
func (s *Service) UnscheduleAll(ctx context.Context, accountID string) error {
	list, err := s.Scheduled(ctx, accountID)
	for i := 0; i < len(list) && err == nil; i++ {
		if err = s.Unschedule(ctx, list[i].ID); errors.Is(err, postroom.ErrNotFound) {
			err = nil
		}
	}
	return err
}
