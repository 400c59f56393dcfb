package mime_test

import (
	"fmt"
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
		"MAILER-DAEMON": true, "Mailer-Daemon (x.example)": true, "Mail Delivery Subsystem <>": true,
		`"Mail Delivery System" < >`: true,
		"<>":                         true, "Postmaster <>": true, "": false, "Ann": false, "MAILER-DAEMON@x.example.": true,
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

// Zoho names the recipient before the codes, or in brackets; sendmail 5 without angle brackets.
func TestNoticesOfZohoAndOldSendmail(t *testing.T) {
	zoho := "From: mailer-daemon@mail.zoho.example\nTo: me@a.example\nSubject: Undelivered Mail Returned to Sender\n\n" +
		"This message was created automatically by mail delivery software.\n" +
		" A message that you sent could not be delivered to one or more of its recipients. This is a permanent error.\n\n"
	sendmail := "From: Mail Delivery Subsystem <MAILER-DAEMON@v5.example>\nTo: me@a.example\nSubject: Returned mail\n\n" +
		"   ----- Transcript of session follows -----\n"
	for text, want := range map[string]mime.BounceRecipient{
		zoho + "bob@gone.example Invalid Address, ERROR_CODE :550, ERROR_CODE :5.1.1 <bob@gone.example>... User Unknown\n": {
			Code: 550, Status: "5.1.1", Reason: mime.ReasonNoUser},
		zoho + "bob@gone.example Invalid Address, ERROR_CODE :550, ERROR_CODE :Requested action not taken: mailbox unavailable\n": {
			Code: 550, Reason: mime.ReasonNoUser},
		zoho + "[Status: Error, Address: <bob@gone.example>, ResponseCode 421, , Host not reachable.]\n": {
			Code: 421, Reason: mime.ReasonUnknown},
		sendmail + "While talking to gone.example:\n>>> RCPT To:<bob@gone.example>\n<<< 550 User unknown\n" +
			"550 bob@gone.example... User unknown\n\n   ----- Unsent message follows -----\nFrom: me@a.example\nSubject: Hi\n": {
			Code: 550, Reason: mime.ReasonNoUser},
		sendmail + "550 bob@gone.example... Host unknown\n": {Code: 550, Reason: mime.ReasonNoDomain},
	} {
		b := bounce.Read(parsed(t, text))
		require.NotNil(t, b, text)
		require.Len(t, b.Recipients, 1, text)
		got := b.Recipients[0]
		require.Equal(t, "bob@gone.example", got.Final, text)
		require.Equal(t, want, mime.BounceRecipient{Code: got.Code, Status: got.Status, Reason: got.Reason}, got.Diagnostic)
	}
}

// Who is told in the forms that notices have of the one label.
func TestLabelsOfRecipients(t *testing.T) {
	const head = "From: postmaster@x.example\nTo: me@a.example\nSubject: Delivery Failure\n\n"
	for text, want := range map[string][]string{
		"Recipient: bob@gone.example\nReason: 550 No such user here\n":                    {"bob@gone.example 550"},
		"failed recipient: <bob@gone.example>\nReason: 550-5.1.1 gone\n":                  {"bob@gone.example 550"},
		"Recipient: [bob@gone.example]\nReason: 550 5.1.1 User unknown\n":                 {"bob@gone.example 550"},
		"RECIPIENT:\tbob@gone.example\nReason: 452 4.2.2 full\n":                          {"bob@gone.example 452"},
		"Recipient address: bob@gone.example\nReason: rejected RCPT TO: 452 4.2.2 full\n": {"bob@gone.example 452"},
		"To: <bob@gone.example>\nSubject: hello\n\n550 5.1.1 unknown user\n":              {"bob@gone.example 550"},
		"To: bob@gone.example\n550 gone\n\nTo: ann@x.example\nSubject: Hi\n":              {"bob@gone.example 550"},
		"Failed Recipients: a@x.example, b@y.example\nReason: 550 5.1.1 no such user\n": {"a@x.example 550",
			"b@y.example 550"},
		"Failed to deliver to 'bob@gone.example'\nmx.gone.example says:\n 550 no mailbox\n": {"bob@gone.example 550"},
		"bob@gone.example, ERROR CODE :550 - 5.1.1 <bob@gone.example>: User unknown\n":      {"bob@gone.example 550"},
		"Failed Recipient: one@gone.example\nReason: 550 5.1.1 no such user\n\n" +
			"Failed Recipient: two@gone.example\nReason: 452 4.2.2 over quota\n\n" +
			"   -- The header and top 20 lines of the message follows --\n\nTo: three@x.example\n": {"one@gone.example 550",
			"two@gone.example 452"},
		"Recipient: one@gone.example\nReason: 550 gone\nOriginal recipient: alias@x.example\n": {"one@gone.example 550"},
	} {
		b := bounce.Read(parsed(t, head+text))
		require.NotNil(t, b, text)
		var got []string
		for _, r := range b.Recipients {
			got = append(got, fmt.Sprint(r.Final, " ", r.Code))
		}
		require.Equal(t, want, got, text)
	}
	require.Nil(t, bounce.Read(parsed(t, "From: ann@x.example\nSubject: order\n\n"+
		"Recipient: bob@y.example\nReason: 550 euros\n")))
}

// All events of a file are read, whatever is missing between its calendars.
func TestCalendarsThatDoNotEnd(t *testing.T) {
	event := func(uid string) string {
		return "BEGIN:VEVENT\nUID:" + uid + "\nDTSTART;VALUE=DATE:20260101\nEND:VEVENT\n"
	}
	calendarOf := func(s string) string { return "BEGIN:VCALENDAR\nVERSION:2.0\n" + s + "END:VCALENDAR\n" }
	whole := calendarOf(event("a")) + calendarOf(event("b"))
	for name, text := range map[string]string{
		"whole": whole, "blank lines": calendarOf(event("a")) + "\n\n" + calendarOf(event("b")),
		"lower case":      strings.ToLower(whole),
		"marks":           "\ufeff" + calendarOf(event("a")) + "\ufeff" + calendarOf(event("b")),
		"no end of one":   strings.Replace(whole, "END:VCALENDAR\n", "", 1),
		"no end at all":   strings.ReplaceAll(whole, "END:VCALENDAR\n", ""),
		"no end of event": strings.Replace(whole, "END:VEVENT\n", "", 1),
		"events in one":   calendarOf(strings.Replace(event("a"), "END:VEVENT\n", "", 1) + event("b")),
		"lines end in CR": strings.ReplaceAll(whole, "\n", "\r"),
		"in each other":   calendarOf(whole), "cut": strings.TrimSuffix(whole, "END:VEVENT\nEND:VCALENDAR\n"),
		"words between": calendarOf(event("a")) + "--\nAnd also\n" + calendarOf(event("b")),
	} {
		all, err := calendar.ParseAll(text)
		require.NoError(t, err, name)
		var uids []string
		for _, c := range all {
			for i := range c.Events {
				uids = append(uids, strings.ToLower(c.Events[i].UID))
			}
		}
		require.Equal(t, []string{"a", "b"}, uids, name)
	}
}
