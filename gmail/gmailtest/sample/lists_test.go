package sample

import (
	"bytes"
	netmail "net/mail"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/gmailtest/mailbox"
)

// The letters stand among the mail of the sample in the order of arrival, and change nothing of it.
func TestWithListsAddsLettersAndNothingElse(t *testing.T) {
	alone, seen := read(t), map[string]mailbox.Message{}
	position, before := 0, time.Time{}
	for msg, err := range WithLists().Messages() {
		require.NoError(t, err)
		position++
		require.Equal(t, position, msg.Position)
		require.False(t, msg.Received.Before(before), msg.Name)
		require.NotContains(t, seen, msg.Name)
		before, seen[msg.Name] = msg.Received, msg
	}
	require.Equal(t, Mailbox().Name(), WithLists().Name(), "a copy of one goes on as a copy of the other")
	for name, msg := range alone {
		require.Equal(t, msg.Raw, seen[name].Raw, name)
		delete(seen, name)
	}
	require.Len(t, seen, 16)
	for name, msg := range seen {
		m, err := netmail.ReadMessage(bytes.NewReader(msg.Raw))
		require.NoError(t, err, name)
		require.Equal(t, Owner, regexp.MustCompile(`<(.*)>`).FindStringSubmatch(m.Header.Get("To"))[1])
		date, err := m.Header.Date()
		require.NoError(t, err, name)
		require.True(t, msg.Received.Equal(date), name)
		require.NotContains(t, string(msg.Raw), "\r", name)
		for _, host := range regexp.MustCompile(`[@/]([\w-]+\.[\w.-]*\w)`).FindAllSubmatch(msg.Raw, -1) {
			require.Regexp(t, `(^|\.)example(\.com)?$`, string(host[1]), name)
		}
	}
}

// A list is suggested when at least five of its mails came in 90 days and less than a fifth of them are read.
func TestTheListsAreHardlyRead(t *testing.T) {
	newest := mails[len(mails)-1].received
	for _, l := range lists {
		require.GreaterOrEqual(t, len(l.subjects), 5, l.name)
		require.Less(t, 5*l.read, len(l.subjects), l.name)
		require.True(t, l.at(0).After(newest.AddDate(0, 0, -90)), l.name)
		require.False(t, l.at(len(l.subjects)-1).After(newest), l.name)
	}
}
