package cli

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom/examples/postroomd/learning"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
)

// What a person moves by hand is proposed as a rule, which one command writes into the rules file, and another removes.
func TestLearnCommands(t *testing.T) {
	m := newTeatime(t, "{action: archive}", "[learn]\nenabled = true\n")
	account, err := m.server.Account(t.Context(), sample.Owner)
	require.NoError(t, err)
	service, err := account.Service(t.Context())
	require.NoError(t, err)
	require.NoError(t, account.CreateLabels(t.Context(), "Orders"))
	var ids []string
	for i := range 6 {
		at := time.Now().AddDate(0, 0, -i-1).Format(time.RFC1123Z)
		raw := "Received: from mail.shop.example by mx.google.com with ESMTPS id x; " + at + "\r\n" +
			"Authentication-Results: mx.google.com; dmarc=pass header.from=shop.example\r\nFrom: orders@shop.example\r\nTo: " +
			sample.Owner + "\r\nSubject: Order " + strconv.Itoa(i) + "\r\nDate: " + at + "\r\n\r\nThank you.\r\n"
		inserted, err := service.Users.Messages.Insert("me", &gmail.Message{LabelIds: []string{"INBOX", "UNREAD"},
			Raw: base64.URLEncoding.EncodeToString([]byte(raw))}).InternalDateSource("dateHeader").Do()
		require.NoError(t, err)
		ids = append(ids, inserted.Id)
	}
	runOnce(t, m.where...)
	require.NoError(t, account.Person().MoveTo(t.Context(), "Orders", ids...))
	runOnce(t, m.where...)

	said := func(status int, args ...string) string {
		t.Helper()
		r := m.postroomd(append([]string{"learn"}, args...)...)
		require.Equal(t, status, r.status, "%s%s", r.stdout, r.stderr)
		return r.stdout + r.stderr
	}
	require.Contains(t, said(0, "list"), "nothing was learned")
	require.Contains(t, said(0, "run"), "6 conversations were corrected or left: 1 new rules")
	var listed learning.Listing
	require.NoError(t, json.Unmarshal([]byte(said(0, "list", "--json")), &listed))
	require.Len(t, listed.Rules, 1)
	id := listed.Rules[0].ID
	require.Contains(t, said(0, "list"), "Learned: from orders@shop.example: move Orders")
	require.Contains(t, said(0, "show", id), "Order 5")
	require.Contains(t, said(exitUsage, "accept", "ffff"), "there is no learned rule ffff")
	require.Contains(t, said(exitUsage, "bulk", "maybe", "0"), "yes or no")
	require.Contains(t, said(exitUsage, "bulk", "yes", "many"), "no number")
	require.Contains(t, said(exitUsage, "bulk", "yes", "3"), "another by now")
	require.Contains(t, said(0, "bulk", "no", "0"), "0 corrections never count")

	require.Contains(t, said(exitUsage, "right", "models"), "there is no rule that warns or asks models")

	require.Contains(t, said(0, "accept", id), "accepted: Learned: from orders@shop.example")
	require.Contains(t, m.rulesText(), "orders@shop.example")
	require.Contains(t, m.rulesText(), "Tea")
	require.Contains(t, said(exitUsage, "dismiss", id), "another state")
	require.Contains(t, said(0, "remove", id), "dismissed: ")
	require.NotContains(t, m.rulesText(), "orders@shop.example")
	require.Contains(t, said(0, "run"), "0 new rules")
	require.Contains(t, said(exitUsage, "remove", id), "another state")

	off := newTeatime(t, "{action: archive}", "")
	runOnce(t, off.where...)
	r := off.postroomd("learn", "list")
	require.Equal(t, exitUsage, r.status)
	require.Contains(t, r.stderr, "learn.enabled")
}

// rulesText is that of the rules file.
func (m *teatime) rulesText() string {
	m.Helper()
	text, err := os.ReadFile(m.where[len(m.where)-1][len("paths.rules="):])
	require.NoError(m, err)
	return string(text)
}
