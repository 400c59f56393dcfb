package app

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/notify"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/gmail/pipeline"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules/rulesfile"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/safety/audit"
	"github.com/postroom-go/postroom/safety/discord"
	"github.com/postroom-go/postroom/safety/webhook"
)

// pipelineConfig converts the configuration of the environment.
func (h *App) pipelineConfig(ctx context.Context) (pipeline.Config, error) {
	c, s := &h.Env.Config, h.Env.Config.Schedules
	ledger, err := h.safetyConfig(ctx)
	if err != nil {
		return pipeline.Config{}, err
	}
	cfg := pipeline.Config{
		DB: h.DB, Kinds: h.Env.ActionKinds(), Clients: h.clientsConfig(), Author: CurrentUser(), Logger: h.Log,
		Rules: h.readRules, RulesChanged: h.rulesChanged, Access: h.Env.MissingCredentials, MayDelete: h.Env.MayDelete,
		ModelAge: c.LLM.Age, Model: func(*pipeline.Pipeline) (postroom.Decider, error) { return h.Models.byModel() },
		Safety: ledger, Tried: h.tried, Notify: h.askedAt(), RulesDisabled: h.tellOfDisabledRules,
		Gmail: gmail.Config{SpamAndTrash: c.Gmail.SpamAndTrash, SnoozeLabel: c.Gmail.SnoozeLabel, Topic: c.Gmail.Topic,
			OnReauthorize: h.tellOfLostGrant},
		Outbox: &outbox.Config{MaxRecipients: c.Outbound.MaxRecipients, ReplyInterval: c.Outbound.ReplyInterval,
			RecipientsDay: c.Outbound.RecipientsDay, Names: outboundNames},
		Schedules: pipeline.Schedules{HistorySync: orNever(s.HistorySync), LabelsSync: orNever(s.LabelsSync),
			Watch: orNever(s.Watch), Reconcile: orNever(s.Reconcile)},
		Backfill: c.Gmail.Backfill, SortOldMail: c.Gmail.OldMail == config.SortOldMail,
		Queue: queue.Config{Logger: h.Log, TracerProvider: h.tracers, MeterProvider: h.meters},
		Dispatcher: queue.DispatcherConfig{Workers: c.App.Workers, Drain: c.App.Drain, Logger: h.Log,
			Middleware: []queue.Middleware{h.waitForQuiet},
			Exclusive:  !c.Paths.Database.Postgres()}, // on SQLite the lock makes it the only one
		Handlers: h.handlers,
	}
	cfg.Arrived, cfg.Labels = h.follow(&cfg.Gmail)
	if h.triage() {
		cfg.OnModel = h.answerNeeded
	}
	if h.Env.Demo {
		// A demo may be killed many times, which is not the fault of its current job.
		cfg.Queue.Budget.Crashes = 1000
	}
	return cfg, nil
}

// orNever converts an interval of the configuration, in which 0 schedules nothing.
func orNever(d time.Duration) time.Duration { return cmp.Or(d, -1) }

// safetyConfig converts the sections [policy] and [safety], with the keys and files of the environment.
func (h *App) safetyConfig(ctx context.Context) (cfg safety.Config, err error) {
	c := &h.Env.Config
	cfg = safety.Config{
		Forbids: h.Models.Guidance, Notify: h.onEvent, Approvers: c.Policy.Approvers,
		ApprovalExpiry: c.Policy.ApprovalExpiry, StopFile: h.Env.StopFile(), DryRun: c.Safety.DryRun,
	}
	if cfg.Key, err = h.Env.ApprovalKey(); err != nil {
		return cfg, err
	}
	if cfg.OldKeys, err = h.Env.OldApprovalKeys(); err != nil {
		return cfg, err
	}
	if cfg.Policy, err = h.policy(); err != nil {
		return cfg, err
	}
	if cfg.Checkpoint, err = h.checkpoint(ctx); err != nil {
		return cfg, err
	}
	h.Audit, err = audit.New(h.DB)
	cfg.Audit = h.Audit
	return cfg, err
}

// outboundNames are what refusals call the settings.
var outboundNames = map[string]string{
	"MaxRecipients": "outbound.max_recipients", "ReplyInterval": "outbound.reply_interval",
	"RecipientsDay": "outbound.recipients_day",
}

// readRules returns the rules of a mailbox: those of a demo, or of its file. Nil if there are none: the stored rules
// stay.
func (h *App) readRules(_ context.Context, a mailstore.Account) (*rulesfile.File, error) {
	if h.demo != nil {
		return h.demo, nil
	}
	return h.Env.ReadRules(h.Env.RulesPath(a.Email))
}

// rulesChanged reports whether the file has changed since it was read: a proposal that a person has accepted meanwhile
// is not reverted. See editor.Editor.Change.
func (h *App) rulesChanged(file *rulesfile.File) (bool, error) {
	if h.demo != nil {
		return false, nil
	}
	there, err := os.ReadFile(file.Name)
	return string(there) != file.Source, err
}

// handlers registers the handlers of the daemon's own jobs, and of the program's.
func (h *App) handlers(d *queue.Dispatcher) error {
	h.registerPrune(d)
	var errs []error
	if h.Drafting != nil {
		errs = append(errs, h.Drafting.Register(d))
	}
	if h.bot != nil {
		errs = append(errs, discord.Register(d, h.bot))
	}
	if h.sender != nil {
		errs = append(errs, webhook.Register(d, h.sender))
	}
	if h.ntfy != nil {
		h.ntfy.Register(d)
		h.Notifier.RegisterWaits(d, h.Ledger)
	}
	h.Notifier.RegisterDigests(d, h.digestConfig())
	if h.register != nil {
		errs = append(errs, h.register(d))
	}
	return errors.Join(errs...)
}

// OpenConfiguredAccount makes the configured account, or returns the one that is there.
func (h *App) OpenConfiguredAccount(ctx context.Context) (accountID string, err error) {
	return h.AddAccount(ctx, h.Env.Config.Gmail.Address)
}

// schedule sets the schedules of jobs that are not of one mailbox, and removes those that are no longer configured.
func (h *App) schedule(ctx context.Context) error {
	list := slices.Concat([]queue.Schedule{pruneSchedule()}, h.reminders(), h.digests(), h.checks())
	for _, s := range list {
		if err := h.Queue.SetSchedule(ctx, s); err != nil {
			return err
		}
	}
	for _, name := range []string{remindSchedule, digestSchedule, checkSchedule} {
		if slices.ContainsFunc(list, func(s queue.Schedule) bool { return s.Name == name }) {
			continue
		}
		if err := h.Queue.RemoveSchedule(ctx, name); err != nil && !errors.Is(err, queue.ErrScheduleNotFound) {
			return err
		}
	}
	return nil
}

const (
	remindSchedule = string(discord.JobDigest) + ":discord"
	digestSchedule = string(notify.JobDigest)
)

// reminders returns the schedules of reminders about waiting requests of all accounts.
func (h *App) reminders() []queue.Schedule {
	every := h.Env.Config.Discord.Remind
	if !h.Env.AsksDiscord() || every == 0 {
		return nil
	}
	return []queue.Schedule{{Name: remindSchedule, Cron: "@every " + every.String(), Job: discord.NewDigestJob()}}
}
