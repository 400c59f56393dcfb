package discord

import (
	"context"

	"github.com/bwmarrin/discordgo"

	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/queue"
)

// JobNotice posts a notice once.
const JobNotice queue.Type[Notice] = "approval.notice"

// A Notice is a text for the people of the channel that asks nothing, such as that somebody has to sign in again.
type Notice struct {
	About string `json:"about"` // what it is about; there is one notice of it at a time
	Text  string `json:"text"`  // shown as it is, without mentions; 2,000 characters at most; empty: see ReadNotice of [Config]
}

// NewNoticeJob makes the job that posts a notice. Enqueue it in the transaction of what it is about.
func NewNoticeJob(n Notice) queue.NewJob {
	return JobNotice.New(n, &queue.Options{
		Key: queue.WhileUnfinished(string(JobNotice) + ":" + n.About), MaxAttempts: attempts.Unattended,
	})
}

// notice is the handler of [JobNotice].
func (b *Bot) notice(ctx context.Context, w *queue.Work[Notice]) error {
	nonce, err := short(w.Job.ID)
	if err != nil {
		return queue.Fatal(err)
	}
	text := w.Payload.Text
	if text == "" && b.cfg.ReadNotice != nil {
		if text, err = b.cfg.ReadNotice(ctx, w.Payload.About); err != nil {
			return err
		}
	}
	footer := "notice " + w.Job.ID
	p := posting{channel: b.cfg.Channel, nonce: nonce, body: &discordgo.MessageSend{
		Embeds: []*discordgo.MessageEmbed{{Description: cut(text, 2000), Color: amber,
			Footer: &discordgo.MessageEmbedFooter{Text: footer}}},
		Components: []discordgo.MessageComponent{}, AllowedMentions: noMentions(),
	}}
	if w.Job.Attempt > 1 {
		p.since = w.Job.CreatedAt
	}
	p.mine = func(m *discordgo.Message) bool {
		return len(m.Embeds) == 1 && m.Embeds[0].Footer != nil && m.Embeds[0].Footer.Text == footer
	}
	_, _, err = b.post(ctx, p)
	return err
}
