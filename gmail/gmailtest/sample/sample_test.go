package sample

import (
	"bytes"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/gmailtest/mailbox"
)

func read(t *testing.T) map[string]mailbox.Message {
	t.Helper()
	messages := map[string]mailbox.Message{}
	position := 0
	for msg, err := range Mailbox().Messages() {
		require.NoError(t, err)
		position++
		require.Equal(t, position, msg.Position)
		require.NotEmpty(t, msg.Raw, msg.Name)
		require.NotContains(t, messages, msg.Name)
		messages[msg.Name] = msg
	}
	return messages
}

func TestEveryFileIsAMessageOfTheMailbox(t *testing.T) {
	messages := read(t)
	stored, err := fs.Glob(files, "messages/*.eml")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(stored), 66)
	require.Len(t, messages, len(stored)+1, "one is made")
	for _, file := range stored {
		require.Contains(t, messages, strings.TrimPrefix(file, "messages/"))
	}
}

func TestEveryCategoryIsThere(t *testing.T) {
	counts := map[category]int{}
	for _, m := range mails {
		counts[m.category]++
	}
	for c, least := range map[category]int{
		newsletter: 6, receipt: 5, order: 4, thread: 6, invitation: 3, bounce: 3, mailingList: 4, charset: 8, attachment: 4,
		injection: 6, spoof: 4, autoReply: 2, social: 3, security: 3, personal: 3, travel: 2, notification: 3, spam: 3,
		draft: 1, sent: 1, broken: 3,
	} {
		require.GreaterOrEqual(t, counts[c], least, c)
	}
}

func TestMessageIDsAreDistinctAndDatesOf2026(t *testing.T) {
	id := regexp.MustCompile(`(?mi)^Message-ID: <([^<>\s]+@[^<>\s]+)>$`)
	seen := map[string]string{}
	for name, msg := range read(t) {
		require.Equal(t, 2026, msg.Received.Year(), name)
		if strings.HasPrefix(name, "broken-") && name != nestedName+".eml" && name != "broken-cut-off.eml" {
			continue
		}
		found := id.FindSubmatch(msg.Raw)
		require.NotNil(t, found, name)
		require.Empty(t, seen[string(found[1])], name)
		seen[string(found[1])] = name
		require.Contains(t, string(msg.Raw), "2026", name)
	}
}

func TestOrderIsThatOfArrival(t *testing.T) {
	require.True(t, slices.IsSortedFunc(mails, func(a, b mail) int { return a.received.Compare(b.received) }))
}

func TestLabels(t *testing.T) {
	require.True(t, slices.IsSorted(Labels))
	counts := map[string]int{}
	for _, msg := range read(t) {
		for _, label := range msg.Labels {
			counts[label]++
			require.True(t, label == strings.ToUpper(label) || slices.Contains(Labels, label), label)
		}
	}
	for label, least := range map[string]int{
		"INBOX": 60, "UNREAD": 40, "STARRED": 2, "SENT": 3, "DRAFT": 1, "SPAM": 2, "TRASH": 1, "Family": 2, "Receipts": 1,
	} {
		require.GreaterOrEqual(t, counts[label], least, label)
	}
}

// A checkout that changes line ends, or an editor that saves as UTF-8, would take the point out of these.
func TestBytesAreAsTheyWereWritten(t *testing.T) {
	messages := read(t)
	for name, want := range map[string]string{
		"charset-iso-2022-jp":  "\x1b$B",
		"charset-koi8-r":       "\xf0\xd2\xc9\xd7\xc5\xd4", // Привет
		"charset-gb18030":      "\xc4\xe3\xba\xc3",         // 你好
		"charset-windows-1256": "\xe3\xd1\xcd\xc8\xc7",     // مرحبا
		"charset-euc-kr":       "\xbe\xc8\xb3\xe7",         // 안녕
		"charset-windows-1255": "\xf9\xec\xe5\xed",         // שלום
		"charset-iso-8859-7":   "\xc3\xe5\xe9\xe1",         // Γεια
		"charset-undeclared":   "R\xe9union",
	} {
		raw := messages[name+".eml"].Raw
		require.True(t, bytes.Contains(raw, []byte(want)), name)
		if name != "charset-iso-2022-jp" {
			require.False(t, utf8.Valid(raw), name)
		}
	}
	require.Contains(t, string(messages["charset-emoji.eml"].Raw), "🦀")
	require.Contains(t, string(messages["broken-header-garbage.eml"].Raw), "\x00")
	for name, msg := range messages {
		require.NotContains(t, string(msg.Raw), "\r", name)
	}
}

func TestTheAddressesAreInvented(t *testing.T) {
	domain := regexp.MustCompile(`[\w.+-]+@([\w-]+\.[\w.-]*\w)`)
	for name, msg := range read(t) {
		for _, found := range domain.FindAllSubmatch(msg.Raw, -1) {
			host := strings.ToLower(string(found[1]))
			require.Regexp(t, `(^|\.)example(\.(com|org|net))?$`, host, name)
		}
	}
}
