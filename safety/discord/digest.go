package discord

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
)

// digestStep is the step that chooses the requests of a digest, and records them as reminded.
const digestStep = "choose"

// digestSize is the maximum number of requests that a digest lists. The digest gives the number of the others.
const digestSize = 15

// A chosen is the content of a digest.
type chosen struct {
	Lines []string  `json:"lines"`
	More  int       `json:"more"`
	At    time.Time `json:"at"`
}

// digest is the handler of [JobDigest]. The content is chosen once for the job, however often it is tried.
func (b *Bot) digest(ctx context.Context, w *queue.Work[DigestPayload]) error {
	candidates, err := b.waiting(ctx)
	if err != nil || len(candidates) == 0 {
		return err
	}
	server, err := b.server(ctx)
	if err != nil {
		return err
	}
	c, err := queue.StepTx(ctx, w, digestStep, func(ctx context.Context, tx queue.Tx) (chosen, error) {
		return b.choose(ctx, tx, candidates, server)
	})
	if err != nil || len(c.Lines) == 0 {
		return err
	}
	nonce, err := short(w.Job.ID)
	if err != nil {
		return queue.Fatal(err)
	}
	footer := "digest " + w.Job.ID
	p := posting{channel: b.cfg.Channel, nonce: nonce, body: c.body(footer)}
	if w.Job.Attempt > 1 {
		p.since = c.At
	}
	p.mine = func(m *discordgo.Message) bool {
		return len(m.Embeds) == 1 && m.Embeds[0].Footer != nil && m.Embeds[0].Footer.Text == footer
	}
	_, _, err = b.post(ctx, p)
	return err
}

// waiting returns the requests that can be approved, oldest first, with their lines.
func (b *Bot) waiting(ctx context.Context) ([]safety.Waiting, error) {
	var all []safety.Waiting
	f := safety.Filter{Limit: 100}
	for {
		page, err := b.cfg.Ledger.Approvals(ctx, f)
		if err != nil {
			return nil, err
		}
		for _, w := range page {
			all = append([]safety.Waiting{w}, all...)
		}
		if len(page) < f.Limit {
			return all, nil
		}
		f.Before = page[len(page)-1].Action.ID
	}
}

// choose picks the requests that are due, and records them as reminded.
func (b *Bot) choose(ctx context.Context, tx queue.Tx, candidates []safety.Waiting, server string) (chosen, error) {
	now := queue.Now(tx)
	c := chosen{At: now}
	for _, w := range candidates {
		row, ok, err := b.message(ctx, tx, w.Approval.ID)
		if err != nil {
			return c, err
		}
		if !ok && w.Approval.Group != "" && !w.Approval.RequestedAt.After(now.Add(-b.cfg.RemindAfter)) {
			// It has joined others that were answered since, and has no message of its own.
			_, err := tx.ExecContext(ctx, insertMessage, w.Approval.ID, w.Action.ID, b.cfg.Channel, dbtime.Of(now))
			if err != nil {
				return c, fmt.Errorf("discord: choose what to remind of: %w", err)
			}
			row, ok = messageRow{PostedAt: dbtime.Of(w.Approval.RequestedAt)}, true
		}
		if !ok || !now.Before(w.Approval.ExpiresAt) || !row.due(now, b.cfg.RemindAfter) {
			continue
		}
		if _, err := tx.ExecContext(ctx, setReminded, dbtime.Of(now), w.Approval.ID); err != nil {
			return c, fmt.Errorf("discord: choose what to remind of: %w", err)
		}
		if len(c.Lines) == digestSize {
			c.More++
			continue
		}
		c.Lines = append(c.Lines, digestLine(w, row, server))
	}
	return c, nil
}

// digestLine links to the message of a request, unless the message was deleted.
func digestLine(w safety.Waiting, row messageRow, server string) string {
	line := code(string(w.Action.Type), 40) + " " + code(w.Decision.Subject, 80)
	if row.MessageID != "" && row.Gone == 0 {
		line += fmt.Sprintf(" [look](https://discord.com/channels/%s/%s/%s)", server, row.ChannelID, row.MessageID)
	}
	return line + ", expires " + stamp(w.Approval.ExpiresAt, "R")
}

func (c *chosen) body(footer string) *discordgo.MessageSend {
	n := len(c.Lines) + c.More
	title := "1 request waits for approval"
	if n != 1 {
		title = fmt.Sprintf("%d requests wait for approval", n)
	}
	text := strings.Join(c.Lines, "\n")
	if c.More > 0 {
		text += fmt.Sprintf("\nand %d more", c.More)
	}
	return &discordgo.MessageSend{
		Embeds: []*discordgo.MessageEmbed{{
			Title: title, Description: text, Color: amber, Footer: &discordgo.MessageEmbedFooter{Text: footer},
		}},
		Components: []discordgo.MessageComponent{}, AllowedMentions: noMentions(),
	}
}
