package mime_test

import (
	"bytes"
	"errors"
	"io"
	"net/mail"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/costtest"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/bounce"
)

const invitation = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Example//EN\r\nMETHOD:REQUEST\r\nBEGIN:VEVENT\r\nUID:1@example.com\r\n" +
	"DTSTAMP:20261121T120000Z\r\nDTSTART:20261124T140000Z\r\nSUMMARY:Caf\u00e9\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"

func testBounce() *mime.Bounce {
	return &mime.Bounce{
		ReportingMTA: "mx.example.com", Arrival: noon,
		Recipients: []mime.BounceRecipient{
			{
				Final: "bob@example.org", Original: "robert@example.org", Action: mime.BounceFailed, Status: "5.1.1",
				Diagnostic: "550 5.1.1 no such user", RemoteMTA: "mx.example.org", LastAttempt: noon,
			},
			{Final: "eve@example.org", Action: mime.BounceDelayed, Status: "4.2.2", RetryUntil: noon.AddDate(0, 0, 5)},
		},
	}
}

func receipt() *mime.Receipt {
	return &mime.Receipt{
		Final: "bob@example.org", Original: "robert@example.org", OriginalMessageID: "m1@example.com",
		Disposition: "displayed",
		Modifiers:   []string{"error"}, Automatic: true, ReportingUA: "mua.example; Mail 1.0", Error: "No m\u00fcre",
	}
}

func opened(content string) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content)), nil }
}

// kinds are messages of every kind; their bytes are golden files.
var kinds = map[string]mime.Outgoing{
	"draft":       {Draft: true},
	"draft-begun": {From: []mime.Address{ada}, Subject: "Not yet", Draft: true},
	"empty":       {From: []mime.Address{ada}, To: []mime.Address{bob}, Subject: "Nothing to say"},
	"authors": {
		From:      []mime.Address{ada, {Name: "Zo\u00eb", Email: "zoe@example.com"}},
		Sender:    mime.Address{Name: "J\u00fcrgen M\u00fcller", Email: "juergen@example.com"},
		ReceiptTo: []mime.Address{{Name: "B\u00fcro, zweiter Stock", Email: "office@example.com"}},
		To:        []mime.Address{bob}, Text: "x\n",
		Header: []mime.Field{{Name: "Resent-To", Value: "J\u00fcrgen <juergen@example.com>, Bob <bob@example.org>"}},
	},
	"groups": {
		From: []mime.Address{ada},
		To: []mime.Address{
			{Email: "first@example.org"}, {Group: "Fr\u00fchaufsteher", Name: "Bob", Email: "bob@example.org"},
			{Group: "Fr\u00fchaufsteher", Email: "carol@example.org"}, {Group: "Others", Email: "dave@example.org"}, {Email: "last@example.org"},
		},
		Cc:   []mime.Address{{Group: "undisclosed-recipients"}},
		Text: "x\n",
	},
	"idn": {
		From: []mime.Address{ada}, To: []mime.Address{{Name: "M\u00fcller", Email: "mueller@b\u00fccher.example"}},
		Text: "x\n",
	},
	"smtputf8": {
		From: []mime.Address{ada}, To: []mime.Address{{Name: "M\u00fcller", Email: "m\u00fcller@b\u00fccher.example"}},
		Text: "x\n", SMTPUTF8: true,
	},
	"invitation": {
		From: []mime.Address{ada}, To: []mime.Address{bob}, Text: "Please come.\n", HTML: "<p>Please come.\n",
		Calendar: &mime.Calendar{Text: invitation}, Boundary: "example",
	},
	"list": {
		From: []mime.Address{ada}, To: []mime.Address{bob}, Text: "News.\n",
		ListUnsubscribe: []string{"https://lists.example.com/leave?u=1", "mailto:leave@lists.example.com?subject=leave"},
		OneClick:        true,
	},
	"bounce": {
		From: []mime.Address{{Name: "Mail Delivery", Email: "postmaster@example.com"}}, To: []mime.Address{ada},
		Subject: "Not delivered",
		Text:    "Your message could not be delivered.\n", Bounce: testBounce(),
		Returned: []byte("From: ada@example.com\r\nMessage-ID: <m1@example.com>\r\nSubject: Hello\r\n\r\nHello.\r\n"),
		Header:   []mime.Field{{Name: "Auto-Submitted", Value: "auto-replied"}},
	},
	"receipt": {
		From: []mime.Address{bob}, To: []mime.Address{ada}, Subject: "Read: Hello", Receipt: receipt(),
		Returned: []byte("Subject: Hello\r\nMessage-ID: <m1@example.com>\r\n\r\n"),
	},
}

// What is built for a program is read by our readers of what a message states.
func TestBuildReadsBack(t *testing.T) {
	read := func(name string) *mime.Message {
		o := kinds[name]
		raw, err := o.Build()
		require.NoError(t, err)
		m, err := mime.ParseBytes(raw, nil)
		require.NoError(t, err)
		require.Empty(t, m.Defects, name)
		return m
	}
	m := read("authors")
	require.Equal(t, kinds["authors"].From, m.From)
	require.Equal(t, []mime.Address{kinds["authors"].Sender}, m.Sender)
	require.Equal(t, kinds["authors"].ReceiptTo, m.Header.ReceiptTo())
	require.Equal(t, "J\u00fcrgen <juergen@example.com>, Bob <bob@example.org>", m.Header.Get("Resent-To"))

	m = read("groups")
	require.Equal(t, kinds["groups"].To, m.To)
	require.Empty(t, m.Cc)
	require.Equal(t, "undisclosed-recipients:;", m.Header.Get("Cc"))

	require.Equal(t, "mueller@xn--bcher-kva.example", read("idn").To[0].Email)
	require.Equal(t, "m\u00fcller@b\u00fccher.example", read("smtputf8").To[0].Email)

	m = read("invitation")
	require.Equal(t, "Please come.\n", m.Text)
	require.Len(t, m.Attachments, 1)
	require.Equal(t, mime.KindCalendar, m.Attachments[0].Kind())
	require.Equal(t, "REQUEST", m.Attachments[0].Params["method"])
	require.Equal(t, strings.ReplaceAll(invitation, "\r\n", "\n"), m.Attachments[0].Text())

	list := read("list").Header.List()
	require.NotNil(t, list.Unsubscribe.OneClick)
	require.Equal(t, kinds["list"].ListUnsubscribe[0], list.Unsubscribe.OneClick.String())
	require.Len(t, list.Unsubscribe.Mail, 1)

	b := bounce.Read(read("bounce"))
	require.NotNil(t, b)
	require.Equal(t, "mx.example.com", b.ReportingMTA)
	require.True(t, noon.Equal(b.Arrival))
	require.Equal(t, "m1@example.com", b.OriginalMessageID)
	for i, want := range testBounce().Recipients {
		got := b.Recipients[i]
		require.True(t, want.LastAttempt.Equal(got.LastAttempt))
		require.True(t, want.RetryUntil.Equal(got.RetryUntil))
		got.LastAttempt, got.RetryUntil, got.Reason, got.Code = want.LastAttempt, want.RetryUntil, "", 0
		require.Equal(t, want, got)
	}
	require.Equal(t, receipt(), read("receipt").Receipt())
}

func TestRecipients(t *testing.T) {
	o := mime.Outgoing{
		From: []mime.Address{ada}, To: []mime.Address{bob, {Group: "nobody"}},
		Cc:  []mime.Address{bob, {Email: "a@b\u00fccher.example"}},
		Bcc: []mime.Address{{Email: "secret@example.org"}}, Text: "x", OmitBcc: true,
	}
	recipients, err := o.Recipients()
	require.NoError(t, err)
	require.Equal(t, []string{"bob@example.org", "a@xn--bcher-kva.example", "secret@example.org"}, recipients)
	raw, err := o.Build()
	require.NoError(t, err)
	require.NotContains(t, string(raw), "secret")
	_, err = (&mime.Outgoing{}).Recipients()
	require.ErrorIs(t, err, mime.ErrNoRecipient)
}

func TestAnswer(t *testing.T) {
	var o mime.Outgoing
	o.Answer(&mime.Message{MessageID: "2@x", InReplyTo: "1@x"})
	require.Equal(t, mime.Outgoing{InReplyTo: "2@x", References: []string{"1@x", "2@x"}}, o)
	o.Answer(&mime.Message{MessageID: "3@x", InReplyTo: "2@x", References: []string{"0@x", "2@x"}})
	require.Equal(t, mime.Outgoing{InReplyTo: "3@x", References: []string{"0@x", "2@x", "3@x"}}, o)
	long := &mime.Message{MessageID: "last@x", References: append([]string{"first@x"}, make([]string, 100)...)}
	o.Answer(long)
	require.Len(t, o.References, 50)
	require.Equal(t, "first@x", o.References[0])
	require.Equal(t, "last@x", o.References[49])
	require.Len(t, long.References, 101, "the message is not changed")
}

// A line with an encoded-word has at most 76 characters, wherever the word stands.
func TestEncodedWordLines(t *testing.T) {
	for _, length := range []int{1, 10, 33, 60, 300} {
		name := strings.Repeat("\u65e5\u00e9x ", length)
		o := mime.Outgoing{
			From: []mime.Address{{Name: name, Email: strings.Repeat("a", 60) + "@example.com"}}, Subject: name,
			Sender:    mime.Address{Name: name, Email: "a@b.example"},
			ReceiptTo: []mime.Address{{Name: name, Email: "a@b.example"}},
			To:        []mime.Address{{Group: name, Name: name, Email: "a@b.example"}, {Group: name, Email: "c@b.example"}},
			Text:      "x", Header: []mime.Field{{Name: "X-" + strings.Repeat("Y", 60), Value: name},
				{Name: "Resent-To", Value: name + "<a@b.example>"}},
		}
		raw, err := o.Build()
		require.NoError(t, err)
		requireLines(t, raw)
		m, err := mime.ParseBytes(raw, nil)
		require.NoError(t, err)
		require.Equal(t, name, m.Subject)
		require.Equal(t, strings.TrimSpace(name), strings.TrimSpace(m.To[1].Group))
	}
}

// endless gives so many bytes, of which none is in memory.
type endless struct{ left int }

func (e *endless) Read(b []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n := min(e.left, len(b))
	for i := range b[:n] {
		b[i] = byte(e.left - i)
	}
	e.left -= n
	return n, nil
}

// A file of 10 MB costs a small buffer when it is written, and its encoded size once when it is built.
func TestBuildMemory(t *testing.T) {
	costtest.NeedsExactCosts(t)
	const size = 10 << 20
	for _, contentType := range []string{"application/pdf", "message/rfc822"} {
		o := mime.Outgoing{From: []mime.Address{ada}, To: []mime.Address{bob}, Text: "x", HTML: "<p>x",
			Attachments: []mime.Attachment{{
				ContentType: contentType, Open: func() (io.ReadCloser, error) { return io.NopCloser(&endless{size}), nil },
			}}}
		written := costtest.Allocated(func() {
			n, err := o.WriteTo(io.Discard)
			require.NoError(t, err)
			require.Greater(t, n, int64(size))
		})
		require.Less(t, written, 256<<10, contentType)

		o.Attachments[0] = mime.Attachment{ContentType: contentType, Content: make([]byte, size)}
		built := costtest.Allocated(func() {
			_, err := o.Build()
			require.NoError(t, err)
		})
		require.Less(t, built, size*3/2, contentType)
	}
}

// A file gives the same message whether it is opened or in memory.
func TestBuildOpened(t *testing.T) {
	for contentType, content := range map[string]string{
		"application/pdf":        strings.Repeat("\x00\xff", 100_000),
		"message/rfc822":         "Subject: x\n\nbare\rlines\r\n\u65e5\n",
		"message/rfc822; x=\"\"": strings.Repeat("long", 500),
	} {
		o := mime.Outgoing{From: []mime.Address{ada}, To: []mime.Address{bob}, Text: "x",
			Attachments: []mime.Attachment{{ContentType: contentType, Content: []byte(content)}}}
		want, err := o.Build()
		require.NoError(t, err)
		for name, open := range map[string]func() (io.ReadCloser, error){
			"at once": opened(content),
			"by the byte": func() (io.ReadCloser, error) {
				return io.NopCloser(iotest.OneByteReader(strings.NewReader(content))), nil
			},
		} {
			o.Attachments[0] = mime.Attachment{ContentType: contentType, Open: open}
			got, err := o.Build()
			require.NoError(t, err)
			require.Equal(t, string(want), string(got), name)
		}
	}
}

func TestBuildErrorsOfFiles(t *testing.T) {
	cause := errors.New("the disk is gone")
	for name, open := range map[string]func() (io.ReadCloser, error){
		"opening": func() (io.ReadCloser, error) { return nil, cause },
		"reading": func() (io.ReadCloser, error) { return io.NopCloser(iotest.ErrReader(cause)), nil },
	} {
		for _, contentType := range []string{"", "message/rfc822"} {
			o := mime.Outgoing{From: []mime.Address{ada}, To: []mime.Address{bob},
				Attachments: []mime.Attachment{{ContentType: contentType, Open: open}}}
			raw, err := o.Build()
			require.ErrorIs(t, err, cause, name)
			require.Nil(t, raw)
		}
	}
	o := mime.Outgoing{From: []mime.Address{ada}, To: []mime.Address{bob}, Text: strings.Repeat("x\n", 100_000)}
	n, err := o.WriteTo(&limitedWriter{left: 1000, err: cause})
	require.ErrorIs(t, err, cause)
	require.EqualValues(t, 1000, n)
}

// limitedWriter fails when it is full.
type limitedWriter struct {
	left int
	err  error
}

func (w *limitedWriter) Write(b []byte) (int, error) {
	n := min(len(b), w.left)
	w.left -= n
	if n < len(b) {
		return n, w.err
	}
	return n, nil
}

// The standard library reads the header of what is built.
func TestBuildForNetMail(t *testing.T) {
	for name, o := range kinds {
		raw, err := o.Build()
		require.NoError(t, err)
		m, err := mail.ReadMessage(bytes.NewReader(raw))
		require.NoError(t, err, name)
		for _, field := range []string{"From", "Sender", "To", "Disposition-Notification-To"} {
			if m.Header.Get(field) != "" {
				_, err := m.Header.AddressList(field)
				require.NoError(t, err, "%s: %s", name, m.Header.Get(field))
			}
		}
	}
}
