package app

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/drafting"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/gmail/replies"
	"github.com/postroom-go/postroom/gmail/senders"
	"github.com/postroom-go/postroom/gmail/voice"
	"github.com/postroom-go/postroom/llm/compose"
	"github.com/postroom-go/postroom/queue"
)

// draftingLabels are the configured names.
func (h *App) draftingLabels() drafting.Labels {
	c := &h.Env.Config.Replies
	return drafting.Labels{NeedsResponse: c.NeedsResponse, Outbox: c.Outbox, Rework: c.Rework, Done: c.Done,
		ActionRequired: c.ActionRequired, Waiting: c.Waiting}
}

// drafts reports whether drafts are written. A dry run writes none.
func (h *App) drafts() bool { return h.Env.Config.Replies.Enabled && !h.Env.Config.Safety.DryRun }

// openDrafting makes what writes drafts, if that is configured.
func (h *App) openDrafting() (err error) {
	if h.Replies, err = replies.New(replies.Config{DB: h.DB, Queue: h.Queue}); err != nil || !h.drafts() {
		return err
	}
	model, err := h.Models.modelClient(&h.Env.Config.LLM.Model)
	if err != nil {
		return err
	}
	composer, err := compose.New(compose.Config{Client: model, About: h.Env.Config.Replies.About})
	if err != nil {
		return err
	}
	made, err := outbox.NewDrafts(outbox.DraftsConfig{Store: h.Mail, Clients: h.Clients})
	if err != nil {
		return err
	}
	if err := h.openVoice(composer); err != nil {
		return err
	}
	h.Drafting, err = drafting.New(drafting.Config{Store: h.Mail, Queue: h.Queue, Replies: h.Replies, Drafts: made,
		Clients: h.Clients, Writer: h.writer(composer), Labels: h.draftingLabels(), Sent: h.learnOfSent(),
		PerDay:   h.Env.Config.Replies.PerDay,
		FollowUp: time.Duration(h.Env.Config.Replies.FollowUpDays) * 24 * time.Hour, Record: h.Ledger.Record,
		FollowUpSent: h.Env.Config.Replies.FollowUpSent, FollowUpDraft: h.Env.Config.Replies.FollowUp == config.FollowUpDraft,
		Held: h.Ledger.Held, MeterProvider: h.meters, Logger: h.Log})
	return err
}

// writer has a model write, as the person writes if that is configured.
func (h *App) writer(composer *compose.Composer) drafting.Writer {
	return drafting.WriterFunc(func(ctx context.Context, r drafting.Request) (string, error) {
		asked := compose.Request{AccountID: r.AccountID, Message: r.Message, Thread: r.Thread, Nudge: r.Nudge,
			Text: r.Text, Instruction: r.Instruction}
		var err error
		if asked.Earlier, err = (senders.Correspondents{Store: h.Mail}).Earlier(ctx, r.Message, r.Recipients); err != nil {
			return "", err
		}
		if asked.Snippets, err = h.snippets(ctx, r.AccountID); err != nil {
			return "", err
		}
		if h.Voice != nil {
			profile, err := h.Voice.Profile(ctx, r.AccountID)
			if err != nil {
				return "", err
			}
			asked.Voice = profile.Text
			if asked.Examples, err = (senders.Correspondents{Store: h.Mail}).Answers(ctx, r.Message); err != nil {
				return "", err
			}
		}
		return composer.Write(ctx, asked)
	})
}

// snippets returns the texts of the rules of a mailbox. Their variables are for the model to fill: what they stand for
// are a stranger's words, and these texts are the person's. A file with faults keeps no draft from being written.
func (h *App) snippets(ctx context.Context, accountID string) (list []string, err error) {
	account, err := h.Mail.Account(ctx, accountID)
	if err != nil {
		return nil, err
	}
	file, err := h.Env.ReadRules(h.Env.RulesPath(account.Email))
	if err != nil {
		h.Log.WarnContext(ctx, "a draft is written without the snippets of the rules", "error", err)
	}
	if err != nil || file == nil {
		return nil, nil //nolint:nilerr // it is logged
	}
	for _, name := range slices.Sorted(maps.Keys(file.Snippets)) {
		list = append(list, postroom.FillVariables(file.Snippets[name], nil, func(v postroom.Variable) string {
			return "[check: " + v.Words() + "]"
		}))
	}
	return list, nil
}

// openVoice makes what learns how people write, if that is configured.
func (h *App) openVoice(composer *compose.Composer) (err error) {
	if !h.Env.Config.Replies.Voice {
		return nil
	}
	h.Voice, err = voice.New(voice.Config{Store: h.Mail, Queue: h.Queue, Logger: h.Log,
		Learner: voice.LearnerFunc(func(ctx context.Context, m voice.Material) (string, error) {
			asked := compose.VoiceRequest{AccountID: m.AccountID, Mail: m.Mail}
			for _, l := range m.Lessons {
				asked.Corrections = append(asked.Corrections, compose.Correction{Removed: l.Removed, Added: l.Added})
			}
			return composer.Voice(ctx, asked)
		})})
	return err
}

// learnOfSent returns what keeps the lesson of a draft that was sent; nil if none is kept.
func (h *App) learnOfSent() func(drafting.SentDraft) func(context.Context, queue.Tx) error {
	if h.Voice == nil {
		return nil
	}
	return func(d drafting.SentDraft) func(context.Context, queue.Tx) error {
		return h.Voice.Sent(voice.SentDraft(d))
	}
}

// follow has the drafts follow what happens in the mailboxes. The service is made after the pipeline, which has what it
// needs.
func (h *App) follow(cfg *gmail.Config) (arrived func(context.Context, queue.Tx, *postroom.Message) error,
	labels []string) {
	if !h.drafts() {
		return nil, nil
	}
	cfg.LabelColor = h.draftingLabels().Color
	cfg.OnLabelsChanged = func(ctx context.Context, tx queue.Tx, e gmail.LabelsEvent) error {
		return h.Drafting.LabelsChanged(ctx, tx, e)
	}
	cfg.OnActed = func(ctx context.Context, tx queue.Tx, a postroom.Action, threadID string) error {
		return h.Drafting.Acted(ctx, tx, a, threadID)
	}
	cfg.OnDeleted = func(ctx context.Context, tx queue.Tx, e gmail.DeletedEvent) error {
		return h.Drafting.Deleted(ctx, tx, e)
	}
	return func(ctx context.Context, tx queue.Tx, msg *postroom.Message) error {
		return h.Drafting.Arrived(ctx, tx, msg)
	}, h.draftingLabels().Names()
}

// followMade follows a draft that an action has made as one of the drafts of answers, if those are written here.
func (h *App) followMade(ctx context.Context, tx queue.Tx, d drafting.MadeDraft) error {
	if h.Drafting == nil {
		return nil
	}
	return h.Drafting.Made(ctx, tx, d)
}

const (
	checkSchedule = string(drafting.JobCheck)
	voiceSchedule = string(voice.JobLearn)
)

// checks returns the schedules that find drafts which nobody reports gone, and profiles that are due.
func (h *App) checks() []queue.Schedule {
	if !h.drafts() {
		return nil
	}
	list := []queue.Schedule{{Name: checkSchedule, Cron: "@every 1h", Job: drafting.NewCheckJob("")}}
	if h.Voice != nil {
		list = append(list, queue.Schedule{Name: voiceSchedule, Cron: "23 4 * * *", Job: voice.NewDueJob()})
	}
	return list
}
