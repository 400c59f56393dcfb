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
	"github.com/postroom-go/postroom/safety/stop"
)

const (
	tampered = "It is not what was asked: the action, its decision or the request was altered in the database. Nothing was done; it can be rejected."
	stale    = "This button is not one of the request as it is now. Nothing was done; the message is being brought up to date."
	unlisted = "You are not on the list of those who decide here. Nothing was done."
)

func customID(t *testing.T, m discordtest.Message, label string) string {
	t.Helper()
	b, ok := m.Button(label)
	require.True(t, ok)
	require.LessOrEqual(t, len(b.CustomID), 100)
	return b.CustomID
}

func TestPresses(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.run()
		for name, test := range map[string]func(t *testing.T, f *fixture){
			"approve": testApprove, "reject": testReject, "show": testShow, "unlisted": testUnlisted, "forged": testForged,
			"altered in the database": testAltered, "renewed": testRenewed, "expired": testExpired, "answered elsewhere": testFirstWins,
			"twice": testTwice, "others' buttons": testOthers, "bots": testBots,
		} {
			t.Run(name, func(t *testing.T) {
				f.executed.Store(nil)
				test(t, f)
			})
		}
	})
}

func testApprove(t *testing.T, f *fixture) {
	a, m := f.asked()
	require.Equal(t, "Approved. It is being carried out.",
		f.press(discordtest.Press{MessageID: m.ID, Label: "Approve", User: ann}))
	require.Equal(t, []string{a.ID}, f.done())
	f.work()
	require.Contains(t, f.message(m.ID).Text(), "approved by `ann`")
}

func testReject(t *testing.T, f *fixture) {
	a, m := f.asked()
	require.Equal(t, "Rejected. It is not done.",
		f.press(discordtest.Press{MessageID: m.ID, Label: "Reject", User: ben, Direct: true}))
	require.Empty(t, f.done())
	require.Equal(t, postroom.ActionRejected, f.state(a.ID))
	f.work()
	require.Contains(t, f.message(m.ID).Text(), "rejected by `discord:"+ben.ID+"`")
}

func testShow(t *testing.T, f *fixture) {
	f.ask(time.Now(), func(_ *postroom.Message, d *postroom.Decision) {
		d.Parameters = postroom.Parameters{"note": "```@everyone"}
	})
	f.work()
	said := f.press(discordtest.Press{MessageID: f.last().ID, Label: "Show", User: ann})
	require.Contains(t, said, "Parameters: ```\n{\n  \"note\": \"ˋˋˋ@everyone\"\n}\n```")
	require.Empty(t, f.done())
}

func testUnlisted(t *testing.T, f *fixture) {
	a, m := f.asked()
	for _, label := range []string{"Approve", "Reject", "Show"} {
		require.Equal(t, unlisted, f.press(discordtest.Press{MessageID: m.ID, Label: label, User: mallory}))
	}
	require.Equal(t, postroom.ActionPendingApproval, f.state(a.ID))
	// Who is taken off the list may no longer press what they saw while they were on it.
	list, err := discord.Whitelist(t.Context(), f.db)
	require.NoError(t, err)
	require.Equal(t, []discord.Person{{UserID: ann.ID, Name: "ann"}, {UserID: ben.ID, Name: "discord:" + ben.ID}}, list)
	set := func(people []discord.Person) {
		f.write(time.Now(), func(ctx context.Context, tx queue.Tx) error { return discord.SetWhitelist(ctx, tx, people) })
	}
	set(list[:1])
	defer set(list)
	require.Equal(t, unlisted, f.press(discordtest.Press{MessageID: m.ID, Label: "Approve", User: ben}))
	require.Equal(t, postroom.ActionPendingApproval, f.state(a.ID))
}

func testForged(t *testing.T, f *fixture) {
	a, m := f.asked()
	b, other := f.asked()
	id := customID(t, m, "Approve")
	parts := strings.Split(id, ":")
	for name, p := range map[string]discordtest.Press{
		"on another request's message":    {MessageID: other.ID, CustomID: id},
		"on the message of nobody":        {MessageID: f.server.Write(mallory, "look").ID, CustomID: id},
		"in another channel":              {MessageID: m.ID, Label: "Approve", ChannelID: "772908445358620999"},
		"with another verb":               {MessageID: m.ID, CustomID: strings.Replace(customID(t, m, "Show"), ":show:", ":approve:", 1)},
		"with another request":            {MessageID: other.ID, CustomID: strings.Join([]string{parts[0], parts[1], strings.Split(customID(t, other, "Show"), ":")[2], parts[3]}, ":")},
		"without a signature":             {MessageID: m.ID, CustomID: strings.Join(parts[:3], ":") + ":"},
		"with a signature that was cut":   {MessageID: m.ID, CustomID: id[:len(id)-1]},
		"for a request that is not there": {MessageID: m.ID, CustomID: "postroom:approve:AAAAAAAAAAAAAAAAAAAAAA:" + parts[3]},
	} {
		p.User = ann
		require.Equal(t, stale, f.press(p), name)
	}
	require.Empty(t, f.done())
	require.Equal(t, postroom.ActionPendingApproval, f.state(a.ID))
	require.Equal(t, postroom.ActionPendingApproval, f.state(b.ID))
}

// What was altered since the message was posted is not approved, whoever alters what.
func testAltered(t *testing.T, f *fixture) {
	for name, statement := range map[string]string{
		"the action":             "UPDATE actions SET message_id = 'another' WHERE id = $1",
		"the parameters":         `UPDATE actions SET parameters_json = '{"note":"x"}' WHERE id = $1`,
		"the digest":             "UPDATE approvals SET digest = 'x' WHERE action_id = $1",
		"the expiry":             "UPDATE approvals SET expires_at = '2999-01-01T00:00:00.000000Z' WHERE action_id = $1",
		"the message of the row": "UPDATE discord_messages SET message_id = '1' WHERE action_id = $1",
		"the channel of the row": "UPDATE discord_messages SET channel_id = '1' WHERE action_id = $1",
	} {
		a, m := f.asked()
		f.write(time.Now(), func(ctx context.Context, tx queue.Tx) error {
			_, err := tx.ExecContext(ctx, statement, a.ID)
			return err
		})
		want := stale
		if name == "the action" || name == "the parameters" || name == "the expiry" {
			want = tampered
		}
		require.Equal(t, want, f.press(discordtest.Press{MessageID: m.ID, Label: "Approve", User: ann}), name)
		require.Equal(t, postroom.ActionPendingApproval, f.state(a.ID), name)
		f.write(time.Now(), func(ctx context.Context, tx queue.Tx) error { // so that no other test meets it
			return f.ledger.Cancel(ctx, tx, a.ID, "altered")
		})
	}
	require.Empty(t, f.done())
	// The jobs that were to bring those messages up to date are of no interest here.
	jobs := f.jobs(queue.Filter{States: []queue.State{queue.StateQueued}, Types: []string{"approval.notify"}})
	for _, j := range jobs {
		require.NoError(t, f.queue.Cancel(t.Context(), j.ID))
	}
}

// A person may be quicker than the record of the message.
func TestAPressOfAMessageThatIsNotRecordedYet(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.run()
		a, m := f.asked()
		record := func(messageID string) {
			f.write(time.Now(), func(ctx context.Context, tx queue.Tx) error {
				_, err := tx.ExecContext(ctx, "UPDATE discord_messages SET message_id = $1 WHERE action_id = $2", messageID, a.ID)
				return err
			})
		}
		record("")
		press := discordtest.Press{MessageID: m.ID, Label: "Approve", User: ann}
		require.Contains(t, f.press(press), "press again in a moment")
		require.Equal(t, postroom.ActionPendingApproval, f.state(a.ID))
		record(m.ID)
		require.Equal(t, "Approved. It is being carried out.", f.press(press))
	})
}

// The old message's button does not approve the new request.
func testRenewed(t *testing.T, f *fixture) {
	a, m := f.asked()
	f.write(time.Now(), func(ctx context.Context, tx queue.Tx) error { return f.ledger.Renew(ctx, tx, a.ID) })
	require.Equal(t, stale, f.press(discordtest.Press{MessageID: m.ID, Label: "Approve", User: ann}))
	require.Equal(t, postroom.ActionPendingApproval, f.state(a.ID))
	f.work()
	require.Equal(t, "Approved. It is being carried out.",
		f.press(discordtest.Press{MessageID: f.last().ID, Label: "Approve", User: ann}))
}

func testExpired(t *testing.T, f *fixture) {
	a := f.ask(time.Now().Add(-7*24*time.Hour+time.Minute), nil)
	f.work()
	m := f.last()
	// Its time ends now.
	f.write(time.Now(), func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE approvals SET expires_at = requested_at WHERE action_id = $1", a.ID)
		return err
	})
	said := f.press(discordtest.Press{MessageID: m.ID, Label: "Approve", User: ann})
	require.Equal(t, "The request has expired. Nothing was done; it can be asked again, or rejected.", said)
	require.Equal(t, "Rejected. It is not done.", f.press(discordtest.Press{MessageID: m.ID, Label: "Reject", User: ann}))
	require.Empty(t, f.done())
}

func testFirstWins(t *testing.T, f *fixture) {
	a, m := f.asked()
	f.answer(a.ID, safety.OutcomeRejected, "carol")
	said := f.press(discordtest.Press{MessageID: m.ID, Label: "Approve", User: ann})
	require.Contains(t, said, "`carol` has rejected it already, <t:")
	require.Empty(t, f.done())

	a, m = f.asked()
	require.Contains(t, f.press(discordtest.Press{MessageID: m.ID, Label: "Approve", User: ann}), "Approved.")
	said = f.press(discordtest.Press{MessageID: m.ID, Label: "Reject", User: ben})
	require.Contains(t, said, "`ann` has approved it already, <t:")
	require.Equal(t, []string{a.ID}, f.done())

	a, m = f.asked()
	f.write(time.Now(), func(ctx context.Context, tx queue.Tx) error { return f.ledger.Cancel(ctx, tx, a.ID, "no") })
	said = f.press(discordtest.Press{MessageID: m.ID, Label: "Approve", User: ann})
	require.Equal(t, "It does not wait any more: it is canceled. Nothing was done.", said)
}

// The gateway repeats an event, and a person presses again: it is approved once, and they are told so each time.
func testTwice(t *testing.T, f *fixture) {
	a, m := f.asked()
	in, err := f.server.Press(discordtest.Press{MessageID: m.ID, Label: "Approve", User: ann})
	require.NoError(t, err)
	callbacks := f.server.Count("POST", "/callback")
	_, err = in.Answer(t.Context())
	require.NoError(t, err)
	in.Redeliver()
	f.await(func() bool { return f.server.Count("POST", "/callback") == callbacks+2 })
	require.Contains(t, f.press(discordtest.Press{MessageID: m.ID, Label: "Approve", User: ann}), "Approved.")
	require.Equal(t, []string{a.ID}, f.done())
}

func testOthers(t *testing.T, f *fixture) {
	a, m := f.asked()
	for _, custom := range []string{"foo", "postroom", "postroom:a:b:c", "postroom:drop:" +
		strings.Split(customID(t, m, "Show"), ":")[2] + ":x", strings.Repeat("x", 100)} {
		in, err := f.server.Press(discordtest.Press{MessageID: m.ID, CustomID: custom, User: ann})
		require.NoError(t, err)
		defer func() {
			_, answered := in.Answered()
			require.False(t, answered, custom)
		}()
	}
	// Events come in their order: when this one is answered, those before it have been looked at.
	require.Contains(t, f.press(discordtest.Press{MessageID: m.ID, Label: "Reject", User: ann}), "Rejected.")
	require.Equal(t, postroom.ActionRejected, f.state(a.ID))
}

func testBots(t *testing.T, f *fixture) {
	_, m := f.asked()
	require.Equal(t, unlisted, f.press(discordtest.Press{MessageID: m.ID, Label: "Approve",
		User: discordtest.User{ID: ann.ID, Bot: true}}))
	require.Equal(t, unlisted, f.press(discordtest.Press{MessageID: m.ID, Label: "Approve"}))
}

// Discord waits for 3 seconds: when the database takes longer, the answer comes in two parts.
func TestASlowAnswerIsAnnounced(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		composed, gate := make(chan struct{}), make(chan struct{})
		var presses atomic.Bool
		f := newFixture(t, db, func(c *discord.Config) {
			c.DeferAfter = time.Millisecond
			c.Compose = func(context.Context, postroom.Action) (discord.Content, error) {
				if presses.Load() {
					close(composed)
					<-gate
				}
				return discord.Content{}, nil
			}
		})
		f.run()
		a, m := f.asked()
		presses.Store(true)
		in, err := f.server.Press(discordtest.Press{MessageID: m.ID, Label: "Approve", User: ann})
		require.NoError(t, err)
		<-composed
		f.await(in.Deferred)
		_, answered := in.Answered()
		require.False(t, answered)
		close(gate)
		said, err := in.Answer(t.Context())
		require.NoError(t, err, "only the person who pressed sees it")
		require.Equal(t, "Approved. It is being carried out.", said)
		require.Equal(t, []string{a.ID}, f.done())
	})
}

// The interaction is over when it is answered; what was approved stays approved.
func TestAnAnswerThatComesTooLateCountsAllTheSame(t *testing.T) {
	f := newFixture(t, dbtest.SQLite(t), nil)
	f.run()
	a, m := f.asked()
	gate := make(chan struct{})
	f.server.Fault(discordtest.Fault{Method: "POST", Path: "/callback", Gate: gate})
	in, err := f.server.Press(discordtest.Press{MessageID: m.ID, Label: "Approve", User: ann})
	require.NoError(t, err)
	f.await(func() bool { return f.server.Count("POST", "/callback") == 1 })
	in.Expire()
	close(gate)
	f.work()
	require.Contains(t, f.message(m.ID).Text(), "approved by `ann`")
	require.Equal(t, []string{a.ID}, f.done())
}

func TestWhatMustNotBeSentCanOnlyBeRejected(t *testing.T) {
	var content atomic.Pointer[discord.Content]
	content.Store(&discord.Content{Text: "Dear `Ada`,\n\n```yes```\n"})
	f := newFixture(t, dbtest.SQLite(t), func(c *discord.Config) {
		c.Compose = func(context.Context, postroom.Action) (discord.Content, error) { return *content.Load(), nil }
		c.Summarize = func(context.Context, postroom.Action) (string, error) { return "reply to ada", nil }
	})
	f.run()
	a, m := f.asked()
	require.Contains(t, m.Text(), "Sends: ```\nDear ˋAdaˋ,\n\nˋˋˋyesˋˋˋ\n```")
	require.Contains(t, m.Text(), "Action: `reply to ada`")
	require.Contains(t, f.press(discordtest.Press{MessageID: m.ID, Label: "Show", User: ann}), "Dear ˋAdaˋ")

	content.Store(&discord.Content{Refused: "too many recipients"})
	said := f.press(discordtest.Press{MessageID: m.ID, Label: "Approve", User: ann})
	require.Equal(t, "It must not be sent: `too many recipients`. Nothing was done; it can be rejected.", said)
	require.Equal(t, postroom.ActionPendingApproval, f.state(a.ID))
	f.work()
	require.Equal(t, []string{"Reject", "Show"}, labels(f.message(m.ID)))
	require.Contains(t, f.message(m.ID).Text(), "Must not be sent: `too many recipients`")
	require.Contains(t, f.press(discordtest.Press{MessageID: m.ID, Label: "Reject", User: ann}), "Rejected.")
}

// Who approves while nothing may start is told so.
func TestAnApprovalThatWaits(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.run()
		stop := func(why string) {
			f.write(time.Now(), func(ctx context.Context, tx queue.Tx) error {
				return f.ledger.Switch().Stop(ctx, tx, "ada", stop.Options{Why: why})
			})
		}
		stop("odd `mail` @everyone")
		_, m := f.asked()
		said := f.press(discordtest.Press{MessageID: m.ID, Label: "Approve", User: ann})
		require.Contains(t, said, "Approved. It is carried out later: `stopped by ada on ")
		require.Contains(t, said, ": odd ˋmailˋ @everyone`.")
		f.write(time.Now(), func(ctx context.Context, tx queue.Tx) error {
			return f.ledger.Switch().Resume(ctx, tx, "ada", "")
		})
		_, m = f.asked()
		require.Equal(t, "Approved. It is being carried out.",
			f.press(discordtest.Press{MessageID: m.ID, Label: "Approve", User: ann}))
	})
}
