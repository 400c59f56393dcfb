package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/discord/discordtest"
)

var (
	ada     = discordtest.User{ID: "53908232506183680", Username: "ada"}
	mallory = discordtest.User{ID: "53908232506183699", Username: "mallory"}
)

// atDiscord is a mailbox whose requests are asked at a fake Discord.
func atDiscord(t *testing.T, rule string, letters ...string) (*teatime, *discordtest.Server) {
	t.Helper()
	server := discordtest.Start(discordtest.Config{Token: "hunter3"})
	t.Cleanup(server.Close)
	t.Setenv("DISCORD_BOT_TOKEN", "hunter3")
	settings := fmt.Sprintf("[discord]\nchannel_id = %q\napi_endpoint = %q\nwhitelist = [\"%s=ada\"]\n",
		server.Channel(), server.URL(), ada.ID)
	return newTeatime(t, rule, settings, letters...), server
}

func letterNamed(n int) string {
	return fmt.Sprintf(
		"From: Ann <ann@example.com>\r\nSubject: Tea %d @everyone\r\nMessage-ID: <tea%d@example.com>\r\n\r\nAt five?\r\n",
		n, n)
}

// A rule deletes, which waits for a person: what is pressed in the channel is done, and by nobody who is not on the
// list.
func TestApprovalsAreAnsweredAtDiscord(t *testing.T) {
	m, server := atDiscord(t, deleteTea, letterNamed(1), letterNamed(2), letterNamed(3), letterNamed(4))
	r := start(t, m.where...)
	r.eventually("all are asked", func() bool {
		return statusOf(t, m.where...).Discord.Posted == 4 && server.Connected() == 1
	})
	messages := map[string]discordtest.Message{}
	for _, message := range server.Messages() {
		require.Contains(t, message.Text(), "Action: `delete in ")
		require.Contains(t, message.Text(), "Decided by: `rule Tea`")
		for n := range 5 {
			if strings.Contains(message.Text(), fmt.Sprintf("Subject: `Tea %d @everyone`", n)) {
				messages[strconv.Itoa(n)] = message
			}
		}
	}
	require.Len(t, messages, 4)
	press := func(n, label string, user discordtest.User) string {
		in, err := server.Press(discordtest.Press{MessageID: messages[n].ID, Label: label, User: user})
		require.NoError(t, err)
		said, err := in.Answer(t.Context())
		require.NoError(t, err)
		return said
	}
	shows := func(n, text string) {
		r.eventually("message "+n+" shows "+text, func() bool {
			for _, message := range server.Messages() {
				if message.ID == messages[n].ID {
					return strings.Contains(message.Text(), text)
				}
			}
			return false
		})
	}
	action := func(n string) webapi.Action {
		for _, a := range m.actions() {
			if strings.HasPrefix(a.Subject, "Tea "+n) {
				return a
			}
		}
		require.Fail(t, "there is no action about mail "+n)
		return webapi.Action{}
	}

	require.Contains(t, press("1", "Approve", mallory), "You are not on the list")
	require.Equal(t, postroom.ActionPendingApproval, action("1").State)
	require.Equal(t, "Approved. It is being carried out.", press("1", "Approve", ada))
	shows("1", "approved by `ada`")
	r.eventually("it is done", func() bool { return action("1").State == postroom.ActionCompleted })

	require.Equal(t, "Rejected. It is not done.", press("2", "Reject", ada))
	shows("2", "rejected by `ada`")
	require.Equal(t, postroom.ActionRejected, action("2").State)

	answered := m.postroomd("approvals", "reject", action("3").ID, "--why", "no *need*")
	require.Equal(t, 0, answered.status, answered.stderr)
	shows("3", ": `no *need*`")
	_, err := server.Press(discordtest.Press{MessageID: messages["3"].ID, Label: "Approve", User: ada})
	require.ErrorContains(t, err, "has no button", "it is answered")

	h := m.open()
	require.NoError(t, h.DB.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE approvals SET expires_at = requested_at WHERE action_id = $1", action("4").ID)
		return err
	}))
	require.Contains(t, press("4", "Approve", ada), "The request has expired.")
	shows("4", "Nobody answered until")
	require.Equal(t, postroom.ActionPendingApproval, action("4").State)

	left, err := m.server.Count(t.Context())
	require.NoError(t, err)
	require.Equal(t, 3, left, "one was deleted")
	status := statusOf(t, m.where...)
	require.Equal(t, &view.DiscordStatus{Channel: server.Channel(), People: 1, Posted: 1}, status.Discord)
	require.Contains(t, m.postroomd("status").stdout, "1 posted to channel "+server.Channel()+", for 1 person to answer")
	r.stop()
	require.NotContains(t, r.log(), "hunter3")
}

// What is sent is composed before it is shown: the approval at Discord names its bytes.
func TestAForwardIsApprovedAtDiscord(t *testing.T) {
	m, server := atDiscord(t, forwardTea, letterWithFile)
	_, err := m.server.Account(t.Context(), colleague)
	require.NoError(t, err)
	r := start(t, m.where...)
	r.eventually("it is asked", func() bool {
		return statusOf(t, m.where...).Discord.Posted == 1 && server.Connected() == 1
	})
	message := server.Messages()[0]
	require.Contains(t, message.Text(), colleague)
	require.Contains(t, message.Text(), "| For you.")
	in, err := server.Press(discordtest.Press{MessageID: message.ID, Label: "Approve", User: ada})
	require.NoError(t, err)
	said, err := in.Answer(t.Context())
	require.NoError(t, err)
	require.Equal(t, "Approved. It is being carried out.", said)
	r.eventually("it is sent", func() bool { return m.sent() == 1 })
	r.stop()
}

// Killed between the post and its record, the daemon finds its message again.
func TestAKilledDaemonAsksOnce(t *testing.T) {
	m, server := atDiscord(t, deleteTea, letterNamed(1))
	gate := make(chan struct{})
	server.Fault(discordtest.Fault{Method: "POST", Path: "/messages", Cut: discordtest.CutAfter},
		discordtest.Fault{Method: "GET", Path: "/messages", Gate: gate})
	r := start(t, m.where...)
	r.eventually("it is posted and not yet found", func() bool { return server.Count("GET", "/messages") > 0 })
	r.kill()
	close(gate)
	server.ForgetNonces()
	r = start(t, m.where...)
	r.eventually("the request is known to be posted", func() bool {
		s := statusOf(t, m.where...)
		return s.Discord.Posted == 1
	})
	require.Len(t, server.Messages(), 1)
	r.stop()
}

func TestDiscordIsConfiguredWholly(t *testing.T) {
	m := newTeatime(t, deleteTea, "")
	for says, set := range map[string][]string{
		"discord.channel_id is not":             {"discord.bot_token=" + secret(t, "x")},
		"discord.bot_token is not":              {"discord.channel_id=1"},
		`policy.approvers has no "ada"`:         {"discord.bot_token=" + secret(t, "x"), "discord.channel_id=1", "discord.whitelist=1=ada", "policy.approvers=grace"},
		"this is no value of discord.whitelist": {"discord.whitelist=Daniel#1234"},
		"this is no value of discord.bot_token": {"discord.bot_token=" + secret(t, "Bot x")},
		"this is no value of discord.gateway":   {"discord.gateway=https://x"},
		"this is no value of discord.remind":    {"discord.remind=1s"},
	} {
		args := []string{"run", "--once"}
		for _, s := range set {
			args = append(args, "--set", s)
		}
		r := m.postroomd(args...)
		require.Equal(t, exitUsage, r.status, says)
		require.Contains(t, r.stderr, says)
	}
}
