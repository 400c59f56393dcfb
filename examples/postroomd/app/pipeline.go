package app

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/agents"
	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/enrichment"
	"github.com/postroom-go/postroom/examples/postroomd/mailarchive"
	"github.com/postroom-go/postroom/examples/postroomd/notify"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/archive"
	"github.com/postroom-go/postroom/gmail/escalation"
	"github.com/postroom-go/postroom/gmail/filing"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/notes"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/gmail/pipeline"
	"github.com/postroom-go/postroom/gmail/statistics"
	"github.com/postroom-go/postroom/gmail/unsubscribe"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/agent"
	"github.com/postroom-go/postroom/llm/enrich"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules/lessons"
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
			OnReauthorize: h.tellOfLostGrant, Aside: h.aside},
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
	cfg.Labels = append(cfg.Labels, h.followTeach(&cfg.Gmail)...)
	if c.Learn.Enabled {
		cfg.Learn = &pipeline.Learn{Buttons: h.buttons(), SharesRules: h.SharesRules}
		if c.Learn.Auto && !c.Safety.DryRun { // which changes nothing
			cfg.Learn.Apply = func(ctx context.Context, id string) error { return h.AcceptLearned(ctx, id, lessons.By) }
		}
	}
	if h.triage() {
		cfg.OnModel = h.answerNeeded
	}
	if h.Enrichment != nil {
		cfg.OnDecided, cfg.Meanings = h.Enrichment.Decided, h.Enrichment
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
	h.registerTeach(d)
	var errs []error
	if h.Drafting != nil {
		errs = append(errs, h.Drafting.Register(d))
	}
	if h.Voice != nil {
		errs = append(errs, h.Voice.Register(d))
	}
	if h.Archive != nil {
		errs = append(errs, h.Archive.Register(d))
	}
	if h.Enrichment != nil {
		errs = append(errs, h.Enrichment.Register(d))
	}
	errs = append(errs, agent.Register(d, h.Agents.Agent), h.Reminders.Register(d), h.Onboarding.Register(d),
		h.Statistics.Register(d))
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
	digests, err := h.digests()
	if err != nil {
		return err
	}
	list := slices.Concat([]queue.Schedule{pruneSchedule(), statistics.Schedule()}, h.reminders(), digests, h.checks(),
		mailarchive.Schedules(h.Env.Config.Archive))
	for _, s := range list {
		if err := h.Queue.SetSchedule(ctx, s); err != nil {
			return err
		}
	}
	for _, name := range []string{remindSchedule, digestSchedule, checkSchedule, voiceSchedule,
		mailarchive.RunSchedule, mailarchive.VerifySchedule} {
		if slices.ContainsFunc(list, func(s queue.Schedule) bool { return s.Name == name }) {
			continue
		}
		if err := h.Queue.RemoveSchedule(ctx, name); err != nil && !errors.Is(err, queue.ErrScheduleNotFound) {
			return err
		}
	}
	if _, err := h.Queue.Enqueue(ctx, statistics.NewJob()); err != nil {
		return err
	}
	return h.Archive.Begin(ctx, h.Queue)
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

// carriedOut are the kinds of actions that need what this host has. Their services are made after the pipeline.
func (h *App) carriedOut() []postroom.Kind {
	kinds := append(agents.Kinds(h.Env.Profiles(), func() *agents.Service { return h.Agents }), h.Tasks.Kind(),
		escalation.Kind(func() *escalation.Service { return h.escalations }),
		unsubscribe.NewKind(func() *unsubscribe.Leaver { return h.Lists }))
	if h.Env.Config.Archive.URL != "" {
		kinds = append(kinds, archive.NewDeleteKind(h.archived))
	}
	if h.Env.Config.Notes.Folder != "" {
		kinds = append(kinds, notes.Kind(func() *notes.Vault { return h.vault }))
	}
	if h.Env.Config.Attachments.Folder != "" {
		kinds = append(kinds, filing.Kind(func() *filing.Cabinet { return h.cabinet }))
	}
	return kinds
}

// openAgents makes what runs the agents. Without profiles it only knows the runs of before.
func (h *App) openAgents() (err error) {
	profiles, models := h.Env.Profiles(), map[string]llm.Client{}
	if len(profiles) > 0 {
		for _, name := range h.Env.ModelNames() {
			if models[name], err = h.Models.agentClient(h.Env.Models()[name]); err != nil {
				return err
			}
		}
	}
	h.Agents, err = agents.New(agents.Config{Profiles: profiles, Folder: string(h.Env.Config.Paths.Agents), Models: models,
		DB: h.DB, Queue: h.Queue, Mail: h.Mail, Clients: h.Clients, Ledger: h.Ledger, Kinds: h.Env.ActionKinds(),
		Held: h.Ledger.Held, Refused: h.tellOfRefusedRun, Paused: h.tellOfPausedAgent, Made: h.followMade,
		Material: h.whatWaits, Told: h.tellOfReport})
	return err
}

// openLists makes what leaves mailing lists, if that is configured.
func (h *App) openLists() error {
	if !h.Env.Config.Lists.Enabled {
		return nil
	}
	if h.Env.Demo && h.listsBy == nil {
		h.listsBy = noNetwork{}
	}
	drafts, err := outbox.NewDrafts(outbox.DraftsConfig{Store: h.Mail, Clients: h.Clients})
	if err != nil {
		return err
	}
	h.Lists, err = unsubscribe.New(unsubscribe.Config{Messages: h.Mail, DB: h.DB, PerDay: h.Env.Config.Lists.PerDay,
		Drafts: drafts, Transport: h.listsBy})
	return err
}

// openEnrichment makes what finds out what mail means, if that is configured.
func (h *App) openEnrichment() error {
	if h.Enrichment == nil {
		return nil
	}
	cfg := enrichment.Config{Settings: &h.Env.Config, Queue: h.Queue, Mail: h.Mail, Clients: h.Clients,
		Decisions: h.Ledger.Decisions, Ended: h.DecideMeant, Held: h.Ledger.Held, Zone: h.OwnZone(), Logger: h.Log}
	if !h.Env.Demo {
		cfg.Page = gmailapi.PageOf
	}
	if h.Env.Config.LLM.Enabled() || h.Env.Demo { // whose model is a script
		asked, err := h.Models.decider()
		if err != nil {
			return err
		}
		cfg.Model = asked
	}
	return h.Enrichment.Open(cfg)
}

// AnswerMeaning records what a person says about what was found out of a message; see [enrich.Service.Answer].
func (h *App) AnswerMeaning(ctx context.Context, m *postroom.Message, word enrich.Word) error {
	if h.Enrichment == nil {
		return usage.Errorf("nothing is found out about mail; set enrich.enabled to true")
	}
	word.AccountID, word.MessageID = m.AccountID, m.ID
	err := h.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error { return h.Enrichment.Answer(ctx, tx, word) })
	switch {
	case errors.Is(err, postroom.ErrNotFound):
		return usage.Errorf("nothing is known of message %s", m.ProviderID)
	case errors.Is(err, enrich.ErrWord):
		return usage.Wrap(err)
	}
	return err
}

// openArchive makes what archives mail, if that is configured.
func (h *App) openArchive() (err error) {
	if h.Env.Config.Archive.URL == "" {
		return nil
	}
	h.Archive, err = mailarchive.Open(mailarchive.Config{DB: h.DB, Mail: h.Mail, Clients: h.Clients, Ledger: h.Ledger,
		Archive: h.Env.Config.Archive, SpamTrash: h.Env.Config.Gmail.SpamAndTrash, Logger: h.Log})
	return err
}

// archived returns the archive; nil if there is none.
func (h *App) archived() *archive.Archive {
	if h.Archive == nil {
		return nil
	}
	return h.Archive.Archive
}

// aside reports whether a message was put back from the archive: rules had it before.
func (h *App) aside(ctx context.Context, msg *postroom.Message) (bool, error) {
	if h.Archive == nil {
		return false, nil
	}
	return h.Archive.IsRestored(ctx, msg)
}

// keepRuns is how long the runs of agents are kept.
const keepRuns = keepCalls

func (h *App) pruneAgents(ctx context.Context) error {
	_, err := h.Agents.Settle(ctx, h.Queue)
	if err == nil {
		_, err = h.Agents.Prune(ctx, time.Now().Add(-keepRuns))
	}
	return err
}
