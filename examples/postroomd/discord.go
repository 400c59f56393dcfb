package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/safety/discord"
)

// asksDiscord reports whether requests for approval are asked in a channel.
func (s *site) asksDiscord() bool { return s.cfg.Discord.ChannelID != "" }

// checkDiscord returns an error if the settings for asking in a channel are incomplete.
func (s *site) checkDiscord() error {
	d := s.cfg.Discord
	switch {
	case d.ChannelID == "" && (d.BotToken != "" || len(d.Whitelist) > 0):
		return usage.Errorf("discord.bot_token or discord.whitelist is set, and discord.channel_id is not; name the channel to ask in")
	case d.ChannelID != "" && d.BotToken == "":
		return usage.Errorf("discord.channel_id is set, and discord.bot_token is not; set it, as in bot_token = \"env:DISCORD_BOT_TOKEN\"")
	}
	return s.checkDiscordApprovers()
}

// checkDiscordApprovers returns an error if a person on the whitelist could never answer.
func (s *site) checkDiscordApprovers() error {
	approvers := s.cfg.Policy.Approvers
	if len(approvers) == 0 {
		return nil
	}
	for _, p := range s.whitelist() {
		if !slices.Contains(approvers, p.Name) {
			return usage.Errorf("discord.whitelist has %s=%s, and policy.approvers has no %q; add the name, or leave policy.approvers empty", p.UserID, p.Name, p.Name)
		}
	}
	return nil
}

// whitelist returns the configured people, as ID or ID=name.
func (s *site) whitelist() []discord.Person {
	var people []discord.Person
	for _, entry := range s.cfg.Discord.Whitelist {
		id, name, _ := strings.Cut(entry, "=")
		if name == "" {
			name = "discord:" + id
		}
		people = append(people, discord.Person{UserID: id, Name: name})
	}
	return people
}

// ask is called after a request for approval.
func (h *host) ask(ctx context.Context, tx queue.Tx, a postroom.Action) error {
	request, err := h.ledger.OpenRequestTx(ctx, tx, a.ID)
	if err != nil {
		return err
	}
	return h.tellDoors(ctx, tx, request)
}

// tellDoors is called after a request for approval, and after its answer from anywhere. It enqueues the jobs that update the
// places where people are asked.
func (h *host) tellDoors(ctx context.Context, tx queue.Tx, request safety.Approval) error {
	if err := h.tellWebhook(ctx, tx, request); err != nil {
		return err
	}
	if !h.asksDiscord() {
		return nil
	}
	_, err := h.queue.EnqueueTx(ctx, tx, discord.NewNotifyJob(request.ActionID))
	return err
}

// newBot makes the bot for the configured channel, and permits the configured people to answer there.
func (h *host) newBot(ctx context.Context) (err error) {
	if !h.asksDiscord() {
		return nil
	}
	d := h.cfg.Discord
	h.bot, err = discord.New(discord.Config{
		DB: h.db, Queue: h.queue, Ledger: h.ledger, Token: string(d.BotToken), Channel: d.ChannelID, Summarize: h.summarizeAction,
		Compose: h.composeAction, RemindAfter: remindAfter(d.Remind), Endpoint: d.Endpoint, Gateway: d.Gateway, Logger: h.log,
	})
	if err != nil {
		return err
	}
	return h.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		return discord.SetWhitelist(ctx, tx, h.ledger, h.whitelist())
	})
}

// remindAfter is less than the time between two digests, so that a digest that is a little early omits nothing.
func remindAfter(every time.Duration) time.Duration { return every - every/10 }

func (h *host) summarizeAction(ctx context.Context, a postroom.Action) (string, error) {
	names, err := h.labelNames(ctx)
	if err != nil {
		return "", err
	}
	account, err := h.mail.Account(ctx, a.AccountID)
	if errors.Is(err, postroom.ErrNotFound) {
		return describe(a, names) + " in a mailbox that was removed", nil
	}
	if err != nil {
		return "", err
	}
	return describe(a, names) + " in " + account.Email, nil
}

// composeAction composes the content of an action and returns it in the form of 'approvals show'.
func (h *host) composeAction(ctx context.Context, a postroom.Action) (discord.Content, error) {
	p, sends, err := h.preview(ctx, a)
	if gmail.ClassOf(err) == gmail.ClassRefused {
		return discord.Content{Refused: errors.Unwrap(err).Error()}, nil
	}
	if err != nil || !sends {
		return discord.Content{}, err
	}
	var text strings.Builder
	err = printer.Message(&text, p.Message)
	return discord.Content{Text: text.String()}, err
}

// listen handles answers from the channel until ctx is done. Without it people answer at the command line.
func (d *daemon) listen(ctx context.Context) {
	if d.bot == nil {
		return
	}
	if err := d.bot.Run(ctx); err != nil {
		d.log.Error("nobody can answer at Discord; requests are answered with 'postroomd approvals'", "error", err)
	}
}
