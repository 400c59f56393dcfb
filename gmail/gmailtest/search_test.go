package gmailtest_test

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/gmailtest/mailbox"
)

// post is a small mailbox in which every operator finds something.
func post() *box {
	b := &box{name: "post"}
	add := func(id string, at time.Time, raw string, labels ...string) {
		m := letter("Message-ID: <"+id+"@example.com>\n"+raw, append([]string{"Archived"}, labels...)...)
		m.Received = at
		b.messages = append(b.messages, m)
	}
	add("dinner", noon,
		"From: =?UTF-8?Q?Jos=C3=A9?= Lee <jose.lee@mail.example.com>\nTo: you@example.com, \"Roe, Bob\" <bob@example.org>\n"+
			"Subject: Dinner at the caf=?UTF-8?Q?=C3=A9?=\n\nWill you come on Friday? We <b> of it.\n", "Inbox", "Unread")
	add("news", noon.AddDate(0, 0, -3),
		"From: News <news@example.net>\nTo: list@example.net\nList-ID: Weekly <weekly.example.net>\n"+
			"Delivered-To: you+news@example.com\nContent-Type: text/html\n\n<p><b>un</b>subscribe <a href=\"https://youtu.be/x\">film</a>\n",
		"Category Promotions")
	add("file", noon.AddDate(0, -2, 0),
		"From: ann@example.com\nCc: carol@example.com\nBcc: dave@example.com\nSubject: Rechnung M\u00e4rz\n"+
			"Content-Type: application/pdf; name=\"Rechnung_2026-01.pdf\"\nContent-Transfer-Encoding: base64\n\n"+
			strings.Repeat("QUFB", 5000)+"\n", "Receipts/Old stuff")
	add("japan", noon.AddDate(-2, 0, 0),
		"From: you@example.com\nTo: taro@example.jp\nSubject: =?UTF-8?B?5pel5pys6Kqe44Gu5Lu25ZCN?=\n\n"+
			"a long holiday on the sea, and then at last vacation\n", "Sent", "Starred", "Important")
	add("junk", noon, "From: x@example.net\nSubject: dinner for you\n\n\n", "Spam", "Unread")
	return b
}

func TestSearchOperators(t *testing.T) {
	server := gmailtest.NewServer(t)
	_, err := server.Import(t.Context(), post(), nil)
	require.NoError(t, err)
	users := client(t, server)
	since := func(days int) string { return strconv.FormatInt(noon.AddDate(0, 0, days).Unix(), 10) }
	for q, want := range map[string]string{
		"dinner":                            "dinner",
		"dinner in:anywhere":                "dinner junk",
		"cafe JOSE":                         "dinner",
		"caf\u00e9":                         "dinner",
		"din":                               "",
		"unsubscribe":                       "news",
		"subscribe":                         "",
		`"on friday"`:                       "dinner",
		`"friday on"`:                       "",
		"friday OR film":                    "dinner news",
		"{friday film} -jose":               "news",
		"(friday OR film) from:(news jose)": "",
		"from:(news OR jose)":               "dinner news",
		"from:jose.lee@mail.example.com":    "dinner",
		"from:example.com":                  "dinner file japan",
		"from:me":                           "japan",
		"to:me":                             "dinner",
		"to:roe":                            "dinner",
		`to:"com roe"`:                      "",
		"to:carol":                          "file",
		"cc:carol":                          "file",
		"bcc:carol":                         "",
		"bcc:dave":                          "file",
		"subject:marz":                      "file",
		"subject:\u65e5\u672c":              "japan",
		"\u4ef6\u540d":                      "japan",
		"filename:pdf":                      "file",
		"filename:rechnung_2026-01.pdf":     "file",
		"has:attachment":                    "file",
		"has:youtube":                       "news",
		"has:drive":                         "",
		"has:userlabels":                    "file",
		"has:nouserlabels is:starred":       "japan",
		"has:yellow-star":                   "japan",
		"has:red-star":                      "",
		"label:receipts-old-stuff":          "file",
		`label:"receipts/old stuff"`:        "file",
		"label:nosuch":                      "",
		"-label:nosuch is:important":        "japan",
		"in:sent":                           "japan",
		"in:archive":                        "news file",
		"is:unread":                         "dinner",
		"is:snoozed":                        "",
		"category:promotions":               "news",
		"category:primary":                  "",
		"list:weekly.example.net":           "news",
		"list:example.net":                  "news",
		"weekly":                            "",
		"deliveredto:you+news@example.com":  "news",
		"rfc822msgid:file@example.com":      "file",
		"rfc822msgid:FILE@example.com":      "",
		"larger:15K":                        "file",
		"smaller:15K from:jose":             "dinner",
		"size:10M":                          "",
		"after:" + since(-1):                "dinner",
		"before:" + since(-1):               "news file japan",
		"after:2026/02/26 before:2026/3/1":  "news",
		"newer:02/26/2026 -in:inbox":        "news",
		"older:2025-01-01":                  "japan",
		"holiday AROUND 6 vacation":         "",
		"holiday AROUND 7 vacation":         "japan",
		"vacation AROUND 7 holiday":         "japan",
		"in:spam":                           "junk",
		"after:soon":                        "",
	} {
		t.Run(q, func(t *testing.T) {
			list, err := users.Messages.List("me").Q(q).Do()
			require.NoError(t, err)
			require.ElementsMatch(t, strings.Fields(want), ids(t, server, list.Messages))
			require.EqualValues(t, len(list.Messages), list.ResultSizeEstimate)
			threads, err := users.Threads.List("me").Q(q).Do()
			require.NoError(t, err)
			require.Len(t, threads.Threads, len(list.Messages), "each is a thread of its own")
		})
	}
	_, err = users.Messages.List("me").Q(strings.Repeat("x ", 500)).Do()
	requireAPIError(t, err, http.StatusBadRequest, "invalidArgument")
}

func TestSearchByAge(t *testing.T) {
	now := noon.Add(time.Hour)
	server, err := gmailtest.Open(t.Context(), gmailtest.Config{Now: func() time.Time { return now }})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	_, err = server.Import(t.Context(), post(), nil)
	require.NoError(t, err)
	users := client(t, server)
	for q, want := range map[string]string{
		"newer_than:2h": "dinner", "newer_than:30m older_than:4d": "file japan", "older_than:1m": "file japan", "older_than:1y": "japan", "newer_than:1w": "",
	} {
		t.Run(q, func(t *testing.T) {
			list, err := users.Messages.List("me").Q(q).Do()
			require.NoError(t, err)
			require.ElementsMatch(t, strings.Fields(want), ids(t, server, list.Messages))
		})
	}
}

func TestSearchForgetsWhatIsGone(t *testing.T) {
	server, users := serve(t, post())
	id := find(t, users, "file@example.com")
	require.NoError(t, users.Messages.Delete("me", id).Do())
	for _, q := range []string{"rechnung", "has:attachment", "filename:pdf"} {
		list, err := users.Messages.List("me").Q(q).Do()
		require.NoError(t, err)
		require.Empty(t, list.Messages, q)
	}
	_, err := users.Messages.Insert("me",
		&gmail.Message{Raw: encoded("Message-ID: <z@example.com>\r\nSubject: rechnung\r\n\r\n")}).Do()
	require.NoError(t, err)
	list, err := users.Messages.List("me").Q("rechnung").Do()
	require.NoError(t, err)
	require.Equal(t, []string{"z"}, ids(t, server, list.Messages))
}

func TestLabelIdsAndWords(t *testing.T) {
	server, users := serve(t, post())
	label := func(query string, ids ...string) []*gmail.Message {
		list, err := users.Messages.List("me").Q(query).LabelIds(ids...).Do()
		require.NoError(t, err)
		return list.Messages
	}
	require.Equal(t, []string{"dinner"}, ids(t, server, label("in:inbox", "UNREAD", "INBOX")))
	require.Equal(t, []string{"junk"}, ids(t, server, label("dinner", "SPAM")))
	require.Empty(t, label("film", "INBOX"))
	status, _, _ := ask(t, server, "GET", "/gmail/v1/users/me/messages?includeSpamTrash=perhaps", "")
	require.Equal(t, 400, status)
}

// What comes and goes between two pages neither hides a message nor shows it twice.
func TestPagesAreStable(t *testing.T) {
	server, users := serve(t, letters(30))
	var found []string
	token := ""
	for page := 0; ; page++ {
		list, err := users.Messages.List("me").Q("text").MaxResults(10).PageToken(token).Do()
		require.NoError(t, err)
		found = append(found, ids(t, server, list.Messages)...)
		if token = list.NextPageToken; token == "" {
			break
		}
		_, err = server.Import(t.Context(), &box{name: strconv.Itoa(page), messages: []mailbox.Message{
			{Raw: fmt.Appendf(nil, "Message-ID: <new%d@example.com>\n\nText", page), Received: noon.AddDate(1, 0, 0)},
		}}, nil)
		require.NoError(t, err)
		require.NoError(t, users.Messages.Delete("me", list.Messages[9].Id).Do())
	}
	require.Len(t, found, 30)
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(found))), 30)
}

func TestEstimateIsCutOff(t *testing.T) {
	_, users := serve(t, letters(230))
	list, err := users.Messages.List("me").MaxResults(3).Do()
	require.NoError(t, err)
	require.EqualValues(t, 201, list.ResultSizeEstimate, "Gmail stops counting there")
	threads, err := users.Threads.List("me").Q("letter").MaxResults(3).Do()
	require.NoError(t, err)
	require.EqualValues(t, 201, threads.ResultSizeEstimate)
}

// A comma in quotes parts no names, and what stands in a part of a part is found, up to the first megabyte of a
// message.
func TestWhereWordsStand(t *testing.T) {
	server, users := serve(t, nil)
	found := func(q string) int {
		t.Helper()
		list, err := users.Messages.List("me").Q(q).MaxResults(0).Do()
		require.NoError(t, err)
		return len(list.Messages)
	}
	deliver(t, server,
		"From: a@example.com\nTo: \"Lee, Ann \\\"Tea\\\" Mae\" <ann@example.com>, Bob Roe <bob@example.com>\n\n")
	require.Equal(t, 1, found(`to:"lee ann tea mae"`))
	require.Zero(t, found(`to:"com bob"`))

	deliver(t, server,
		"Subject: nested\nContent-Type: multipart/mixed; boundary=o\n\n--o\nContent-Type: multipart/alternative; boundary=i\n\n"+
			"--i\n\nrhubarb\n--i\nContent-Type: text/html\n\n<b>cus</b>tard\n--i--\n--o\n\n"+strings.Repeat("filler ", 150_000)+
			"\n--o\n\nmarzipan\n--o--\n")
	require.Equal(t, 1, found("rhubarb custard filler"))
	require.Zero(t, found("marzipan"))
}
