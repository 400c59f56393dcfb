package discord_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/discord"
	"github.com/postroom-go/postroom/safety/discord/discordtest"
)

// Requests of one group are one message with all of them, and one press answers them.
func TestAGroupIsOneMessage(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		f := newFixture(t, db, func(cfg *discord.Config) {
			cfg.Summarize = func(_ context.Context, a postroom.Action) (string, error) {
				return string(a.Type) + " as it was shown", nil
			}
		})
		f.run()
		ask := func(action postroom.ActionType, account string) (actions []postroom.Action, m discordtest.Message) {
			for i := range 6 {
				actions = append(actions, f.ask(time.Now(), func(msg *postroom.Message, d *postroom.Decision) {
					msg.AccountID, msg.Subject, d.Action = account, fmt.Sprintf("number %d", i), action
				}))
				f.work()
			}
			list := f.server.Messages()
			return actions, list[len(list)-1]
		}
		trash, m := ask(postroom.Trash, "a")
		require.Len(t, f.server.Messages(), 4, "three stand alone, and the others are one")
		field := m.Embeds[0].Fields[len(m.Embeds[0].Fields)-2]
		require.Equal(t, "With 2 more, which the answer is for as well", field.Name)
		require.Equal(t, "`trash as it was shown` from `a@example.com`: `number 4`\n"+
			"`trash as it was shown` from `a@example.com`: `number 5`", field.Value)

		late := f.ask(time.Now(), func(msg *postroom.Message, d *postroom.Decision) {
			msg.AccountID, d.Action = "a", postroom.Trash
		})
		require.Equal(t, stale, f.press(discordtest.Press{MessageID: m.ID, Label: "Approve", User: ann}), "it has grown")
		f.work()
		require.Contains(t, f.press(discordtest.Press{MessageID: m.ID, Label: "Approve", User: ann}), "Approved.")
		for _, a := range append(trash[3:], late) {
			require.Equal(t, postroom.ActionQueued, f.state(a.ID))
		}
		require.Equal(t, postroom.ActionPendingApproval, f.state(trash[0].ID))

		ask(postroom.Delete, "b")
		require.Len(t, f.server.Messages(), 10, "what cannot be undone is asked about one by one")
	})
}

// What the message does not list is not approved with it, and all of it is rejected.
func TestALargeGroupIsOnlyRejected(t *testing.T) {
	f := newFixture(t, dbtest.SQLite(t), nil)
	f.run()
	var last postroom.Action
	for range 15 {
		last = f.ask(time.Now(), inGroup)
	}
	f.work()
	m := f.last()
	fields := m.Embeds[0].Fields
	require.Equal(t, "With 11 more, which the answer is for as well", fields[len(fields)-3].Name)
	require.Contains(t, fields[len(fields)-2].Value, "and 1 more")
	_, err := f.server.Press(discordtest.Press{MessageID: m.ID, Label: "Approve", User: ann})
	require.ErrorContains(t, err, "no button")
	require.Contains(t, f.press(discordtest.Press{MessageID: m.ID, Label: "Reject", User: ann}), "Rejected.")
	require.Equal(t, postroom.ActionRejected, f.state(last.ID))
}

// A message of one that is answered elsewhere is followed by one of the next.
func TestTheNextOfAGroupIsAsked(t *testing.T) {
	f := newFixture(t, dbtest.SQLite(t), nil)
	var actions []postroom.Action
	for range 6 {
		actions = append(actions, f.ask(time.Now(), inGroup))
	}
	f.work()
	require.Len(t, f.server.Messages(), 4)
	f.write(time.Now(), func(ctx context.Context, tx queue.Tx) error {
		_, err := f.ledger.Reject(ctx, tx, actions[3].ID, "ann", "")
		return err
	})
	f.work()
	require.Len(t, f.server.Messages(), 5)
	require.Contains(t, f.last().Embeds[0].Fields[6].Name, "With 1 more")
}

// One that can no longer be approved keeps the others from nothing.
func TestOneOfAGroupCanNoLongerBeApproved(t *testing.T) {
	f := newFixture(t, dbtest.SQLite(t), nil)
	f.run()
	var actions []postroom.Action
	for i := range 6 {
		until := time.Now().Add(time.Hour)
		if i == 4 {
			until = time.Now().Add(-time.Minute)
		}
		actions = append(actions, f.ask(time.Now().Add(-time.Hour), func(msg *postroom.Message, d *postroom.Decision) {
			inGroup(msg, d)
			d.Action, d.NeedsApproval = postroom.Snooze, true
			d.Parameters = postroom.Parameters{"until": until.Format(time.RFC3339)}
		}))
	}
	f.work()
	said := f.press(discordtest.Press{MessageID: f.last().ID, Label: "Approve", User: ann})
	require.Contains(t, said, "Approved.")
	require.Contains(t, said, "1 of 3 can no longer be approved")
	for i, state := range []postroom.ActionState{3: postroom.ActionQueued, 4: postroom.ActionPendingApproval,
		5: postroom.ActionQueued} {
		if state != "" {
			require.Equal(t, state, f.state(actions[i].ID))
		}
	}
	f.work()
	require.Len(t, f.server.Messages(), 5, "what was skipped is asked about")
}

// The message about a group ends when its first request expires, and the next has one of its own.
func TestTheFirstOfAGroupExpires(t *testing.T) {
	f := newFixture(t, dbtest.SQLite(t), nil)
	var actions []postroom.Action
	for range 6 {
		actions = append(actions, f.ask(time.Now(), inGroup))
	}
	f.work()
	first, err := f.ledger.ApprovalsOf(t.Context(), actions[3].ID)
	require.NoError(t, err)
	f.write(time.Now(), func(ctx context.Context, tx queue.Tx) error {
		if _, err := tx.ExecContext(ctx, "UPDATE approvals SET expires_at = requested_at WHERE id = $1",
			first[0].ID); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "UPDATE jobs SET not_before = created_at WHERE type = 'approval.expire'")
		return err
	})
	ctx, stop := context.WithCancel(t.Context())
	ended, dispatcher := make(chan error, 1), f.dispatcher()
	go func() { ended <- dispatcher.Run(ctx) }()
	f.await(func() bool { return len(f.server.Messages()) == 5 })
	stop()
	require.NoError(t, <-ended)
	require.Contains(t, f.last().Embeds[0].Fields[6].Name, "With 1 more")
}

func inGroup(msg *postroom.Message, d *postroom.Decision) {
	msg.AccountID, d.Action = "a", postroom.Trash
}
