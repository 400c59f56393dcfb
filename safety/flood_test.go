package safety

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	for i := range 400 {
		d.record(message(fmt.Sprintf("a@mallory%d.example", i)), model(postroom.Trash, 1))
	}
	require.Len(t, d.asked, 4, "three alone, and the others together")
	n, err := d.ledger.CountApprovals(t.Context())
	require.NoError(t, err)
	require.Equal(t, 300, n)
}

// addressBook has the addresses that the user has written to.
type addressBook []string

func (b addressBook) WrittenTo(_ context.Context, _, email string) (bool, error) {
	return slices.Contains(b, email), nil
}

// A flood from a few addresses that many senders share leaves room for the question about another sender, and for
// those about a sender that the user has written to.
func TestAFloodLeavesRoomForOthers(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		var told []events.Event
		d := newDesk(t, db, func(c *Config) {
			c.Correspondents = addressBook{"mum@example.org"}
			c.Notify = func(_ context.Context, _ queue.Tx, e events.Event) error {
				told = append(told, e)
				return nil
			}
		})
		asked := func(from string) bool {
			return d.record(message(from), model(postroom.Trash, 1)).State == postroom.ActionPendingApproval
		}
		for i := range 4 * mostAsked {
			require.True(t, asked(fmt.Sprintf("a@mallory%d.example", i%4)))
		}
		for range 3 {
			require.True(t, asked("ann@example.com"), "a sender with fewer than three requests")
		}
		require.False(t, asked("ann@example.com"))
		for range 10 {
			require.True(t, asked("mum@example.org"), "the user has written to her")
		}
		for i := range 200 {
			asked(fmt.Sprintf("c@mallory%d.example", i))
		}
		require.False(t, asked("bob@example.com"), "the room for strangers is full as well")
		for range mostAsked - 10 {
			require.True(t, asked("mum@example.org"))
		}
		require.False(t, asked("mum@example.org"), "no sender has more than this")
		require.Len(t, told, 2)
		require.Contains(t, told[0].Why, "models have caused 203 requests about mail of senders that are not verified within")
		require.Contains(t, told[0].Why, "; you are still asked about each other sender's first 3, up to 300 in all, and "+
			"about senders that you have written to, up to 400")
		require.Contains(t, told[1].Why, "mail of mum@example.org")
		require.NotContains(t, told[1].Why, "still asked")
	})
}

// Requests about senders that the user has written to are bounded too: anyone can write their addresses.
func TestAFloodInTheNameOfKnownSendersIsBounded(t *testing.T) {
	var friends addressBook
	for i := range 10 {
		friends = append(friends, fmt.Sprintf("friend%d@example.org", i))
	}
	d := newDesk(t, dbtest.SQLite(t), func(c *Config) { c.Correspondents = friends })
	for i := range 500 {
		d.record(message(friends[i%10]), model(postroom.Trash, 1))
	}
	n, err := d.ledger.CountApprovals(t.Context())
	require.NoError(t, err)
	require.Equal(t, 400, n)
}

// What cannot be found out about a sender is tried again with the decision.
func TestAFaultOfCorrespondents(t *testing.T) {
	d := newDesk(t, dbtest.SQLite(t), func(c *Config) { c.Correspondents = brokenBook{} })
	_, err := d.act(func(ctx context.Context, tx queue.Tx) (postroom.Action, error) {
		return d.ledger.Record(ctx, message("a@example.com"), model(postroom.Trash, 1))(ctx, tx)
	})
	require.ErrorIs(t, err, errBook)
	require.Equal(t, postroom.ActionQueued, d.record(message("a@example.com"), rule(postroom.Archive, "")).State,
		"it is not asked about decisions of rules")
	_, err = NewLedger(Config{DB: d.db, Correspondents: (*nilBook)(nil),
		Execute: func(context.Context, queue.Tx, postroom.Action) error { return nil }})
	require.ErrorContains(t, err, "Config.Correspondents")
}

var errBook = errors.New("the address book is broken")

type brokenBook struct{}

func (brokenBook) WrittenTo(context.Context, string, string) (bool, error) { return false, errBook }

type nilBook struct{ brokenBook }

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
