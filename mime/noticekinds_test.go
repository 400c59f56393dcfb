package mime_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/bounce"
	"github.com/postroom-go/postroom/mime/calendar"
)

func TestDaemonsWithoutAnAddress(t *testing.T) {
	for from, want := range map[string]bool{
		"MAILER-DAEMON <>": true, `"Mailer-Daemon" <>`: true, "MAILER-DAEMON (Mail System) <>": true, "Ann <>": false,
		"MAILER-DAEMON <ann@a.example>": false,
	} {
		require.Equal(t, want, parsed(t, "From: "+from+"\n\nx").Header.FromDaemon(), from)
	}
	b := bounce.Read(parsed(t, "From: MAILER-DAEMON <>\nTo: me@a.example\nSubject: Returned mail: User unknown\n\n"+
		"   ----- Transcript of session follows -----\n... while talking to mx.gone.example:\n"+
		">>> RCPT To:<bob@gone.example>\n<<< 550 5.1.1 User unknown\n550 <bob@gone.example>... User unknown\n"))
	require.NotNil(t, b)
	require.Equal(t, "bob@gone.example", b.Recipients[0].Final)
	require.Equal(t, 550, b.Recipients[0].Code)
	require.Equal(t, mime.ReasonNoUser, b.Recipients[0].Reason)
}

func TestAllCalendarsOfAFile(t *testing.T) {
	day := "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:%\nDTSTART;VALUE=DATE:20260101\nEND:VEVENT\nEND:VCALENDAR\n"
	var file strings.Builder
	for _, uid := range []string{"a", "b", "c"} {
		file.WriteString(strings.ReplaceAll(day, "%", uid))
	}
	c, err := calendar.Parse(file.String())
	require.NoError(t, err)
	require.Len(t, c.Events, 3)
	file.WriteString(strings.Replace(strings.ReplaceAll(day, "%", "d"), "BEGIN:VEVENT", "METHOD:CANCEL\nBEGIN:VEVENT", 1))
	all, err := calendar.ParseAll(file.String())
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.Equal(t, "CANCEL", all[1].Method)
	require.Len(t, all[1].Events, 1)
}

func TestNULAtTheEndGoes(t *testing.T) {
	require.Equal(t, "Plan", parsed(t, "Subject: Plan\x00\nFrom: Ann\x00 <a@b.example>\n\nx").Subject)
	require.Equal(t, "Plan", parsed(t, "Subject: =?utf-8?q?Plan=00?=\n\nx").Subject)
}

func TestIDsBeyondASCIIAreNotReferredTo(t *testing.T) {
	m := parsed(t, "Message-ID: <m\u00fc@b.example>\nReferences: <a@b.example> <\u00fc@b.example>\n\nx")
	var o mime.Outgoing
	o.Answer(m)
	require.Empty(t, o.InReplyTo)
	require.Equal(t, []string{"a@b.example"}, o.References)
}
