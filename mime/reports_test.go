package mime_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/bounce"
)

// reported reads a mail that other programs have read wrongly.
func reported(t *testing.T, name string) *mime.Message {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata/reports", name+".eml"))
	require.NoError(t, err)
	return parsed(t, string(data))
}

func TestOtherFormsOfATextAreNoFiles(t *testing.T) {
	require.Empty(t, reported(t, "94-amp-newsletter").Attachments)
	for _, form := range []string{"text/x-amp-html", "text/watch-html", "text/enriched", "text/richtext",
		"text/markdown"} {
		m := parsed(t, "Content-Type: multipart/alternative; boundary=b\n\n--b\nContent-Type: text/plain\n\nplain\n--b\n"+
			"Content-Type: "+form+"\n\nanother\n--b\nContent-Type: text/html\n\n<p>html\n--b--\n")
		require.Empty(t, m.Attachments, form)
		require.Equal(t, "plain", strings.TrimSpace(m.Text), form)
		m = parsed(t, "Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain\n\nplain\n--b\n"+
			"Content-Type: "+form+"\nContent-Disposition: attachment; filename=a.txt\n\nanother\n--b--\n")
		require.Len(t, m.Attachments, 1, form)
	}
}

func TestIDsAsEncodedWords(t *testing.T) {
	m := reported(t, "77-irt-encoded")
	require.Equal(t, "p@q.example", m.InReplyTo)
	require.Equal(t, []string{"a@q.example", "p@q.example"}, m.References)
	m = parsed(t, "Message-ID: =?utf-8?q?=3Ca=40b.example=3E?=\n\nx")
	require.Equal(t, "a@b.example", m.MessageID)
}

func TestAddressesInOddDress(t *testing.T) {
	m := reported(t, "101-trailing-dot")
	require.True(t, strings.HasSuffix(m.From[0].Email, "@v5.evil.example"), m.From[0].Email)
	for value, want := range map[string]string{
		"Ann <ann@a.example.>":                       "ann@a.example",
		"ann@a.example.":                             "ann@a.example",
		"[ann@a.example]":                            "ann@a.example",
		"Ann <[ann@a.example]>":                      "ann@a.example",
		"Ann <mailto:ann@a.example>":                 "ann@a.example",
		"Ann <MAILTO:ann@a.example>":                 "ann@a.example",
		"mailto:ann@a.example":                       "ann@a.example",
		"\u200bann@a.example\u200b":                  "ann@a.example",
		"Ann <\u200bann@a.example\ufeff>":            "ann@a.example",
		"Ann <\u2060ann@a.example\u200d>":            "ann@a.example",
		"ann@[192.0.2.1]":                            "ann@[192.0.2.1]",
		"Ann <ann@[IPv6:2001:db8::1]>":               "ann@[IPv6:2001:db8::1]",
		`"a.b."@a.example`:                           `"a.b."@a.example`,
		"=?utf-8?q?Ann?= <ann@a.example>, mailto: ;": "ann@a.example",
	} {
		var got []string
		for _, a := range parsed(t, "From: "+value+"\n\nx").From {
			got = append(got, a.Email)
		}
		require.Equal(t, []string{want}, got, value)
	}
}

func TestCommaInANameKeepsBothHalves(t *testing.T) {
	m := reported(t, "19-comma-name")
	require.Len(t, m.From, 1)
	require.Equal(t, "joe@example.com", m.From[0].Email)
	for value, want := range map[string]string{
		"Doe, Joe <joe@example.com>":                           "Doe, Joe",
		"Doe, Joe, Jr. <joe@example.com>, Ann <ann@a.example>": "Doe, Joe, Jr.",
		"undisclosed, Joe <joe@example.com>":                   "undisclosed, Joe",
		`"Doe", Joe <joe@example.com>`:                         "Doe, Joe",
		"=?utf-8?q?M=C3=BCller?=, Joe <joe@example.com>":       "Müller, Joe",
		"Team: Doe, Joe <joe@example.com>;":                    "Doe, Joe",
	} {
		require.Equal(t, want, parsed(t, "To: "+value+"\n\nx").To[0].Name, value)
	}
	m = parsed(t, "To: ann@a.example, Doe, Joe <joe@example.com>\n\nx")
	require.Len(t, m.To, 2)
	require.Equal(t, "Doe, Joe", m.To[1].Name)
}

func TestPlainWordBounces(t *testing.T) {
	b := bounce.Read(reported(t, "39b-bounce-plain"))
	require.NotNil(t, b)
	require.Equal(t, "huhhup@gmail.example", b.Recipients[0].Final)
	require.Equal(t, mime.BounceFailed, b.Recipients[0].Action)
	require.Equal(t, "5.1.1", b.Recipients[0].Status)
	require.Equal(t, mime.ReasonNoUser, b.Recipients[0].Reason)
	b = bounce.Read(reported(t, "104-1-notice"))
	require.NotNil(t, b)
	require.Equal(t, "bob@gone.example", b.Recipients[0].Final)
	require.Equal(t, 550, b.Recipients[0].Code)
	for _, line := range []string{"Failed Recipient: bob@gone.example", "Recipient: <bob@gone.example>",
		"To: bob@gone.example", "Failed recipients: bob@gone.example"} {
		b = bounce.Read(parsed(t, "From: Mail Delivery System <mailer-daemon@mx.example>\nTo: me@a.example\n"+
			"Return-Path: <>\nSubject: Undelivered Mail Returned to Sender\n\nYour message was not delivered.\n\n"+
			line+"\nReason: 550 5.1.1 no such user\n"))
		require.NotNil(t, b, line)
		require.Equal(t, "bob@gone.example", b.Recipients[0].Final, line)
		require.Equal(t, mime.ReasonNoUser, b.Recipients[0].Reason, line)
	}
}

func TestDatesWithZonesInWords(t *testing.T) {
	data, err := os.ReadFile("testdata/reports/dates.json")
	require.NoError(t, err)
	var dates []struct{ Date, Right string }
	require.NoError(t, json.Unmarshal(data, &dates))
	for value, right := range map[string]string{
		"Tue, 3 Mar 2026 10:00:00 UTC-0530":                 "2026-03-03T15:30:00Z",
		"Tue, 3 Mar 2026 10:00:00 UTC+1":                    "2026-03-03T09:00:00Z",
		"Tue Mar 03 2026 10:00:00 GMT+0100 (CET)":           "2026-03-03T09:00:00Z",
		"Tue, 3 Mar 2026 10:00:00 GMT +0100":                "2026-03-03T09:00:00Z",
		"Tue, 3 Mar 2026 10:00:00 W. Europe Standard Time":  "2026-03-03T09:00:00Z",
		"Tue, 3 Mar 2026 10:00:00 Romance Daylight Time":    "2026-03-03T08:00:00Z",
		"Wed, 24 Jul 2019 03:05:23 India Standard Time":     "2019-07-23T21:35:23Z",
		"Wed, 24 Jul 2019 03:05:23 Eastern Standard Time":   "2019-07-24T08:05:23Z",
		"Wed, 24 Jul 2019 3:05:23 PM Eastern Daylight Time": "2019-07-24T19:05:23Z",
	} {
		dates = append(dates, struct{ Date, Right string }{value, right})
	}
	for _, d := range dates {
		got, ok := mime.ParseDate(d.Date)
		require.True(t, ok, d.Date)
		require.Equal(t, d.Right, got.UTC().Format(time.RFC3339), d.Date)
	}
}

func TestUnfoldedLinesInARow(t *testing.T) {
	m := reported(t, "16b-folded-nospace")
	require.Equal(t, "a.example", m.Header.List().ID)
	require.Equal(t, "text/html", m.Root.ContentType)
	require.Equal(t, "<p>real body</p>", strings.TrimSpace(m.HTML))
}

func TestCharsetNamesWithOddSeparators(t *testing.T) {
	require.Equal(t, "Grüße", strings.TrimSpace(reported(t, "72-cp850").Text))
	for name, text := range map[string]string{"cp-850": "Gr\x81\xe1e", "CP 850": "Gr\x81\xe1e", "ibm-850": "Gr\x81\xe1e",
		"iso8859_15": "Gr\xfc\xdfe", "ISO:8859:1": "Gr\xfc\xdfe", "iso_8859_1": "Gr\xfc\xdfe", "iso88591": "Gr\xfc\xdfe",
		"windows_1252": "Gr\xfc\xdfe", "win1252": "Gr\xfc\xdfe", "utf_8": "Grüße", "utf 8": "Grüße", "latin_1": "Gr\xfc\xdfe"} {
		require.Equal(t, "Grüße", parsed(t, "Content-Type: text/plain; charset=\""+name+"\"\n\n"+text).Text, name)
	}
	require.Equal(t, "안녕", parsed(t, "Content-Type: text/plain; charset=iso-2022-kr\n\n\x1b$)C\x0e>H3g\x0f").Text)
}

func TestATypeThatIsAnEncodedWord(t *testing.T) {
	m := reported(t, "55-ct-all-encoded")
	require.Len(t, m.Attachments, 1)
}

func TestUnsubscribeWithoutBrackets(t *testing.T) {
	l := reported(t, "41e-lu-nobrackets").Header.List()
	require.Nil(t, l.Unsubscribe.OneClick)
	for _, value := range []string{"https://x.example/u?a=1,2", "https://x.example/u?a=1 2", "https://x.example/u"} {
		l := parsed(t, "List-Unsubscribe: "+value+"\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\n\nx").Header.List()
		require.Nil(t, l.Unsubscribe.OneClick, value)
		require.Empty(t, l.Unsubscribe.Web, value)
	}
	l = parsed(t, "List-Unsubscribe: https://x.example/u,\n <https://y.example/u?a=1,2>\nList-Unsubscribe-Post: "+
		"List-Unsubscribe=One-Click\n\nx").Header.List()
	require.Equal(t, "https://y.example/u?a=1,2", l.Unsubscribe.OneClick.String())
}
