package app

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/discord"
	"github.com/postroom-go/postroom/safety/webhook"
)

// NewBot makes the bot for the configured channel, and permits the configured people to answer there.
func (h *App) NewBot(ctx context.Context) (err error) {
	if !h.Env.AsksDiscord() {
		return nil
	}
	d := h.Env.Config.Discord
	h.bot, err = discord.New(discord.Config{
		DB: h.DB, Queue: h.Queue, Ledger: h.Ledger, Token: string(d.BotToken), Channel: d.ChannelID,
		Summarize: h.summarizeAction, ReadNotice: h.readDiscordNotice,
		Compose: h.composeAction, RemindAfter: remindAfter(d.Remind), Endpoint: d.Endpoint, Gateway: d.Gateway,
		Logger: h.Log,
	})
	if err != nil {
		return err
	}
	return h.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		return discord.SetWhitelist(ctx, tx, h.Env.Whitelist())
	})
}

// remindAfter is less than the time between two digests, so that a digest that is a little early omits nothing.
func remindAfter(every time.Duration) time.Duration { return every - every/10 }

func (h *App) summarizeAction(ctx context.Context, a postroom.Action) (string, error) {
	names, err := h.LabelNames(ctx)
	if err != nil {
		return "", err
	}
	account, err := h.Mail.Account(ctx, a.AccountID)
	if errors.Is(err, postroom.ErrNotFound) {
		return Describe(a, names) + " in a mailbox that was removed", nil
	}
	if err != nil {
		return "", err
	}
	return Describe(a, names) + " in " + account.Email, nil
}

// composeAction composes the content of an action and returns it in the form of 'approvals show'.
func (h *App) composeAction(ctx context.Context, a postroom.Action) (discord.Content, error) {
	p, err := h.Preview(ctx, a)
	if gmailapi.ClassOf(err) == gmailapi.ClassRefused {
		return discord.Content{Refused: errors.Unwrap(err).Error()}, nil
	}
	if err != nil || p == nil {
		return discord.Content{}, err
	}
	var text strings.Builder
	err = printer.Message(&text, p.Message)
	return discord.Content{Text: text.String(), SHA256: p.SHA256}, err
}

// listen handles answers from the channel until ctx is done. Without it people answer at the command line.
func (h *App) listen(ctx context.Context) {
	if h.bot == nil {
		return
	}
	if err := h.bot.Run(ctx); err != nil {
		h.Log.Error("nobody can answer at Discord; requests are answered with 'postroomd approvals'", "error", err)
	}
}

// newSender makes the sender for the configured URL.
func (h *App) newSender() (err error) {
	w := h.Env.Config.Webhook
	if w.URL == "" {
		return nil
	}
	h.sender, err = webhook.New(webhook.Config{Ledger: h.Ledger, URL: w.URL, Secret: string(w.Secret),
		AllowPrivate: w.AllowPrivate, ReadNotice: h.readWebhookNotice})
	return err
}
