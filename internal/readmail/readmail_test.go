package readmail_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/readmail"
	"github.com/postroom-go/postroom/mime"
)

func read(t *testing.T, raw string) *postroom.Message {
	t.Helper()
	m, err := mime.ParseBytes([]byte(strings.ReplaceAll(raw, "\n", "\r\n")), nil)
	require.NoError(t, err)
	return readmail.Message(m)
}

const letter = `Received: by a.example
Received: by b.example
From: =?utf-8?q?J=C3=BCrgen?= <jo@a.example>, second@a.example
Reply-To: answers@a.example
To: me@home.example, Team <team@home.example>
Cc: carl@c.example
Bcc: dan@d.example
Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=
X-Long: folded
 value
Message-ID: <1@a.example>
In-Reply-To: <0@home.example>
References: <00@home.example> <0@home.example>
Date: Wed, 3 Jun 2009 11:30:05 -0700
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: text/plain

Hello
--b
Content-Type: text/html

<p>Hello</p>
--b
Content-Type: application/pdf
Content-Disposition: attachment; filename="bill.pdf"
Content-Transfer-Encoding: base64

SGVsbG8=
--b
Content-Type: image/png; name=logo.png
Content-Disposition: inline
Content-ID: <logo>

PNG
--b
Content-Type: text/calendar
Content-Disposition: attachment

BEGIN:VCALENDAR
--b--
`

func TestAMessageSaysWhatItHas(t *testing.T) {
	got := read(t, letter)
	require.Equal(t, postroom.Address{Name: "Jürgen", Email: "jo@a.example"}, got.From, "the first author")
	require.Equal(t, []postroom.Address{{Email: "answers@a.example"}}, got.ReplyTo)
	require.Equal(t, []postroom.Address{{Email: "me@home.example"}, {Name: "Team", Email: "team@home.example"}}, got.To)
	require.Equal(t, []postroom.Address{{Email: "carl@c.example"}}, got.Cc)
	require.Equal(t, []postroom.Address{{Email: "dan@d.example"}}, got.Bcc)
	require.Equal(t, "Grüße", got.Subject)
	require.Equal(t, "1@a.example", got.MessageID)
	require.Equal(t, "0@home.example", got.InReplyTo)
	require.Equal(t, []string{"00@home.example", "0@home.example"}, got.References)
	require.Equal(t, "Hello\nHello", strings.TrimSpace(got.BodyPlain))
	require.Equal(t, "<pre>Hello</pre>\n<p>Hello</p>", strings.TrimSpace(got.BodyHTML), "each text is in both bodies")
	require.Equal(t, time.Date(2009, 6, 3, 18, 30, 5, 0, time.UTC), got.Date, "in UTC, as databases keep it")
	require.EqualValues(t, len(strings.ReplaceAll(letter, "\n", "\r\n")), got.Size)
}

func TestHeadersKeepTheirOrderAndAreDecoded(t *testing.T) {
	got := read(t, letter)
	names := make([]string, len(got.Headers))
	for i, h := range got.Headers {
		names[i] = h.Name
	}
	require.Equal(t, []string{
		"Received", "Received", "From", "Reply-To", "To", "Cc", "Bcc", "Subject", "X-Long", "Message-ID", "In-Reply-To",
		"References", "Date", "Content-Type",
	}, names)
	require.Equal(t, []string{"by a.example", "by b.example"}, got.Header("Received"))
	require.Equal(t, []string{"Grüße"}, got.Header("Subject"))
	require.Equal(t, []string{"folded value"}, got.Header("X-Long"))
}

func TestAttachmentsAreDescribed(t *testing.T) {
	require.Equal(t, []postroom.Attachment{
		{Filename: "bill.pdf", ContentType: "application/pdf", Size: 5},
		{Filename: "logo.png", ContentType: "image/png", Size: 3, Inline: true, ContentID: "logo", Kind: "picture"},
		{ContentType: "text/calendar", Size: 15, Kind: "calendar"},
	}, read(t, letter).Attachments, "sizes are those of the decoded files, and a file has no kind")
}

func TestWhatOnlyTheProviderKnowsIsZero(t *testing.T) {
	got := read(t, letter)
	provided := postroom.Message{
		ID: got.ID, AccountID: got.AccountID, ThreadID: got.ThreadID, ProviderID: got.ProviderID,
		ProviderThreadID: got.ProviderThreadID,
		Snippet:          got.Snippet, LabelIDs: got.LabelIDs, ReceivedAt: got.ReceivedAt,
	}
	require.Equal(t, postroom.Message{}, provided)
}

func TestAnEmptyMessageIsZero(t *testing.T) {
	require.Equal(t, &postroom.Message{}, readmail.Message(&mime.Message{}))
	got := read(t, "X: y\n\n")
	require.True(t, got.Date.IsZero())
	require.True(t, got.From.IsZero())
	require.Nil(t, got.To)
	require.Nil(t, got.Attachments)
}
