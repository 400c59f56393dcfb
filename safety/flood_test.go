package safety

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/events"
)

// A flood from one address hides the mail of nobody else who has the same provider, or whom nothing verifies either.
func TestAFloodHidesNoOtherSender(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		for name, send := range map[string]func(from string) *postroom.Message{
			"a provider of mailboxes": func(from string) *postroom.Message { return received(from + "@gmail.com") },
			"not verified":            func(from string) *postroom.Message { return message(from + "@example.com") },
		} {
			for _, action := range []postroom.ActionType{postroom.Trash, postroom.Delete} {
				d := newDesk(t, db, nil)
				record := func(from string) postroom.ActionState {
					msg := send(from)
					msg.AccountID = name + string(action)
					return d.record(msg, model(action, 1)).State
				}
				for range mostAsked {
					require.Equal(t, postroom.ActionPendingApproval, record("mallory"), name)
				}
				require.Equal(t, postroom.ActionCanceled, record("mallory"), name)
				require.Equal(t, postroom.ActionCanceled, record("MALLORY+1"), "another spelling of the mailbox")
				require.Equal(t, postroom.ActionPendingApproval, record("ann"), name)
			}
		}
	})
}

// A flood from many addresses that nobody has verified is one group, and bounded.
func TestAFloodOfForgedSenders(t *testing.T) {
	d := newDesk(t, dbtest.SQLite(t), nil)
	for i := range 300 {
		d.record(message(fmt.Sprintf("a@mallory%d.example", i)), model(postroom.Trash, 1))
	}
	require.Len(t, d.asked, 4, "three alone, and the others together")
	n, err := d.ledger.CountApprovals(t.Context())
	require.NoError(t, err)
	require.Equal(t, 200, n)
}

// People are told once a day that the rest of a group is not asked about.
func TestPeopleAreToldThatTheRestIsNotAsked(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		var told []events.Event
		d := newDesk(t, db, func(c *Config) {
			c.Notify = func(_ context.Context, _ queue.Tx, e events.Event) error {
				told = append(told, e)
				return nil
			}
		})
		flood := func(from string, n int) {
			for range n {
				d.record(received(from), model(postroom.Trash, 1))
			}
		}
		flood("mallory@gmail.com", mostAsked)
		require.Empty(t, told, "all of it was asked")
		again := received("mallory@gmail.com")
		for range 2 {
			d.record(again, model(postroom.Trash, 1))
		}
		flood("mallory@gmail.com", 20)
		require.Len(t, told, 1)
		until := d.now.Add(24 * time.Hour).UTC().Format(time.RFC3339)
		require.Equal(t, events.NotAsked, told[0].Kind)
		require.Equal(t, "account-1", told[0].AccountID)
		require.Equal(t, postroom.SourceModel, told[0].Source)
		require.Equal(t, "models have caused 50 requests about mail of mallory@gmail.com within a day; what they decide "+
			"about more of it is not done, and you are not asked, until "+until, told[0].Why)
		flood("mallory@example.com", mostAsked+20)
		require.Len(t, told, 2, "another group")
		require.Contains(t, told[1].Why, "about mail of example.com within")
		for i := range 60 {
			d.record(received(fmt.Sprintf("no-reply@bank%d.example", i)), model(postroom.Archive, 1))
		}
		require.Contains(t, told[2].Why, "about notices within")

		d.now = d.now.Add(24*time.Hour + time.Second)
		flood("mallory@gmail.com", mostAsked)
		require.Len(t, told, 3)
		flood("mallory@gmail.com", 20)
		require.Len(t, told, 4, "the next day")
		list, err := d.ledger.Events().List(t.Context(), 10)
		require.NoError(t, err)
		require.Len(t, list, 4)
	})
}
