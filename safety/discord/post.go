package discord

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

// A posting is a message that must be posted exactly once.
type posting struct {
	channel string
	nonce   string // at most 25 characters
	body    *discordgo.MessageSend

	// since is when posting was first tried. It is zero for a first attempt, which need not search.
	since time.Time
	mine  func(*discordgo.Message) bool
}

// post posts the message, or finds the message that an earlier attempt posted.
func (b *Bot) post(ctx context.Context, p posting) (messageID string, found bool, err error) {
	if !p.since.IsZero() {
		if messageID, err = b.search(ctx, p); messageID != "" || err != nil {
			return messageID, true, err
		}
	}
	messageID, err = b.send(ctx, p)
	return messageID, false, err
}

func (b *Bot) send(ctx context.Context, p posting) (messageID string, err error) {
	const op = "post a message"
	endpoint := discordgo.EndpointChannelMessages(p.channel)
	if err := b.limited(op, endpoint); err != nil {
		return "", err
	}
	// discordgo has no fields for the nonce. With it, Discord returns the message of an earlier request to post that was
	// under way.
	body := struct {
		*discordgo.MessageSend
		Nonce        string `json:"nonce"`
		EnforceNonce bool   `json:"enforce_nonce"`
	}{p.body, p.nonce, true}
	answer, err := b.rest.RequestWithBucketID("POST", endpoint, body, endpoint, discordgo.WithContext(ctx))
	if err != nil {
		return "", failed(op, err)
	}
	var m discordgo.Message
	if err := discordgo.Unmarshal(answer, &m); err != nil || m.ID == "" {
		return "", fmt.Errorf("discord: %s: the answer is no message: %w", op, err)
	}
	return m.ID, nil
}

// clockSkew bounds the difference between the local clock and Discord's.
const clockSkew = 15 * time.Minute

// search looks for the message among those since the first attempt.
func (b *Bot) search(ctx context.Context, p posting) (messageID string, err error) {
	const op, page = "look for a message", 100
	me, err := b.user(ctx)
	if err != nil {
		return "", err
	}
	after := snowflake(p.since.Add(-clockSkew))
	for {
		if err := b.limited(op, discordgo.EndpointChannelMessages(p.channel)); err != nil {
			return "", err
		}
		found, err := b.rest.ChannelMessages(p.channel, page, "", after, "", discordgo.WithContext(ctx))
		if err != nil {
			return "", failed(op, err)
		}
		for _, m := range found {
			if m.Author != nil && m.Author.ID == me && p.mine(m) {
				return m.ID, nil
			}
		}
		if len(found) < page {
			return "", nil
		}
		after = found[0].ID // newest first
	}
}

// snowflake returns the id for a time.
func snowflake(t time.Time) string {
	const epoch = 1420070400000
	return strconv.FormatInt(max(0, t.UnixMilli()-epoch)<<22, 10)
}

// postRequest posts the message about a request and records its id.
func (b *Bot) postRequest(ctx context.Context, a *queue.Attempt, r *request, row messageRow, begun bool,
	body *discordgo.MessageSend, shown string) error {
	nonce, err := short(r.approval.ID)
	if err != nil {
		return queue.Fatal(err)
	}
	p := posting{channel: row.ChannelID, nonce: nonce, body: body, mine: func(m *discordgo.Message) bool {
		return hasButtonOf(m, nonce)
	}}
	if begun {
		p.since = row.StartedAt.Time
		if !r.waits() {
			return b.closeLost(ctx, a, p, row)
		}
	} else if err := b.begin(ctx, a, row); err != nil {
		return err
	}
	id, found, err := b.post(ctx, p)
	if err != nil {
		return err
	}
	if found {
		return b.adopt(ctx, a, row, id, body, shown)
	}
	return b.recordPosted(ctx, a, row.ApprovalID, id, shown)
}

// closeLost finds the message of a request that was answered before the message was recorded. If there is none, none
// is posted.
func (b *Bot) closeLost(ctx context.Context, a *queue.Attempt, p posting, row messageRow) error {
	id, err := b.search(ctx, p)
	if err != nil || id == "" {
		return err
	}
	shown, err := fingerprint(p.body)
	if err != nil {
		return err
	}
	return b.adopt(ctx, a, row, id, p.body, shown)
}

// adopt records a message that was found and updates it, since it may show an old version of the request.
func (b *Bot) adopt(ctx context.Context, a *queue.Attempt, row messageRow, id string, body *discordgo.MessageSend,
	shown string) error {
	if err := b.recordPosted(ctx, a, row.ApprovalID, id, ""); err != nil {
		return err
	}
	row.MessageID = id
	return b.editRequest(ctx, a, row, body, shown)
}

func (b *Bot) recordPosted(ctx context.Context, a *queue.Attempt, approvalID, messageID, shown string) error {
	return a.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, setPosted, messageID, shown, dbtime.Of(queue.Now(tx)), approvalID)
		return err
	})
}

// hasButtonOf reports whether the message has a button of the request.
func hasButtonOf(m *discordgo.Message, request string) bool {
	for _, c := range m.Components {
		row, ok := c.(*discordgo.ActionsRow)
		if !ok {
			continue
		}
		for _, c := range row.Components {
			one, ok := c.(*discordgo.Button)
			if ok && strings.HasPrefix(one.CustomID, buttonPrefix+":") && strings.Contains(one.CustomID, ":"+request+":") {
				return true
			}
		}
	}
	return false
}

// editRequest updates the message about a request. A message that somebody has deleted stays deleted.
func (b *Bot) editRequest(ctx context.Context, a *queue.Attempt, row messageRow, body *discordgo.MessageSend,
	shown string) error {
	const op = "edit a message"
	if err := b.limited(op, discordgo.EndpointChannelMessage(row.ChannelID, "")); err != nil {
		return err
	}
	_, err := b.rest.ChannelMessageEditComplex(&discordgo.MessageEdit{
		Channel: row.ChannelID, ID: row.MessageID, Embeds: &body.Embeds, Components: &body.Components,
		AllowedMentions: body.AllowedMentions,
	}, discordgo.WithContext(ctx))
	err = failed(op, err)
	gone := 0
	if hasCode(err, codeUnknownMessage) {
		gone = 1
	} else if err != nil {
		return err
	}
	return a.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, setShown, shown, gone, row.ApprovalID)
		return err
	})
}
