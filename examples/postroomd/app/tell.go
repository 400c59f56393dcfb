package app

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/notify"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/reminders"
	"github.com/postroom-go/postroom/llm/agent"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/safety/discord"
	"github.com/postroom-go/postroom/safety/events"
	"github.com/postroom-go/postroom/safety/webhook"
)

// newNotifier makes what tells people at the places of the configuration.
func (h *App) newNotifier() error {
	policy, err := h.policy()
	if err != nil {
		return err
	}
	cfg := notify.Config{Queue: h.Queue, Quiet: policy.Quiet}
	if h.Env.AsksDiscord() {
		cfg.Doors = append(cfg.Doors, tellDiscord)
	}
	if h.Env.Config.Webhook.URL != "" {
		cfg.Doors = append(cfg.Doors, tellWebhook)
	}
	if n := h.Env.Config.Notify; n.NtfyURL != "" {
		h.ntfy = notify.NewNtfy(n.NtfyURL, string(n.NtfyToken), h.readNotice)
		cfg.Doors = append(cfg.Doors, notify.NtfyJobs)
	}
	h.Notifier, err = notify.New(cfg)
	return err
}

// waitForQuiet is the middleware of the notifier, which is made after the configuration of the pipeline.
func (h *App) waitForQuiet(next queue.HandlerFunc) queue.HandlerFunc {
	return h.Notifier.WaitForQuiet(next)
}

// tellDiscord is the door to the channel, which has the requests themselves, with buttons.
func tellDiscord(n notify.Notice) []queue.NewJob {
	if n.Kind == notify.Waits {
		return nil
	}
	return []queue.NewJob{discord.NewNoticeJob(discord.Notice{About: string(n.Kind) + ":" + n.Subject, Text: n.Text})}
}

// tellWebhook is the door to the URL, which gets the requests themselves, and events of their own for a dead grant and
// for requests that are not made any more.
func tellWebhook(n notify.Notice) []queue.NewJob {
	if n.Kind == notify.Waits || n.Kind == notify.GrantDied || n.Kind == notify.NotAsked {
		return nil
	}
	return []queue.NewJob{webhook.NewNoticeJob(webhook.Notice{Kind: string(n.Kind), Subject: n.Subject, Title: n.Title,
		Text: n.Text})}
}

// tellOfLostGrant tells of a grant that is gone, in the transaction that stops the mailbox.
func (h *App) tellOfLostGrant(ctx context.Context, tx queue.Tx, a mailstore.Account, cause error) error {
	help := h.Env.HowToSignIn(a)
	var besides []queue.NewJob
	if h.Env.Config.Webhook.URL != "" {
		besides = append(besides, webhook.NewReauthorizeJob(webhook.Reauthorize{AccountID: a.ID, Email: a.Email,
			Reason: cause.Error(), Help: help}))
	}
	// A grant may be given again, and die again.
	return h.Notifier.Tell(ctx, tx, notify.Notice{Kind: notify.GrantDied, Subject: a.ID + " " + instant(tx),
		Title: a.Email + " has lost its grant",
		Text:  a.Email + " has lost its grant, and nothing is done with its mail: " + help}, besides...)
}

// instant is the time of a transaction, as part of a subject.
func instant(tx queue.Tx) string { return queue.Now(tx).UTC().Format(time.RFC3339Nano) }

// tellOfDisabledRules tells of rules that were disabled, each at the version that was.
func (h *App) tellOfDisabledRules(ctx context.Context, tx queue.Tx, _ string, disabled []rules.Rule) error {
	for i := range disabled {
		r := &disabled[i]
		title := fmt.Sprintf("The rule %q is disabled", r.Name)
		err := h.Notifier.Tell(ctx, tx, notify.Notice{Kind: notify.RuleDisabled, Subject: r.ID + " " + instant(tx),
			Title: title, Text: title + ": " + r.DisabledReason + ". It decides nothing until you change or enable it."})
		if err != nil {
			return err
		}
	}
	return nil
}

// tellOfEvent tells of what stops everything, or some of it.
func (h *App) tellOfEvent(ctx context.Context, tx queue.Tx, e events.Event) error {
	title := "Everything is stopped, by " + e.By
	switch e.Kind {
	case events.Stopped:
	case events.DriftWarns, events.DriftAsks:
		return h.tellOfDrift(ctx, tx, &e)
	case events.BreakerOpened:
		title = "A breaker has stopped the models"
		if e.Source == postroom.SourceDeterministic {
			title = "A breaker has stopped the rules"
		}
		if a, err := h.Mail.AccountTx(ctx, tx, e.AccountID); err == nil {
			title += " of " + a.Email
		}
	default:
		return nil
	}
	text := strings.TrimSuffix(title+": "+e.Why, ": ") + ". 'postroomd resume' ends it, and so does the page."
	return h.Notifier.Tell(ctx, tx, notify.Notice{Kind: notify.Stopped, Subject: e.ID, Title: title, Text: text})
}

// tellOfDrift tells of a rule, or of models, that a person has corrected.
func (h *App) tellOfDrift(ctx context.Context, tx queue.Tx, e *events.Event) error {
	title := "A rule is often corrected"
	if e.Source == postroom.SourceModel {
		title = "The models are often corrected"
	}
	if a, err := h.Mail.AccountTx(ctx, tx, e.AccountID); err == nil {
		title += " in " + a.Email
	}
	text := title + ": " + e.Why + "."
	if e.Kind == events.DriftAsks {
		title += ", and asks from now on"
		text += " You are asked about each decision from now on."
	}
	return h.Notifier.Tell(ctx, tx, notify.Notice{Kind: notify.Drifted, Subject: e.ID, Title: title,
		Text: text + " 'postroomd learn right' ends that, and so does the page."})
}

// tellOfEscalation tells of a message that somebody has to look at, in the transaction that completes the action. The
// reason may be a model's, with words of the mail, so it is not told elsewhere: it is on record here.
func (h *App) tellOfEscalation(ctx context.Context, tx postroom.Tx, a postroom.Action) error {
	account, err := h.Mail.AccountTx(ctx, tx, a.AccountID)
	if err != nil {
		return err
	}
	title := "A message of " + account.Email + " needs you"
	return h.Notifier.Tell(ctx, tx, notify.Notice{Kind: notify.Escalated, Subject: a.ID, Title: title,
		Text: title + ": it has the label " + h.Env.Config.Replies.ActionRequired + ", and 'postroomd explain " + a.ID +
			"' says why."})
}

// tellNotAsked tells that nobody is asked about the rest of a group for a day.
func (h *App) tellNotAsked(ctx context.Context, tx queue.Tx, e events.Event) error {
	var besides []queue.NewJob
	if h.Env.Config.Webhook.URL != "" {
		besides = append(besides, webhook.NewNotAskedJob(webhook.NotAsked{AccountID: e.AccountID, EventID: e.ID}))
	}
	return h.Notifier.Tell(ctx, tx, notify.Notice{Kind: notify.NotAsked, Subject: e.ID,
		Title: "Nobody is asked about the rest for a day", Text: notify.Unlinked(e.Why)}, besides...)
}

// askedAt are those who are told of each request for approval.
func (h *App) askedAt() (list []func(safety.Approval) []queue.NewJob) {
	if h.Env.Config.Webhook.URL != "" {
		list = append(list, webhook.Jobs)
	}
	if h.Env.AsksDiscord() {
		list = append(list, discord.Jobs)
	}
	if h.Env.Config.Notify.NtfyURL != "" {
		list = append(list, func(r safety.Approval) []queue.NewJob { return h.Notifier.WaitsJobs(r) })
	}
	return slices.Clip(list)
}

// tellOfRefusedRun tells once a day that an agent of a mailbox does not work.
func (h *App) tellOfRefusedRun(ctx context.Context, tx queue.Tx, r agent.Run) error {
	title := "The agent " + r.Profile + " leaves mail alone"
	return h.Notifier.Tell(ctx, tx, notify.Notice{Kind: notify.AgentRefused,
		Subject: r.AccountID + " " + r.Profile + " " + queue.Now(tx).UTC().Format(time.DateOnly), Title: title,
		Text: title + ": " + notify.Unlinked(r.Reason) + ". 'postroomd agents list' names the mail."})
}

// tellOfPausedAgent tells of a profile that some failures have paused.
func (h *App) tellOfPausedAgent(ctx context.Context, tx queue.Tx, profile, reason string) error {
	title := "The agent " + profile + " is paused"
	return h.Notifier.Tell(ctx, tx, notify.Notice{Kind: notify.AgentPaused, Subject: profile + " " + instant(tx),
		Title: title,
		Text:  title + ": " + notify.Unlinked(reason) + ". 'postroomd agents resume " + profile + "' ends that."})
}

// openReminders makes what reminds people.
func (h *App) openReminders() (err error) {
	h.Reminders, err = reminders.New(reminders.Config{DB: h.DB, Queue: h.Queue, Deliver: h.tellOfReminder})
	return err
}

// tellOfReminder tells of a reminder, in the transaction that delivers it.
func (h *App) tellOfReminder(ctx context.Context, tx queue.Tx, d reminders.Delivery) error {
	title := "Reminder: " + d.Reminder.Title
	text := title
	if d.Reminder.Body != "" {
		text += "\n" + d.Reminder.Body
	}
	return h.Notifier.Tell(ctx, tx, notify.Notice{Kind: notify.Reminded, Subject: d.Key, Title: title, Text: text})
}

// tellOfReport tells what a schedule of an agent has told, or why it could not. The words are a model's about mail, so
// jobs hold none: see readNotice.
func (h *App) tellOfReport(ctx context.Context, tx queue.Tx, r agent.Run) error {
	n := notify.Notice{Kind: notify.AgentTold, Subject: r.ID}
	if r.State != agent.StateDone {
		n.Title = "The agent " + r.Profile + " has told nothing"
		n.Text = n.Title + ": " + notify.Unlinked(r.Reason) + ". 'postroomd agents show " + r.ID + "' shows its calls."
	}
	return h.Notifier.Tell(ctx, tx, n)
}
