package cli

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/mailstore"
)

// The digest of a mailbox is printed, put into the mailbox, and nothing is decided about it when it is taken in.
func TestTheDigest(t *testing.T) {
	t.Parallel()
	server := newGmail(t)
	where := []string{"--config", configure(t, server, "[notify]\ndigest = \"07:00\"\nzone = \"Europe/Berlin\"\n"),
		"--data", filepath.Join(t.TempDir(), "data")}
	first := runOnce(t, where...)
	printed := postroomd(t, append([]string{"digest", "--send"}, where...)...)
	require.Equal(t, 0, printed.status, printed.stderr)
	require.True(t, strings.HasPrefix(printed.stdout, "Postroom: "), printed.stdout)
	for _, part := range []string{" done", " by the rule ", "Waiting for you:", "It is sent by the postroomd that"} {
		require.Contains(t, printed.stdout, part)
	}
	require.NotContains(t, printed.stdout, "://")

	runOnce(t, where...) // brings it
	last := runOnce(t, where...)
	require.Equal(t, first.Messages+1, last.Messages)
	require.Equal(t, first.Actions, last.Actions)
	require.Equal(t, first.Unmatched, last.Unmatched, "nothing is decided about it, not even that nothing is done")
	list, err := server.Snapshot(t.Context())
	require.NoError(t, err)
	ours := 0
	for _, m := range list {
		if strings.HasSuffix(m.MessageID, "@"+mailstore.InsertedDomain) {
			ours++
			require.Equal(t, []string{"INBOX", "UNREAD"}, m.Labels)
		}
	}
	require.Equal(t, 1, ours)
	again := postroomd(t, append([]string{"digest"}, where...)...)
	require.Contains(t, again.stdout, "There is nothing new since", "the digest is no news of its own")
}

// What came while postroomd did not run is in the digest after it is stored, though the one before ended later.
func TestTheDigestHasTheMailOfANightOff(t *testing.T) {
	t.Parallel()
	m := newTeatime(t, "{action: archive}", "")
	runOnce(t, m.where...)
	m.deliver("tea of the night")
	last := time.Now() // the digest when postroomd starts
	runOnce(t, m.where...)
	h := m.open()
	accounts, err := h.Mail.Accounts(t.Context())
	require.NoError(t, err)
	d, err := h.ComposeDigest(t.Context(), accounts, last, time.Now().Add(time.Second))
	require.NoError(t, err)
	require.Equal(t, 1, d.Came)
}

func TestADigestThatGoesNowhereIsRefused(t *testing.T) {
	t.Parallel()
	file := configure(t, newGmail(t), "")
	daily := "notify.digest=07:00"
	for want, set := range map[string][]string{
		`has "ntfy", and notify.ntfy_url is not set`:        {daily, "notify.digest_to=ntfy"},
		`has "discord", and discord.channel_id is not set`:  {daily, "notify.digest_to=discord"},
		"notify.digest_to is empty":                         {daily, "notify.digest_to="},
		"notify.ntfy_url is not; name":                      {"notify.ntfy_token=" + inEnv(t, "hunter2")},
		"is no value of notify.digest; write a time of day": {"notify.digest=daily"},
	} {
		args := []string{"run", "--once", "--config", file, "--data", filepath.Join(t.TempDir(), "data")}
		for _, s := range set {
			args = append(args, "--set", s)
		}
		r := postroomd(t, args...)
		require.NotEqual(t, 0, r.status)
		require.Contains(t, r.stderr, want)
	}
}
