package cli

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailtest"
)

// TestTheFirstRunLeavesOldMailAlone: a mailbox of years is taken in, and only what comes afterwards is sorted, until a
// person has the rules applied to the rest.
func TestTheFirstRunLeavesOldMailAlone(t *testing.T) {
	server := newGmail(t)
	rules := writeFile(t, "rules.yaml", "rules:\n"+
		"  - {name: all, condition: {type: subject_regex, value: .}, action: star}\n"+
		"  - {name: thanks, condition: {type: subject_regex, value: .}, action: auto_reply, parameters: {body: Thanks.}, "+
		"safe_mode: dangerous_override}\n")
	where := []string{"--config", configure(t, server, ""), "--set", "gmail.old_mail=leave", "--set",
		"paths.rules=" + rules,
		"--data", filepath.Join(t.TempDir(), "data")}
	first := runOnce(t, where...)
	require.Empty(t, first.Actions)
	require.Positive(t, first.Mailboxes[0].OldMail)
	for _, method := range []gmailtest.Method{gmailtest.MessagesModify, gmailtest.MessagesSend} {
		require.NotContains(t, server.Counts(), method, "nothing is done at Gmail")
	}
	old := mailJSON(t, append(where, "--limit", "1")...).Messages[0].ID

	_, err := server.Deliver(t.Context(), []byte("From: Ann <ann@example.com>\r\nSubject: Hello\r\n\r\nHi.\r\n"))
	require.NoError(t, err)
	second := runOnce(t, where...)
	require.Equal(t, 1, second.Actions[postroom.Star])
	require.Zero(t, second.Mailboxes[0].OldMail)

	r := postroomd(t, append([]string{"status"}, where...)...)
	require.Regexp(t, fmt.Sprintf("(?m)^  old mail +%d messages are stored from before [^,]+, and nothing is done to what came "+
		"before; 'postroomd rules apply' sorts it$", first.Mailboxes[0].OldMail), r.stdout)
	r = postroomd(t, append([]string{"explain", old}, where...)...)
	require.Contains(t, r.stdout, "It came before its mailbox was added, and nothing is done to old mail")

	r = postroomd(t, append([]string{"rules", "apply", "--rule", "all", "--dry-run"}, where...)...)
	require.Contains(t, r.stdout, "by rule     all: ", r.stderr)
}
