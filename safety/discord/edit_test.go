package discord_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/safety/discord"
	"github.com/postroom-go/postroom/safety/discord/discordtest"
)

// The button of a message whose content was edited since approves nothing; a new message shows the edited content.
func TestAButtonFromBeforeAnEdit(t *testing.T) {
	oneHash, otherHash := strings.Repeat("1a", 32), strings.Repeat("2b", 32)
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		var f *fixture
		var content atomic.Pointer[discord.Content]
		content.Store(&discord.Content{Text: "At five.", SHA256: oneHash})
		f = newFixture(t, db, func(c *discord.Config) {
			c.Compose = func(ctx context.Context, a postroom.Action) (discord.Content, error) {
				if a.ContentSHA256 != "" {
					return *content.Load(), nil
				}
				return *content.Load(), db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
					return f.ledger.SetContent(ctx, tx, a.ID, oneHash)
				})
			}
		})
		f.run()
		a, m := f.asked()
		require.Contains(t, m.Text(), "At five.")
		w, err := f.ledger.Waiting(t.Context(), a.ID)
		require.NoError(t, err)
		f.write(time.Now(), func(ctx context.Context, tx queue.Tx) error {
			_, err := safety.NewEditor(f.ledger).Edit(ctx, tx, w.Approval, "ben", otherHash)
			return err
		})
		content.Store(&discord.Content{Text: "At six.", SHA256: otherHash})
		for _, label := range []string{"Approve", "Reject"} {
			require.Equal(t, "It was edited since: look again. Nothing was done; the message is being brought up to date.",
				f.press(discordtest.Press{MessageID: m.ID, Label: label, User: ann}))
		}
		require.Equal(t, postroom.ActionPendingApproval, f.state(a.ID))
		f.work()
		require.Regexp(t, "withdrawn by `ben` .*: `edited`", f.message(m.ID).Text())
		next := f.last()
		require.NotEqual(t, m.ID, next.ID)
		require.Contains(t, next.Text(), "At six.")

		content.Store(&discord.Content{Text: "At five.", SHA256: oneHash}) // read before the edit
		require.Contains(t, f.press(discordtest.Press{MessageID: next.ID, Label: "Show", User: ann}), "That did not work")
		content.Store(&discord.Content{Text: "At six.", SHA256: otherHash})
		require.Equal(t, "Approved. It is being carried out.",
			f.press(discordtest.Press{MessageID: next.ID, Label: "Approve", User: ann}))
	})
}
