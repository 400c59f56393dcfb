package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
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
		"before; the rules of .* would do [0-9]+ actions \\(all [0-9]+\\), and 'postroomd rules apply --mailbox you@example.com' "+
		"sorts it$", first.Mailboxes[0].OldMail), r.stdout)
	r = postroomd(t, append([]string{"explain", old}, where...)...)
	require.Contains(t, r.stdout, "It came before its mailbox was added, and nothing is done to old mail")

	r = postroomd(t, append([]string{"rules", "apply", "--rule", "all", "--dry-run"}, where...)...)
	require.Contains(t, r.stdout, "by rule     all: ", r.stderr)
}

// An oldMailbox is a mailbox with old mail, for which there is a rule, and more if they are given.
func oldMailbox(t *testing.T, more ...string) (server *gmailtest.Server,
	run func(in io.Reader, args ...string) (out string)) {
	t.Helper()
	server = newGmail(t)
	rules := writeFile(t, "rules.yaml", "rules:\n  - {name: all, condition: {type: subject_regex, value: .}, action: star}\n"+
		strings.Join(more, ""))
	where := []string{"--config", configure(t, server, ""), "--set", "gmail.old_mail=leave", "--set",
		"paths.rules=" + rules, "--data", filepath.Join(t.TempDir(), "data")}
	return server, func(in io.Reader, args ...string) string {
		t.Helper()
		var out bytes.Buffer
		var said spoken
		root := rootCommand(append(args, where...))
		root.SetIn(in)
		root.SetOut(&out)
		root.SetErr(&said)
		require.NoError(t, root.ExecuteContext(t.Context()), said.said.String())
		return out.String() + said.said.String()
	}
}

const askedAboutOld = "Do it now? [y/N] "

// TestAPersonIsAskedAboutOldMailOnce: what the rules would do is counted by rule, and only a yes has it done.
func TestAPersonIsAskedAboutOldMailOnce(t *testing.T) {
	server, run := oldMailbox(t)
	out := run(strings.NewReader("\n"), "run", "--once")
	require.Regexp(t, "(?m)^The rules would do ([0-9]+) actions: all [0-9]+\\.\n'postroomd rules apply --mailbox you@example.com' "+
		"does that at any time\\.\n"+regexp.QuoteMeta(askedAboutOld), out)
	require.NotContains(t, server.Counts(), gmailtest.MessagesModify)
	require.NotContains(t, run(strings.NewReader("y\n"), "run", "--once"), askedAboutOld)
	require.NotContains(t, server.Counts(), gmailtest.MessagesModify)
}

// A yes has messages sent about mail of years: the question says how many, before it is given.
func TestTheQuestionSaysWhatCannotBeTakenBack(t *testing.T) {
	server, run := oldMailbox(t, "  - {name: thanks, condition: {type: subject_regex, value: .}, priority: -1, action: auto_reply, "+
		"parameters: {body: Thanks.}, safe_mode: dangerous_override, authentication: not_required, stop: false}\n")
	out := run(strings.NewReader("n\n"), "run", "--once")
	require.Regexp(t, "(?m)^What cannot be taken back: auto_reply [0-9]+; it is done at once unless it needs an approval\\.$", out)
	require.NotContains(t, server.Counts(), gmailtest.MessagesSend)
	require.Regexp(t, "(?m)^[0-9]+ messages are mail from before the mailbox was added, sent mail, drafts, spam or trash, "+
		"about which nothing is decided\\.$", out)
}

func TestOldMailIsSortedAfterAYes(t *testing.T) {
	server, run := oldMailbox(t)
	out := run(strings.NewReader("y\n"), "run", "--once")
	require.Contains(t, out, askedAboutOld)
	require.NotContains(t, out, "nothing is done to old mail")
	require.Positive(t, server.Counts()[gmailtest.MessagesModify])
	batch := regexp.MustCompile("undo --batch ([0-9a-f-]+)").FindStringSubmatch(out)
	require.NotNil(t, batch, out)
	require.NotContains(t, run(nil, "status"), "would do", "it is done")
	require.Contains(t, run(nil, "actions", "--limit", "1"), "star")
}

// TestNobodyIsAskedAboutOldMailWithoutATerminal: the status and the summary say what the rules would do.
func TestNobodyIsAskedAboutOldMailWithoutATerminal(t *testing.T) {
	server, run := oldMailbox(t)
	null, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer func() { require.NoError(t, null.Close()) }()
	out := run(null, "run", "--once")
	require.NotContains(t, out, askedAboutOld)
	require.Regexp(t, "nothing is done to old mail: the rules would do all [0-9]+; 'postroomd rules apply' sorts it", out)
	require.Regexp(t, "would do [0-9]+ actions .all [0-9]+., and 'postroomd rules apply", run(null, "status"))
	require.NotContains(t, server.Counts(), gmailtest.MessagesModify)
	run(null, "rules", "apply", "--since", "1h", "--yes")
	require.Contains(t, run(strings.NewReader(""), "run", "--once"), askedAboutOld, "it was not about all old mail")
	require.Contains(t, run(strings.NewReader("n\n"), "run", "--once"), askedAboutOld, "nobody had answered")
	run(null, "rules", "apply", "--yes")
	require.NotContains(t, run(strings.NewReader("n\n"), "run", "--once"), askedAboutOld)
	require.NotContains(t, run(null, "status"), "would do", "it is done")
}

// TestTheDaemonCountsOldMail: it says what the rules would do as soon as old mail is stored.
func TestTheDaemonCountsOldMail(t *testing.T) {
	server := newGmail(t)
	rules := writeFile(t, "rules.yaml", "rules:\n  - {name: all, condition: {type: subject_regex, value: .}, action: star}\n")
	d := start(t, "--config", configure(t, server, ""), "--set", "gmail.old_mail=leave", "--set", "paths.rules="+rules,
		"--data", filepath.Join(t.TempDir(), "data"))
	d.eventually("old mail is counted", func() bool {
		return strings.Contains(d.log(), "the rules would do something with mail from before")
	})
}
