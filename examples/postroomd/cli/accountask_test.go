package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// answered runs a command for a person who types the answer.
func (m *teatime) answered(answer string, args ...string) (string, error) {
	m.Helper()
	var out bytes.Buffer
	root := rootCommand(append(args, m.where...))
	root.SetIn(strings.NewReader(answer))
	root.SetOut(&out)
	err := root.ExecuteContext(m.Context())
	return out.String(), err
}

// TestARemovalGoesByTheAnswer: only a yes removes, and what is asked names what would go.
func TestARemovalGoesByTheAnswer(t *testing.T) {
	m := newSender(t, "", answerAndForward)
	runOnce(t, m.where...)
	const remove = "delete what is stored of you@example.com, 4 messages and all jobs? [y/N] "
	for _, answer := range []string{"", "\n", "n\n", "yep\n"} {
		out, err := m.answered(answer, "accounts", "remove", "you@example.com", "--forget")
		require.EqualError(t, err, "nothing was removed")
		require.Equal(t, remove, out)
		require.Contains(t, m.postroomd("accounts", "list").stdout, "you@example.com")
	}
	out, err := m.answered("Yes\n", "accounts", "remove", "you@example.com")
	require.NoError(t, err)
	require.Equal(t, remove+"you@example.com is removed; what was done stays on record\n", out)
	require.Contains(t, m.postroomd("accounts", "list").stdout, "no mailboxes")

	out, err = m.answered("n\n", "accounts", "remove", "You@example.com", "--forget")
	require.EqualError(t, err, "nothing was forgotten")
	require.Equal(t, "forget what You@example.com has sent, to 2 recipients? [y/N] ", out)
	out, err = m.answered("y\n", "accounts", "remove", "You@example.com", "--forget")
	require.NoError(t, err)
	require.Contains(t, out, "what You@example.com has sent is forgotten, to 2 recipients\n")
}

// TestAMistypedMailboxForgetsNothing: it is an error that names the one that was meant.
func TestAMistypedMailboxForgetsNothing(t *testing.T) {
	m := newSender(t, "", answerAndForward)
	runOnce(t, m.where...)
	const none = "postroomd: there is no mailbox yuo@example.com here"
	for more, flags := range map[string][]string{"": {"--yes"}, ", and nothing is kept of what one has sent": {"--yes",
		"--forget"}} {
		r := m.postroomd(append([]string{"accounts", "remove", "yuo@example.com"}, flags...)...)
		require.Equal(t, exitUsage, r.status)
		require.Equal(t, none+more+"; did you mean you@example.com?\n", r.stderr)
	}
	_, err := m.answered("y\n", "accounts", "remove", "yuo@example.com", "--forget")
	require.ErrorContains(t, err, "did you mean you@example.com?", "nobody is asked about it")
	r := m.postroomd("accounts", "pause", "ann@example.org")
	require.Equal(t, "postroomd: there is no mailbox ann@example.org here; the mailboxes are you@example.com\n", r.stderr)
	m.remove("--forget")
	r = m.postroomd("accounts", "remove", "you@example.com", "--yes", "--forget")
	require.Equal(t, exitUsage, r.status)
	require.Equal(t,
		"postroomd: there is no mailbox you@example.com here, and nothing is kept of what one has sent; there are none\n",
		r.stderr)
}
