package cli

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
)

const verifiedLetter = "Received: from mail.example.com by mx.google.com with ESMTPS id x; Sat, 07 Mar 2026 12:00:00 +0000\r\n" +
	"Authentication-Results: mx.google.com; dmarc=pass header.from=example.com\r\nFrom: Zoe Ng <zoe@example.com>\r\n" +
	"To: " + sample.Owner + "\r\nSubject: Tea?\r\nMessage-ID: <NR@example.com>\r\n\r\nAt five?\r\n"

// The owner goes away by a command that shows first whom it would have answered, and comes back by another.
func TestAnOwnerIsAway(t *testing.T) {
	m := newTeatime(t, "{action: archive}", "", strings.Replace(verifiedLetter, "NR", "1", 1))
	runOnce(t, m.where...)
	today := time.Now().Format(time.DateOnly)
	said := func(status int, args ...string) string {
		t.Helper()
		r := m.postroomd(append([]string{"away"}, args...)...)
		require.Equal(t, status, r.status, "%s%s", r.stdout, r.stderr)
		return r.stdout + r.stderr
	}
	require.Contains(t, said(exitUsage, "set", "--until", today, "Dear {{name}}"),
		"{{name}} is no variable; the variables are {{sender_name}}, {{first_name}}, {{subject}}, {{date}}, {{own_name}}, {{until}}")
	require.Contains(t, said(exitUsage, "set", "--until", "tomorrow", "Away."), `the last day is "tomorrow"; write a day such as `)
	require.Contains(t, said(exitUsage, "set", "--until", today, "--snippet", "x"), "have no snippets")
	require.Contains(t, said(0, "show"), "not away")

	shown := said(0, "set", "--until", today, "--yes", "Dear {{first_name|all}}, back after {{until}}.")
	require.Contains(t, shown, "In the last 14 days it would have answered 1 sender, of 1 message.")
	require.Contains(t, shown, "zoe@example.com")
	require.Contains(t, shown, "away until "+today+", answered 0 senders")
	for i := range 2 {
		_, err := m.server.Deliver(t.Context(), []byte(strings.Replace(verifiedLetter, "NR", string(rune('2'+i)), 1)))
		require.NoError(t, err)
	}
	runOnce(t, m.where...)
	require.Equal(t, 1, m.sent())
	require.Contains(t, said(0, "show"), "answered 1 sender")
	require.Contains(t, m.postroomd("status").stdout, "away until "+today+", answered 1 sender")
	require.Contains(t, m.postroomd("digest").stdout, "1  auto reply by the rule away")
	answers, unanswered := 0, 0
	for _, a := range m.actions() {
		if a.Action == "auto_reply" {
			answers++
			r := m.postroomd("explain", a.ID)
			require.Equal(t, 0, r.status, r.stderr)
			require.Contains(t, r.stdout, "is away until "+today)
		}
		if r := m.postroomd("explain", a.ID); strings.Contains(r.stdout, "not answered: an earlier message of its sender") {
			unanswered++
		}
	}
	require.Equal(t, []int{1, 1}, []int{answers, unanswered})

	require.Contains(t, said(0, "off"), "is not answered any more")
	require.Contains(t, said(0, "off"), "nobody was away")
	require.NotContains(t, m.postroomd("status").stdout, "away until")
	log := m.postroomd("audit", "export").stdout
	require.Contains(t, log, `"away_set"`)
	require.Contains(t, log, `"away_ended"`)

	rules := m.where[len(m.where)-1][len("paths.rules="):]
	text, err := os.ReadFile(rules)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(rules, []byte("snippets: {gone: 'Gone until {{date}}.'}\n"+string(text)), 0o600))
	require.Contains(t, said(exitUsage, "set", "--until", today, "--snippet", "gon"), "did you mean gone?")
	require.Contains(t, said(0, "set", "--until", today, "--snippet", "gone", "--yes"), "Gone until {{date}}.")
}
