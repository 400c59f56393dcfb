package app

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/discord"
)

// schedules returns the schedules of an account. The polls find changes that no notification reports.
func (h *App) schedules(accountID string) []queue.Schedule {
	var list []queue.Schedule
	every := func(d time.Duration, kind string, job queue.NewJob) {
		if d > 0 {
			list = append(list, queue.Schedule{Name: kind + ":" + accountID, Cron: "@every " + d.String(), Job: job})
		}
	}
	s := h.Env.Config.Schedules
	every(s.HistorySync, string(gmail.JobHistorySync), gmail.NewHistorySyncJob(accountID, 0))
	every(s.LabelsSync, string(gmail.JobLabelsSync), gmail.NewLabelsSyncJob(accountID))
	if h.Env.Config.Gmail.Topic != "" {
		every(s.Watch, string(gmail.JobWatch), gmail.NewWatchJob(accountID))
	}
	every(s.Reconcile, string(gmail.JobReconcile), gmail.NewReconcileJob(accountID))
	return list
}

// digests returns the schedules of reminders about waiting requests of all accounts.
func (h *App) digests() []queue.Schedule {
	every := h.Env.Config.Discord.Remind
	if !h.Env.AsksDiscord() || every == 0 {
		return nil
	}
	return []queue.Schedule{{Name: string(discord.JobDigest) + ":discord", Cron: "@every " + every.String(), Job: discord.NewDigestJob()}}
}

// scheduledKinds are the job types that this program schedules; other schedules in the database are unchanged.
var scheduledKinds = []string{string(gmail.JobHistorySync), string(gmail.JobLabelsSync), string(gmail.JobReconcile), string(gmail.JobWatch), string(discord.JobDigest)}

// schedule sets the schedules of the accounts, and removes those that are no longer configured or whose account no longer exists.
func (h *App) schedule(ctx context.Context, accountIDs []string) error {
	wanted := map[string]bool{}
	list := h.digests()
	for _, id := range accountIDs {
		list = append(list, h.schedules(id)...)
	}
	for _, s := range list {
		wanted[s.Name] = true
		if err := h.Queue.SetSchedule(ctx, s); err != nil {
			return err
		}
	}
	prune := pruneSchedule()
	wanted[prune.Name] = true
	if err := h.Queue.SetSchedule(ctx, prune); err != nil {
		return err
	}
	stored, err := h.Queue.Schedules(ctx)
	if err != nil {
		return err
	}
	for _, s := range stored {
		if !isScheduledHere(s.Name) || wanted[s.Name] {
			continue
		}
		if err := h.Queue.RemoveSchedule(ctx, s.Name); err != nil && !errors.Is(err, queue.ErrScheduleNotFound) {
			return err
		}
	}
	return nil
}

func isScheduledHere(name string) bool {
	for _, kind := range scheduledKinds {
		if strings.HasPrefix(name, kind+":") {
			return true
		}
	}
	return false
}
