package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/drafting"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/gmail/replies"
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
	h.Drafting, err = drafting.New(drafting.Config{Store: h.Mail, Queue: h.Queue, Replies: h.Replies, Drafts: made,
		Clients: h.Clients, Writer: writer{composer}, Labels: h.draftingLabels(),
		PerDay: h.Env.Config.Replies.PerDay, Held: h.Ledger.Held, Logger: h.Log})
	return err
}

// A writer has a model write.
type writer struct{ composer *compose.Composer }

func (w writer) Write(ctx context.Context, r drafting.Request) (string, error) {
	return w.composer.Write(ctx, compose.Request{AccountID: r.AccountID, Message: r.Message, Thread: r.Thread,
		Text: r.Text, Instruction: r.Instruction})
}

// follow has the drafts follow what happens in the mailboxes. The service is made after the pipeline, which has what it
// needs.
func (h *App) follow(cfg *gmail.Config) (arrived func(context.Context, queue.Tx, *postroom.Message) error,
	labels []string) {
	if !h.drafts() {
		return nil, nil
	}
	cfg.OnLabelsChanged = func(ctx context.Context, tx queue.Tx, e gmail.LabelsEvent) error {
		return h.Drafting.LabelsChanged(ctx, tx, e)
	}
	cfg.OnDeleted = func(ctx context.Context, tx queue.Tx, e gmail.DeletedEvent) error {
		return h.Drafting.Deleted(ctx, tx, e)
	}
	return func(ctx context.Context, tx queue.Tx, msg *postroom.Message) error {
		return h.Drafting.Arrived(ctx, tx, msg)
	}, h.draftingLabels().Names()
}

const checkSchedule = string(drafting.JobCheck)

// checks returns the schedule that finds drafts which nobody reports gone.
func (h *App) checks() []queue.Schedule {
	if !h.drafts() {
		return nil
	}
	return []queue.Schedule{{Name: checkSchedule, Cron: "@every 1h", Job: drafting.NewCheckJob("")}}
}

// forgetReplies deletes what is kept of the answers of a mailbox.
func (h *App) forgetReplies(ctx context.Context, accountID string) error {
	err := h.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		return errors.Join(h.Replies.Forget(ctx, tx, accountID), drafting.Forget(ctx, tx, accountID))
	})
	if err != nil {
		err = fmt.Errorf("answers: %w", err)
	}
	return err
}
