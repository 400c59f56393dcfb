package gmail

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/queue"
)

const richMail = "Received: from a\r\nReceived: from b\r\nFrom: =?utf-8?q?Zo=C3=AB?= <zoe@example.org>\r\n" +
	"To: Me <me@example.com>, you@example.com\r\nCc: cc@example.com\r\nReply-To: list@example.org\r\n" +
	"Subject: =?iso-8859-1?q?Gr=FC=DFe?=\r\nMessage-ID: <2@example.org>\r\nIn-Reply-To: <1@example.org>\r\n" +
	"References: <0@example.org>\r\n <1@example.org>\r\nDate: Sat, 07 Mar 2026 13:00:00 +0100\r\n" +
	"MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n" +
	"--b\r\nContent-Type: multipart/alternative; boundary=c\r\n\r\n" +
	"--c\r\nContent-Type: text/plain\r\n\r\nGood day\r\n--c\r\nContent-Type: text/html\r\n\r\n<p>Good day</p>\r\n--c--\r\n" +
	"--b\r\nContent-Type: application/pdf\r\nContent-Disposition: attachment; filename=bill.pdf\r\n\r\n%PDF\r\n--b--\r\n"

func TestIngestStoresTheWholeMessage(t *testing.T) {
	w := newWorld(t)
	var handed *postroom.Message
	w.cfg.OnMessage = func(_ context.Context, _ queue.Tx, m *postroom.Message) error {
		handed = m
		return nil
	}
	providerID := w.arrive(richMail, "INBOX", "UNREAD")
	job := w.job(w.run(NewIngestJob(w.account, providerID)))
	require.Equal(t, queue.StateCompleted, job.State, job.LastError)
	require.Equal(t, 1, job.Priority)

	m, err := w.store.Message(t.Context(), w.account, w.ours(providerID))
	require.NoError(t, err)
	require.Equal(t, m, handed, "what is handed on is what is stored")

	require.Equal(t, providerID, m.ProviderID)
	require.Equal(t, "2@example.org", m.MessageID)
	require.Equal(t, "1@example.org", m.InReplyTo)
	require.Equal(t, []string{"0@example.org", "1@example.org"}, m.References)
	require.Equal(t, postroom.Address{Name: "Zoë", Email: "zoe@example.org"}, m.From)
	require.Equal(t, []postroom.Address{{Name: "Me", Email: "me@example.com"}, {Email: "you@example.com"}}, m.To)
	require.Equal(t, []postroom.Address{{Email: "cc@example.com"}}, m.Cc)
	require.Equal(t, []postroom.Address{{Email: "list@example.org"}}, m.ReplyTo)
	require.Equal(t, "Grüße", m.Subject)
	require.Equal(t, []string{"from a", "from b"}, m.Header("received"))
	require.Equal(t, []string{"INBOX", "UNREAD"}, m.LabelIDs)
	require.Equal(t, "Good day", strings.TrimSpace(m.BodyPlain))
	require.Equal(t, "<p>Good day</p>", strings.TrimSpace(m.BodyHTML))
	require.Equal(t, []postroom.Attachment{{Filename: "bill.pdf", ContentType: "application/pdf", Size: 4}}, m.Attachments)
	require.Equal(t, time.Date(2026, 3, 7, 12, 0, 0, 0, time.UTC), m.Date)
	require.WithinDuration(t, time.Now(), m.ReceivedAt, 24*time.Hour*365)
	require.EqualValues(t, len(richMail), m.Size)

	thread, err := w.store.Thread(t.Context(), w.account, m.ThreadID)
	require.NoError(t, err)
	require.Equal(t, m.ProviderThreadID, thread.ProviderID)
	require.Equal(t, "Grüße", thread.Subject)
}

func TestIngestTellsFilesFromOtherAttachments(t *testing.T) {
	w := newWorld(t)
	providerID := w.arrive("Subject: Signed\r\nContent-Type: multipart/signed; boundary=b\r\n\r\n--b\r\n\r\nText\r\n"+
		"--b\r\nContent-Type: application/pgp-signature; name=signature.asc\r\n\r\nx\r\n--b--\r\n", "INBOX")
	w.run(NewIngestJob(w.account, providerID))
	m, err := w.store.Message(t.Context(), w.account, w.ours(providerID))
	require.NoError(t, err)
	require.Equal(t, []postroom.Attachment{
		{Filename: "signature.asc", ContentType: "application/pgp-signature", Size: 1, Kind: "signature"},
	}, m.Attachments)
}

func TestIngestHappensOnce(t *testing.T) {
	w := newWorld(t)
	providerID := w.arrive(plainMail, "INBOX")
	first := w.run(NewIngestJob(w.account, providerID))
	again := w.run(NewIngestJob(w.account, providerID))
	require.Equal(t, first, again)
	require.Equal(t, []string{providerID}, w.seen)
	require.Equal(t, 1, w.server.Counts()[gmailtest.MessagesGet])
}

func TestSkipLabels(t *testing.T) {
	tests := []struct {
		name   string
		skip   []string
		labels []string
		handed bool
	}{
		{"inbox", nil, []string{"INBOX"}, true},
		{"sent", nil, []string{"SENT"}, false},
		{"draft", nil, []string{"DRAFT"}, false},
		{"spam", nil, []string{"SPAM", "UNREAD"}, false},
		{"trash", nil, []string{"TRASH"}, false},
		{"to oneself", nil, []string{"INBOX", "SENT"}, false},
		{"none is skipped", []string{}, []string{"SPAM"}, true},
		{"others are skipped", []string{"INBOX"}, []string{"INBOX"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.cfg.SkipLabels = tt.skip
			providerID := w.arrive(plainMail, tt.labels...)
			w.run(NewIngestJob(w.account, providerID))
			require.NotEmpty(t, w.ours(providerID), "it is stored in any case")
			require.Equal(t, tt.handed, len(w.seen) == 1)
		})
	}
}

func TestIngestOfAMessageThatIsGone(t *testing.T) {
	w := newWorld(t)
	job := w.job(w.run(NewIngestJob(w.account, "18c2f")))
	require.Equal(t, queue.StateCompleted, job.State)
	require.JSONEq(t, `{"skipped":"the message is gone from Gmail"}`, string(job.Result))
	require.Empty(t, w.seen)
	_, err := w.store.MessageID(t.Context(), w.account, "18c2f")
	require.ErrorIs(t, err, postroom.ErrNotFound)
}

func TestIngestOfNoAccount(t *testing.T) {
	w := newWorld(t)
	job := w.job(w.run(NewIngestJob("nobody", "18c2f")))
	require.Equal(t, queue.StateCanceled, job.State)
	require.Equal(t, 1, job.Attempt)
}

func TestHookAndMessageAreOneTransaction(t *testing.T) {
	w := newWorld(t)
	var calls atomic.Int32
	w.cfg.OnMessage = func(ctx context.Context, tx queue.Tx, m *postroom.Message) error {
		if calls.Add(1) == 1 {
			return errors.New("disk full")
		}
		_, err := w.store.MessageID(ctx, w.account, m.ProviderID)
		if !errors.Is(err, postroom.ErrNotFound) {
			return fmt.Errorf("the first attempt left something: %w", err)
		}
		return w.onMessage(ctx, tx, m)
	}
	providerID := w.arrive(plainMail, "INBOX")
	job := w.job(w.run(NewIngestJob(w.account, providerID)))
	require.Equal(t, queue.StateCompleted, job.State, job.LastError)
	require.Equal(t, 1, job.Failures)
	require.Equal(t, []string{providerID}, w.seen)
}

// What is beyond the limits does not keep a message from the rules: sender and subject are seen.
func TestMessageBeyondTheLimitsIsHandedOn(t *testing.T) {
	w := newWorld(t)
	w.cfg.MailLimits = &mime.Limits{Parts: 1, Depth: 1, HeaderFields: 1, HeaderBytes: 1}
	providerID := w.arrive(richMail, "INBOX")
	job := w.job(w.run(NewIngestJob(w.account, providerID)))
	require.Equal(t, queue.StateCompleted, job.State, job.LastError)
	require.Equal(t, []string{providerID}, w.seen)
	m, err := w.store.Message(t.Context(), w.account, w.ours(providerID))
	require.NoError(t, err)
	require.Equal(t, "Grüße", m.Subject)
	require.Equal(t, postroom.Address{Name: "Zoë", Email: "zoe@example.org"}, m.From)
	require.Len(t, m.Attachments, 1)
	require.Equal(t, "multipart/mixed", m.Attachments[0].ContentType)
	list, err := w.store.Broken(t.Context(), w.account)
	require.NoError(t, err)
	require.Empty(t, list)
}

func TestBrokenMessageIsKeptAndCanBeRetried(t *testing.T) {
	w := newWorld(t)
	gmail := w.client
	broken, good := w.arrive(richMail, "INBOX"), w.arrive(plainMail, "INBOX")
	head, _, _ := strings.Cut(richMail, "MIME-Version")
	encoded := base64.RawURLEncoding.EncodeToString([]byte(head)) + "<cut short>"
	w.answering(func(*http.Request) string {
		return `{"id":"` + broken + `","threadId":"t","internalDate":"1772884800000","raw":"` + encoded + `"}`
	})
	jobID := w.run(NewIngestJob(w.account, broken))
	w.client = gmail
	w.run(NewIngestJob(w.account, good))
	require.Equal(t, []string{good}, w.seen, "the others go on")

	job := w.job(jobID)
	require.Equal(t, queue.StateFailed, job.State)
	require.Equal(t, 1, job.Attempt)

	list, err := w.store.Broken(t.Context(), w.account)
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, broken, list[0].ProviderID)
	require.Equal(t, jobID, list[0].JobID)
	require.Equal(t, "Grüße", list[0].Subject)
	require.Equal(t, job.LastError, list[0].Reason)
	require.Contains(t, list[0].Reason, "not base64")
	require.False(t, list[0].ReceivedAt.IsZero())
	raw, err := w.store.BrokenRaw(t.Context(), w.account, broken)
	require.NoError(t, err)
	require.Equal(t, encoded, string(raw))

	require.NoError(t, w.queue.Retry(t.Context(), jobID))
	w.run()
	require.Equal(t, []string{good, broken}, w.seen)
	list, err = w.store.Broken(t.Context(), w.account)
	require.NoError(t, err)
	require.Empty(t, list)
}

// answering gives the world a Gmail that answers every call with a body.
func (w *world) answering(body func(*http.Request) string) {
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(rw, body(r))
	}))
	w.t.Cleanup(server.Close)
	w.client = w.newClient(server.URL)
}

func TestAnswersThatAreOff(t *testing.T) {
	const mail = "U3ViamVjdDogSGk_DQoNCmhp" // Subject: Hi? and a body
	tests := []struct {
		name   string
		body   string
		broken string // the reason; empty: it is read
		kept   string
	}{
		{"base64url without padding", `{"id":"m","threadId":"t","raw":"` + mail + `"}`, "", ""},
		{"base64url with padding", `{"id":"m","threadId":"t","raw":"U3ViamVjdDogSGk_DQoNCmg="}`, "", ""},
		{"base64 of the other alphabet", `{"id":"m","threadId":"t","raw":"` + strings.ReplaceAll(mail, "_", "/") + `"}`, "", ""},
		{"not base64", `{"id":"m","threadId":"t","raw":"Hi there!"}`, "the message is not base64", "Hi there!"},
		{"no content", `{"id":"m","threadId":"t"}`, "the answer holds no message", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.answering(func(*http.Request) string { return tt.body })
			job := w.job(w.run(NewIngestJob(w.account, "m")))
			if tt.broken == "" {
				require.Equal(t, queue.StateCompleted, job.State, job.LastError)
				m, err := w.store.Message(t.Context(), w.account, w.ours("m"))
				require.NoError(t, err)
				require.Equal(t, "Hi?", m.Subject)
				return
			}
			require.Equal(t, queue.StateFailed, job.State)
			require.Contains(t, job.LastError, tt.broken)
			kept, err := w.store.BrokenRaw(t.Context(), w.account, "m")
			require.NoError(t, err)
			require.Equal(t, tt.kept, string(kept))
		})
	}
}

func FuzzBytes(f *testing.F) {
	f.Add([]byte("Subject: Hi?\r\n\r\n\xff\xfe"), "U3ViamVjdDogSGk_DQoNCmg=")
	f.Add([]byte{0}, "====")
	f.Fuzz(func(t *testing.T, content []byte, text string) {
		_, _ = (&gmailapi.RawMessage{Encoded: text}).Bytes()
		if len(content) == 0 {
			return
		}
		for _, encoding := range []*base64.Encoding{
			base64.URLEncoding, base64.RawURLEncoding, base64.StdEncoding, base64.RawStdEncoding,
		} {
			back, err := (&gmailapi.RawMessage{Encoded: encoding.EncodeToString(content)}).Bytes()
			require.NoError(t, err)
			require.Equal(t, content, back)
		}
	})
}

func TestTimeThatIsNoNumber(t *testing.T) {
	w := newWorld(t)
	var logged logs
	w.cfg.Logger = logged.logger()
	w.answering(func(r *http.Request) string {
		date := `"internalDate":"yesterday",`
		if r.URL.Query().Has("fields") {
			date = ""
		}
		return `{` + date + `"id":"m","threadId":"t","snippet":"a &amp; b","raw":"U3ViamVjdDogSGkNCg0KaGk"}`
	})
	job := w.job(w.run(NewIngestJob(w.account, "m")))
	require.Equal(t, queue.StateCompleted, job.State, job.LastError)
	m, err := w.store.Message(t.Context(), w.account, w.ours("m"))
	require.NoError(t, err)
	require.Zero(t, m.ReceivedAt)
	require.Equal(t, "Hi", m.Subject)
	require.Equal(t, "a & b", m.Snippet)
	require.Equal(t, []string{"Gmail gives no time for a message"}, logged.lines)
}

// After calls a function once, between an answer and its reader.
type after struct {
	next http.RoundTripper
	call func(*http.Request)
}

func (a *after) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := a.next.RoundTrip(r)
	a.call(r)
	return response, err
}

// A sync that finds no message to apply a change to, because it is being ingested, loses the change: the ingest reads
// it again.
func TestChangeBetweenReadingAndStoring(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.synced()
		starred, deleted := w.arrive(plainMail, "INBOX"), w.arrive(plainMail, "INBOX")
		var once sync.Once
		w.wire.Next = &after{w.wire.Next, func(r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/"+starred) {
				once.Do(func() {
					w.modify(starred, add("STARRED"))
					require.NoError(t, w.google.Users.Messages.Delete("me", deleted).Do())
					w.syncOnly()
				})
			}
		}}
		job := w.job(w.run(NewIngestJob(w.account, starred)))
		require.Equal(t, 1, job.Interruptions)
		require.Zero(t, job.Failures)
		require.Equal(t, w.atGmail(), w.stored())
		require.Equal(t, []string{starred}, w.seen)
	})
}
