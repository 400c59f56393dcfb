package gmailtest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom/gmail/gmailtest"
)

func send(t *testing.T, users *gmail.UsersService, raw string) *gmail.Message {
	t.Helper()
	sent, err := users.Messages.Send("me", &gmail.Message{Raw: encoded(raw)}).Do()
	require.NoError(t, err)
	return sent
}

// only gives the one message that a search finds.
func only(t *testing.T, users *gmail.UsersService, q string) *gmail.Message {
	t.Helper()
	list, err := users.Messages.List("me").Q(q).Do()
	require.NoError(t, err)
	require.Len(t, list.Messages, 1, q)
	message, err := users.Messages.Get("me", list.Messages[0].Id).Do()
	require.NoError(t, err)
	return message
}

func headerOf(message *gmail.Message, name string) string {
	for _, h := range message.Payload.Headers {
		if h.Name == name {
			return h.Value
		}
	}
	return ""
}

func TestSentMailArrives(t *testing.T) {
	server, users := serve(t, nil)
	_, ann := another(t, server, "ann@example.com")
	_, bob := another(t, server, "bob@example.com")
	_, carol := another(t, server, "carol@example.com")
	before, err := ann.GetProfile("me").Do()
	require.NoError(t, err)
	sent := send(t, users,
		"To: Ann <ANN+news@example.com>, someone@elsewhere.example\r\nCc: bob@example.com,\r\n Bob <bob@example.com>\r\n"+
			"Bcc: carol@example.com\r\nSubject: tea\r\nMessage-ID: <tea@example.com>\r\n\r\nAt five?\r\n")
	require.Equal(t, []string{"SENT"}, sent.LabelIds)
	require.Contains(t, rawOf(t, users, sent.Id), "Bcc: carol@example.com")
	require.Contains(t, rawOf(t, users, sent.Id), "From: you@example.com\r\n")

	for name, inbox := range map[string]*gmail.UsersService{"ann": ann, "bob": bob, "carol": carol} {
		t.Run(name, func(t *testing.T) {
			arrived := only(t, inbox, "tea in:inbox is:unread")
			require.Equal(t, "tea@example.com", strings.Trim(headerOf(arrived, "Message-ID"), "<>"))
			require.Empty(t, headerOf(arrived, "Bcc"), "nobody learns of it")
			require.Equal(t, "<you@example.com>", headerOf(arrived, "Return-Path"))
		})
	}
	require.Equal(t, "ann+news@example.com", headerOf(only(t, ann, "deliveredto:news"), "Delivered-To"))
	history, err := ann.History.List("me").StartHistoryId(before.HistoryId).Do()
	require.NoError(t, err)
	require.Len(t, history.History, 1)
	require.Equal(t, []string{"INBOX", "UNREAD"}, history.History[0].MessagesAdded[0].Message.LabelIds)

	// The answer lands in the thread of both.
	answer := "To: you@example.com\r\nSubject: Re: tea\r\nIn-Reply-To: <tea@example.com>\r\nReferences: <tea@example.com>\r\n\r\nYes!\r\n"
	arrived := only(t, ann, "tea")
	replied, err := ann.Messages.Send("me", &gmail.Message{Raw: encoded(answer), ThreadId: arrived.ThreadId}).Do()
	require.NoError(t, err)
	require.Equal(t, arrived.ThreadId, replied.ThreadId)
	require.Equal(t, sent.ThreadId, only(t, users, "yes").ThreadId)
}

func TestMailToOneself(t *testing.T) {
	_, users := serve(t, nil)
	sent := send(t, users, "To: you@example.com\r\nSubject: note\r\n\r\n\r\n")
	require.Equal(t, []string{"INBOX", "SENT", "UNREAD"}, sent.LabelIds)
	only(t, users, "note")
}

func TestFromIsTheOwner(t *testing.T) {
	_, users := serve(t, nil)
	for from, want := range map[string][2]string{
		"you@example.com":                  {"you@example.com", ""},
		"You <YOU@example.com>":            {"You <YOU@example.com>", ""},
		"You <you+shop@example.com>":       {"You <you+shop@example.com>", ""},
		"Boss <boss@example.com>":          {`"Boss" <you@example.com>`, "Boss <boss@example.com>"},
		"Boss\r\n <boss@example.com>":      {`"Boss" <you@example.com>`, "Boss <boss@example.com>"},
		"you@example.com, ann@example.com": {"<you@example.com>", "you@example.com, ann@example.com"},
	} {
		t.Run(from, func(t *testing.T) {
			sent := send(t, users, "To: a@example.com\r\nfrom: "+from+"\r\nSubject: x\r\n\r\n\r\n")
			message, err := users.Messages.Get("me", sent.Id).Do()
			require.NoError(t, err)
			got := headerOf(message, "From") + headerOf(message, "from")
			require.Equal(t, want[0], got)
			require.Equal(t, want[1], headerOf(message, "X-Google-Original-From"))
		})
	}
}

func TestWhatCannotBeSent(t *testing.T) {
	server, users := serve(t, nil)
	for name, test := range map[string]struct{ raw, message string }{
		"no recipients":     {"Subject: x\r\n\r\n", "Recipient address required"},
		"empty recipients":  {"To: \r\n\r\n", "Recipient address required"},
		"an empty group":    {"To: undisclosed-recipients:;\r\n\r\n", "Recipient address required"},
		"a bad To":          {"To: ann at example.com\r\n\r\n", "Invalid To header"},
		"a bad Cc":          {"To: ann@example.com\r\nCc: <\r\n\r\n", "Invalid Cc header"},
		"a bad From":        {"To: ann@example.com\r\nFrom: me\r\n\r\n", "Invalid From header"},
		"nothing but space": {" \r\n", "'raw' RFC822 payload"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := users.Messages.Send("me", &gmail.Message{Raw: encoded(test.raw)}).Do()
			api := requireAPIError(t, err, http.StatusBadRequest, "invalidArgument")
			require.Contains(t, api.Message, test.message)
		})
	}
	count, err := server.Count(t.Context())
	require.NoError(t, err)
	require.Zero(t, count)
}

// A thread takes in what names it, answers one of its messages and has its subject.
func TestThreadOfWhatIsSent(t *testing.T) {
	_, users := serve(t, nil)
	first := send(t, users,
		"To: a@example.com\r\nSubject: Re: [list] Tea  time\r\nMessage-ID: <1@example.com>\r\n\r\n\r\n")
	other := send(t, users, "To: a@example.com\r\nSubject: Tea\r\nMessage-ID: <2@example.com>\r\n\r\n\r\n")
	const answers = "To: a@example.com\r\nReferences: <1@example.com>\r\n"
	for name, test := range map[string]struct {
		header, thread string
		same           bool
	}{
		"all three":        {answers + "Subject: AW: Re: [list] tea time\r\n", first.ThreadId, true},
		"forward":          {answers + "Subject: Fwd: Re: [list] Tea time\r\n", first.ThreadId, true},
		"no thread named":  {answers + "Subject: Re: [list] Tea time\r\n", "", true},
		"another subject":  {answers + "Subject: Coffee\r\n", first.ThreadId, false},
		"no references":    {"To: a@example.com\r\nSubject: Re: [list] Tea time\r\n", first.ThreadId, false},
		"of another":       {"To: a@example.com\r\nSubject: [list] Tea time\r\nIn-Reply-To: <2@example.com>\r\n", first.ThreadId, false},
		"to no message":    {"To: a@example.com\r\nSubject: [list] Tea time\r\nIn-Reply-To: <9@example.com>\r\n", first.ThreadId, false},
		"into another one": {answers + "Subject: Re: Tea\r\n", other.ThreadId, false},
	} {
		t.Run(name, func(t *testing.T) {
			sent, err := users.Messages.Send("me", &gmail.Message{Raw: encoded(test.header + "\r\n\r\n"),
				ThreadId: test.thread}).Do()
			require.NoError(t, err)
			require.Equal(t, test.same, sent.ThreadId == first.ThreadId)
			require.NotEqual(t, other.ThreadId, sent.ThreadId)
		})
	}
	_, err := users.Messages.Send("me", &gmail.Message{Raw: encoded("To: a@example.com\r\n\r\n"),
		ThreadId: "0123456789abcdef"}).Do()
	requireAPIError(t, err, http.StatusNotFound, "notFound")
	_, err = users.Messages.Send("me", &gmail.Message{Raw: encoded("To: a@example.com\r\n\r\n"),
		ThreadId: "thread-f:1"}).Do()
	requireAPIError(t, err, http.StatusBadRequest, "invalidArgument")
}

const spam = "XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X"

func TestSpam(t *testing.T) {
	server, users := serve(t, nil)
	delivered, err := server.Deliver(t.Context(), []byte("From: x@example.net\r\n\r\n"+spam))
	require.NoError(t, err)
	require.Equal(t, []string{"SPAM", "UNREAD"}, delivered.Labels)
	message := &gmail.Message{Raw: encoded("Message-ID: <1@example.com>\r\n\r\n" + spam), LabelIds: []string{"INBOX"}}
	imported, err := users.Messages.Import("me", message).Do()
	require.NoError(t, err)
	require.Equal(t, []string{"SPAM"}, imported.LabelIds)
	message.Raw = encoded("Message-ID: <2@example.com>\r\n\r\n" + spam)
	imported, err = users.Messages.Import("me", message).NeverMarkSpam(true).Do()
	require.NoError(t, err)
	require.Equal(t, []string{"INBOX"}, imported.LabelIds)
}

// What the documentation of the package calls enough.
func TestThreeLines(t *testing.T) {
	server := gmailtest.NewServer(t)
	letter, err := server.Deliver(t.Context(), []byte("From: ann@example.com\r\nSubject: Tea?\r\n\r\nAt five.\r\n"))
	require.NoError(t, err)
	service, err := server.Service(t.Context())
	require.NoError(t, err)

	got, err := service.Users.Messages.Get("me", letter.ID).Do()
	require.NoError(t, err)
	require.Equal(t, "At five.", got.Snippet)
}

func TestDeliver(t *testing.T) {
	server, err := gmailtest.Open(t.Context(), gmailtest.Config{})
	require.NoError(t, err)
	message, err := server.Deliver(t.Context(), []byte("From: Ann <ann@example.com>\r\nSubject: hi\r\n\r\nhello\r\n"))
	require.NoError(t, err)
	require.Equal(t, []string{"INBOX", "UNREAD"}, message.Labels)
	require.Equal(t, "<ann@example.com>", headerOf(only(t, client(t, server), "hello"), "Return-Path"))
	require.NoError(t, server.Close())
	_, err = server.Deliver(t.Context(), []byte("x"))
	require.ErrorContains(t, err, "gmailtest: deliver")
}

// Names of recipients and senders may be in any charset, and mail that comes from nobody comes in.
func TestAddressesAsTheyAre(t *testing.T) {
	server, users := serve(t, nil)
	for name, raw := range map[string]string{
		"encoded To":         "To: =?koi8-r?B?8NLJ18XU?= <a@example.com>\n\n",
		"encoded From":       "From: =?koi8-r?B?8NLJ18XU?= <you@example.com>\nTo: a@example.com\n\n",
		"encoded other From": "From: =?gb18030?B?xOO6ww==?= <other@example.com>\nTo: a@example.com\n\n",
		"unknown charset":    "To: =?klingon?Q?Worf?= <a@example.com>\n\n",
		"Latin 1":            "To: gr\xfcn <a@example.com>\n\n",
	} {
		_, err := users.Messages.Send("me", &gmail.Message{Raw: encoded(raw)}).Do()
		require.NoError(t, err, name)
	}
	const nobody = "From: undisclosed:;\nTo: a@example.com\n\n"
	_, err := users.Messages.Send("me", &gmail.Message{Raw: encoded(nobody)}).Do()
	requireAPIError(t, err, 400, "invalidArgument")
	_, err = server.Deliver(t.Context(), []byte(nobody))
	require.NoError(t, err)
}

// A mailbox gets one copy, however often its addresses stand there.
func TestOneCopyForEachMailbox(t *testing.T) {
	server, users := serve(t, nil)
	ann, _ := another(t, server, "ann@example.com")
	send(t, users,
		"To: ann@example.com, ann+news@example.com, ANN@example.com\nCc: Ann <ann+tea@example.com>\nBcc: ann@example.com\n\nHi\n")
	count, err := ann.Count(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, count)
}
