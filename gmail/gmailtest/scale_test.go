package gmailtest_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/gmailtest/mailbox"
)

// crowd is a mailbox of many messages of a usual kind, made as they are read.
type crowd int

func (c crowd) Name() string { return "crowd" }

func (c crowd) Messages() iter.Seq2[mailbox.Message, error] {
	words := []string{"meeting", "invoice", "holiday", "server", "garden", "music", "lunch", "train", "report",
		"paper", "winter"}
	return func(yield func(mailbox.Message, error) bool) {
		for i := range int(c) {
			var body strings.Builder
			for w := range 60 {
				fmt.Fprintf(&body, "%s%d ", words[(i*7+w*i)%len(words)], (i*w)%97)
			}
			m := mailbox.Message{Position: i + 1, Labeled: true, Received: noon.Add(time.Duration(i) * time.Minute),
				Labels: []string{"Archived"}}
			m.Raw = fmt.Appendf(nil,
				"From: Sender %d <s%d@example%d.com>\nTo: you@example.com\nSubject: %s %d\nMessage-ID: <%d@crowd>\n\n%s\n",
				i%500, i%500, i%50, words[i%len(words)], i/3, i, body.String())
			if i%10 == 0 {
				m.Labels = append(m.Labels, "Inbox", "Unread")
			}
			if i%5000 == 0 {
				m.Labels = append(m.Labels, "Rare")
			}
			if i%40 == 0 {
				m.Labels = append(m.Labels, "Spam")
			}
			if !yield(m, nil) {
				return
			}
		}
	}
}

// BenchmarkMailbox measures calls on a mailbox of 100,000 messages.
func BenchmarkMailbox(b *testing.B) {
	server, err := gmailtest.Open(b.Context(), gmailtest.Config{Dir: b.TempDir()})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, server.Close()) })
	_, err = server.Import(context.WithoutCancel(b.Context()), crowd(100_000), nil)
	require.NoError(b, err)
	service, err := server.Service(b.Context())
	require.NoError(b, err)
	users := service.Users
	for _, q := range []string{
		"", "in:inbox", "in:inbox is:unread", "label:rare", "from:s77", "winter garden", "invoice96 -meeting", "subject:(train OR lunch)",
		`"holiday 33"`, "rfc822msgid:5@crowd", "after:2026/05/01 before:2026/05/02", "nowhere", "larger:1M", "in:spam", "has:attachment",
	} {
		b.Run("messages.list q="+q, func(b *testing.B) {
			for b.Loop() {
				_, err := users.Messages.List("me").Q(q).Do()
				require.NoError(b, err)
			}
		})
	}
	for name, call := range map[string]func() error{
		"threads.list":   func() error { _, err := users.Threads.List("me").Do(); return err },
		"threads.list q": func() error { _, err := users.Threads.List("me").Q("winter in:inbox").Do(); return err },
		"getProfile":     func() error { _, err := users.GetProfile("me").Do(); return err },
		"labels.get":     func() error { _, err := users.Labels.Get("me", "INBOX").Do(); return err },
		"history.list":   func() error { _, err := users.History.List("me").StartHistoryId(100_000).Do(); return err },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				require.NoError(b, call())
			}
		})
	}
}
