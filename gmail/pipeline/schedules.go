package pipeline

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/aging"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules/lessons"
)

// schedules returns the schedules of an account. The polls find changes that no notification reports.
func (p *Pipeline) schedules(accountID string) []queue.Schedule {
	var list []queue.Schedule
	every := func(d time.Duration, kind string, job queue.NewJob) {
		if d > 0 {
			list = append(list, queue.Schedule{Name: kind + ":" + accountID, Cron: "@every " + d.String(), Job: job})
		}
	}
	s := p.cfg.Schedules
	every(s.HistorySync, string(gmail.JobHistorySync), gmail.NewHistorySyncJob(accountID, 0))
	every(s.LabelsSync, string(gmail.JobLabelsSync), gmail.NewLabelsSyncJob(accountID))
	if p.cfg.Gmail.Topic != "" {
		every(s.Watch, string(gmail.JobWatch), gmail.NewWatchJob(accountID))
	}
	if p.ages() {
		every(s.Age, string(aging.Job), aging.NewJob(accountID))
	}
	every(s.Reconcile, string(gmail.JobReconcile), gmail.NewReconcileJob(accountID))
	if p.Lessons != nil {
		list = append(list, queue.Schedule{Name: string(lessons.JobLearn) + ":" + accountID, Cron: learnWeekly,
			Job: lessons.NewJob(accountID)})
	}
	return list
}

// scheduledKinds are the job types that a pipeline schedules; other schedules in the database are unchanged.
var scheduledKinds = []string{string(gmail.JobHistorySync), string(gmail.JobLabelsSync), string(gmail.JobReconcile),
	string(gmail.JobWatch), string(aging.Job), string(lessons.JobLearn)}

// ages reports whether rules about age are asked again. A dry run leaves that to a later run.
func (p *Pipeline) ages() bool { return p.cfg.Schedules.Age > 0 && !p.cfg.Safety.DryRun }

// schedule sets the schedules of the accounts, and removes those that are no longer configured or whose account no
// longer exists.
func (p *Pipeline) schedule(ctx context.Context, accounts []mailstore.Account) error {
	wanted := map[string]bool{}
	for i := range accounts {
		for _, s := range p.schedules(accounts[i].ID) {
			wanted[s.Name] = true
			if err := p.Queue.SetSchedule(ctx, s); err != nil {
				return err
			}
		}
	}
	return p.dropSchedules(ctx, func(name string) bool { return isScheduledHere(name) && !wanted[name] })
}

// removeSchedules removes the schedules of an account.
func (p *Pipeline) removeSchedules(ctx context.Context, accountID string) error {
	return p.dropSchedules(ctx, func(name string) bool {
		return isScheduledHere(name) && strings.HasSuffix(name, ":"+accountID)
	})
}

func (p *Pipeline) dropSchedules(ctx context.Context, unwanted func(name string) bool) error {
	stored, err := p.Queue.Schedules(ctx)
	if err != nil {
		return err
	}
	for _, s := range stored {
		if !unwanted(s.Name) {
			continue
		}
		if err := p.Queue.RemoveSchedule(ctx, s.Name); err != nil && !errors.Is(err, queue.ErrScheduleNotFound) {
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
