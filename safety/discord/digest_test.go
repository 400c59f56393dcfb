package discord_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/safety/discord"
	"github.com/postroom-go/postroom/safety/discord/discordtest"
)

// digest runs the job and returns the digests so far.
func (f *fixture) digest() []discordtest.Message {
	f.t.Helper()
	_, err := f.queue.Enqueue(f.t.Context(), discord.NewDigestJob())
	require.NoError(f.t, err)
	f.work()
	var found []discordtest.Message
	for _, m := range f.server.Messages() {
		if m.Embeds[0].Footer.Text[:7] == "digest " {
			found = append(found, m)
		}
	}
	return found
}

// age makes all messages a day older.
func (f *fixture) age() {
	f.t.Helper()
	f.write(time.Now(), func(ctx context.Context, tx queue.Tx) error {
		past := time.Now().UTC().Add(-25 * time.Hour).Format("2006-01-02T15:04:05.000000Z")
		_,
			err := tx.ExecContext(ctx,
			"UPDATE discord_messages SET posted_at = $1, reminded_at = CASE WHEN reminded_at IS NULL THEN NULL ELSE posted_at END", past)
		return err
	})
}

func TestADigestRemindsOfEachRequestOnceADay(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		require.Empty(t, f.digest(), "nothing waits")
		a, m := f.asked()
		require.Empty(t, f.digest(), "it was posted just now")

		f.age()
		digests := f.digest()
		require.Len(t, digests, 1)
		require.Contains(t, digests[0].Text(),
			"1 request waits for approval\n`delete` `Hello` [look](https://discord.com/channels/772904309264089089/"+
				m.ChannelID+"/"+m.ID+"), expires <t:")
		require.JSONEq(t, `{"parse":[],"replied_user":false}`, string(digests[0].AllowedMentions))
		require.Len(t, f.digest(), 1, "it was reminded of")

		f.asked() // a new one has its day
		require.Len(t, f.digest(), 1)
		f.write(time.Now(), func(ctx context.Context, tx queue.Tx) error {
			_, err := tx.ExecContext(ctx, "UPDATE discord_messages SET reminded_at = posted_at")
			return err
		})
		f.age()
		f.answer(a.ID, safety.OutcomeApproved, "carol")
		f.write(time.Now(), func(ctx context.Context, tx queue.Tx) error {
			_, err := tx.ExecContext(ctx, "UPDATE discord_messages SET reminded_at = NULL")
			return err
		})
		digests = f.digest()
		require.Len(t, digests, 2, "the other one waits")
		require.Contains(t, digests[1].Text(), "1 request waits")
		f.work()
	})
}

func TestADigestIsPostedOnceWhateverFails(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		for i := range 17 {
			f.ask(time.Now(), func(m *postroom.Message, _ *postroom.Decision) { m.Subject = "mail " + strconv.Itoa(i) })
		}
		f.work()
		f.age()
		f.server.Fault(
			discordtest.Fault{Method: "POST", Cut: discordtest.CutAfter},
			discordtest.Fault{Path: "/users/@me", Status: 500, Times: 2},
		)
		digests := f.digest()
		require.Len(t, digests, 1)
		require.Contains(t, digests[0].Text(), "17 requests wait for approval")
		require.Contains(t, digests[0].Text(), "`mail 0`")
		require.Contains(t, digests[0].Text(), "\nand 2 more")
		require.Empty(t, f.jobs(queue.Filter{States: []queue.State{queue.StateFailed}}))
	})
}

func TestADigestLeavesOutWhatHasExpired(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.asked()
		f.age()
		f.write(time.Now(), func(ctx context.Context, tx queue.Tx) error {
			_, err := tx.ExecContext(ctx, "UPDATE approvals SET expires_at = requested_at")
			return err
		})
		require.Empty(t, f.digest())
	})
}
