package rulesfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/internal/rulestest"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

func TestTestsOfAFile(t *testing.T) {
	file, err := rulesfile.ParseFile("testdata/tests/rules.yaml")
	require.NoError(t, err)
	require.Empty(t, file.Warnings)
	beside, err := rulesfile.ParseTestFile("testdata/tests/rules.tests.yaml")
	require.NoError(t, err)
	var text strings.Builder
	for _, result := range file.Test(append(file.Tests, beside...), nil) {
		require.Equal(t, !strings.HasPrefix(result.Test.Name, "wrong:"), result.Passed(), "%s", result.String())
		text.WriteString(result.String() + "\n")
	}
	rulestest.Golden(t, "testdata/tests/results.golden", text.String())
}

// What a test says of a message, the message has.
func TestTheMessageOfATest(t *testing.T) {
	files := fstest.MapFS{"a.eml": {Data: []byte(
		"From: Ada <ada@a.example>\r\nSubject: =?utf-8?q?caf=C3=A9?=\r\nDate: Sat, 31 Jan 2026 08:00:00 +0100\r\n\r\nhello\r\n")}}
	tests, err := rulesfile.ParseTests("t.yaml", strings.NewReader(`
tests:
- name: described
  message:
    account: acc
    from: '"Ada, of A" <ada@a.example>'
    to: [me@home.example, Bob <bob@b.example>]
    cc: c@c.example
    subject: 'café: 2026'
    date: 2026-01-30
    received: 2026-01-31T08:00:00Z
    headers: {List-Id: <dev.lists.example>, X-Many: [a, b], In-Reply-To: <x@y.example>}
    labels: [STARRED, INBOX]
    attachments: [report.pdf, {name: invite.ics, type: text/calendar}]
    size: 6MB
    authenticated: true
    sender_seen: true
    body: |
      plain
      text
    html: <p>plain text</p>
  actions: []
- name: from a file
  eml: a.eml
  message: {labels: INBOX, headers: {X-More: yes}}
  now: 2026-03-01
  actions: [archive, {action: move, parameters: {label: x}}, {action: star}]
  rules: [one]
- name: bare
  message: {}
  rules: []
`), rulesfile.WithFiles(files))
	require.NoError(t, err)
	msg := tests[0].Message
	require.Equal(t, "Ada, of A <ada@a.example>", msg.From.String())
	require.Equal(t, "bob@b.example", msg.To[1].Email)
	require.Equal(t, "café: 2026", msg.Subject)
	require.Equal(t, "2026-01-30T00:00:00Z", msg.Date.Format("2006-01-02T15:04:05Z07:00"))
	require.Equal(t, "2026-01-31T08:00:00Z", msg.ReceivedAt.Format("2006-01-02T15:04:05Z07:00"))
	require.Equal(t, []string{"a", "b"}, msg.Header("x-many"))
	require.Equal(t, "x@y.example", msg.InReplyTo)
	require.Equal(t, []string{"INBOX", "STARRED"}, msg.LabelIDs)
	require.Equal(t, "report.pdf", msg.Attachments[0].Filename)
	require.Equal(t, int64(6<<20), msg.Size)
	require.Equal(t, "plain\ntext", strings.TrimSpace(msg.BodyPlain))
	require.Contains(t, msg.BodyHTML, "<p>plain text</p>")
	require.True(t, tests[0].SenderSeen)
	require.Equal(t, msg.ReceivedAt, tests[0].Now)
	require.True(t, rulestest.Matches(t, rulestest.Predicate(rules.Authenticated, ""), msg))
	require.True(t, rulestest.Matches(t, rulestest.Predicate(rules.IsCalendar, ""), msg))
	require.True(t, rulestest.Matches(t, rulestest.Predicate(rules.ListID, "dev.lists.example"), msg))
	require.True(t, rulestest.Matches(t, rulestest.Predicate(rules.IsReply, ""), msg))

	require.Equal(t, "café", tests[1].Message.Subject)
	require.Equal(t, "hello", strings.TrimSpace(tests[1].Message.BodyPlain))
	require.Equal(t, []string{"yes"}, tests[1].Message.Header("X-More"))
	require.Equal(t, 2026, tests[1].Message.ReceivedAt.Year())
	require.False(t, rulestest.Matches(t, rulestest.Predicate(rules.Authenticated, ""), tests[1].Message))
	require.Equal(t, []rules.RuleAction{{Type: "archive"}, {Type: "move", Parameters: map[string]any{"label": "x"}},
		{Type: "star"}}, tests[1].Actions)
	require.Equal(t, "2026-01-15", tests[2].Now.Format("2006-01-02"))
	require.Zero(t, tests[2].Message.Size)
}

func TestFaultyTestsSayWhatIsWrongAndWhere(t *testing.T) {
	path := "testdata/tests/faulty.yaml"
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	_, err = rulesfile.ParseTests(filepath.Base(path), strings.NewReader(string(data)),
		rulesfile.WithFiles(fstest.MapFS{}))
	var faulty *rulesfile.FileError
	require.ErrorAs(t, err, &faulty)
	rulestest.Golden(t, "testdata/tests/faulty.golden", err.Error()+"\n")
	for _, text := range []string{"rules: []", "tests: 1", "", "[]"} {
		_, err = rulesfile.ParseTests("t.yaml", strings.NewReader(text))
		require.ErrorAs(t, err, &faulty, text)
	}
	_, err = rulesfile.ParseTests("t.yaml", nil)
	require.ErrorContains(t, err, "rules: ParseTests: r")
	_, err = rulesfile.ParseTestFile("testdata/none.yaml")
	require.ErrorIs(t, err, os.ErrNotExist)
}
