package notify

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/queue"
)

var update = flag.Bool("update", false, "write the golden file anew")

func TestPlain(t *testing.T) {
	for given, want := range map[string]string{
		"Invoice 3.50 for v1.2":                    "Invoice 3.50 for v1[.]2",
		"see https://evil.example/a.b?c=d now":     "see https[:]//evil[.]example/a[.]b?c=d now",
		"www.evil.example, or evil.example.":       "www[.]evil[.]example, or evil[.]example.",
		"mailto:a@evil.example javascript:x":       "mailto[:]a@evil[.]example javascript[:]x",
		"http://192.0.2.1/ 192.0.2.1":              "http[:]//192[.]0[.]2[.]1/ 192[.]0[.]2[.]1",
		"evil\u3002example evil\uFF0Eexample":      "evil[.]example evil[.]example",
		"a\r\nBcc: x\x00\x1b[31m\u2028b\u0085c":    "a Bcc: x[31m b c",
		"\u202Eexe.fdp\u202C ev\u200Bil\u2066.com": "exe[.]fdp evil[.]com",
		"\xff broken":         "\uFFFD broken",
		"Re: Lunch at 12:30?": "Re: Lunch at 12:30?",
		"":                    "",
	} {
		require.Equal(t, want, Plain(given), "%q", given)
	}
	own := "models have caused 50 requests about mail of evil.example; it is 2026-11-27T19:45:51Z " + strings.Repeat("ü", 80)
	require.Equal(t, strings.Replace(own, "evil.", "evil[.]", 1), Unlinked(own), "it is not cut")
	long := Plain(strings.Repeat("ü", 200))
	require.Equal(t, strings.Repeat("ü", 79)+"…", long)
	require.LessOrEqual(t, len([]rune(Plain(strings.Repeat("a.b", 50)))), 80)
}

func full() *Digest {
	zone := time.FixedZone("CET", 3600)
	d := &Digest{From: time.Date(2026, 11, 25, 7, 0, 0, 0, zone), Until: time.Date(2026, 11, 26, 7, 0, 0, 0, zone),
		Mailboxes: []string{"ada@example.org", "ada@example.com"}, Came: 120, Undone: 2, News: 1,
		Answers: []Count{{"approved by ada", 3}, {"rejected by ada", 1}},
		Spent:   "$0.12, 34000 tokens, 56 calls, on the days of this digest"}
	for i := range 20 {
		d.Moved = append(d.Moved, Count{fmt.Sprintf("archive by the rule Newsletters %d", i), 40 - i})
		d.Asks = append(d.Asks, fmt.Sprintf("forward: %s, from bob@example[.]org", Plain("Contract no. "+strconv.Itoa(i))))
		d.Senders = append(d.Senders, fmt.Sprintf("Bob %d <bob@example[.]org>: Hello", i))
		d.Failures = append(d.Failures, fmt.Sprintf("apply label failed: label %d does not exist", i))
	}
	return d
}

// The largest digest has 50 lines at most; -update writes the file.
func TestDigestGolden(t *testing.T) {
	d := full()
	text := d.Title() + "\n\n" + d.Text()
	require.LessOrEqual(t, strings.Count(d.Text(), "\n"), 50)
	require.Contains(t, d.Text(), "Models: $0.12")
	small := &Digest{From: d.From, Until: d.Until, Mailboxes: d.Mailboxes[:1], Came: 1}
	text += "\n----\n" + small.Title() + "\n\n" + small.Text()
	const path = "testdata/digest.txt"
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), text)
}

func TestNothingNewIsNoDigest(t *testing.T) {
	require.True(t, (&Digest{Asks: []string{"since last week"}, Failures: []string{"a rule is disabled"}}).IsEmpty())
	require.False(t, (&Digest{Asks: []string{"since today"}, News: 1}).IsEmpty())
	require.False(t, (&Digest{Came: 1}).IsEmpty())
}

// A mailroom is a world with a mailbox.
type mailroom struct {
	*world
	server  *gmailtest.Server
	mail    *mailstore.Store
	account string
	digest  *Digest
	asking  sync.Mutex     // guards asked, since jobs compose side by side
	asked   [][2]time.Time // the times of which digests were composed
}

func newMailroom(t *testing.T, db queue.DB) *mailroom {
	t.Helper()
	m := &mailroom{world: newWorld(t, db), server: gmailtest.NewServer(t), digest: full()}
	require.NoError(t, mailstore.Migrate(t.Context(), db))
	var err error
	m.mail, err = mailstore.New(mailstore.Config{DB: db})
	require.NoError(t, err)
	require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) (err error) {
		m.account, err = m.mail.EnsureAccount(ctx, tx, m.server.Email(), time.Time{})
		return err
	}))
	return m
}

func (m *mailroom) client(ctx context.Context, _ string) (*gmailapi.Client, error) {
	carrier, err := m.server.HTTPClient(ctx, m.server.Email())
	if err != nil {
		return nil, err
	}
	return gmailapi.NewClient(gmailapi.ClientConfig{HTTPClient: carrier, Endpoint: m.server.URL(),
		Limits: gmailapi.Limits{Unlimited: true}})
}

// run enqueues the digest, and runs jobs of a daemon whose clock stands at the instant.
func (m *mailroom) run(now time.Time, subject string) {
	m.Helper()
	_, err := m.queue.Enqueue(m.Context(), NewDigestJob(subject))
	require.NoError(m, err)
	d, err := queue.NewDispatcher(m.queue, &queue.DispatcherConfig{PollInterval: 20 * time.Millisecond})
	require.NoError(m, err)
	cfg := DigestConfig{Compose: m.compose, Period: 24 * time.Hour, Zone: time.UTC, Mailbox: true,
		Doors: []Door{NtfyJobs}, Mail: m.mail, Clients: gmailapi.ClientsFunc(m.client)}
	topic := NewNtfy(m.topic.URL, "", func(ctx context.Context, n Notice) (Notice, error) {
		d, err := cfg.Digest(ctx, n.Subject)
		return Notice{Kind: n.Kind, Title: d.Title(), Text: d.Text()}, err
	})
	defer topic.Close()
	topic.Register(d)
	m.notifier(now).RegisterDigests(d, cfg)
	ctx, cancel := context.WithTimeout(m.Context(), 10*time.Minute)
	defer cancel()
	require.NoError(m, d.RunUntilIdle(ctx))
	require.NoError(m, ctx.Err())
}

func (m *mailroom) compose(_ context.Context, _ []mailstore.Account, since, until time.Time) (*Digest, error) {
	m.asking.Lock()
	defer m.asking.Unlock()
	m.asked = append(m.asked, [2]time.Time{since.UTC(), until.UTC()})
	d := *m.digest
	d.From, d.Until = since, until
	return &d, nil
}

func (m *mailroom) messages() []gmailtest.Message {
	m.Helper()
	list, err := m.server.Snapshot(m.Context())
	require.NoError(m, err)
	return list
}

func TestTheDigestIsPutIntoTheMailboxOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		m := newMailroom(t, db)
		m.run(noon, "today")
		m.run(noon.Add(time.Minute), "today") // again on that day, as by another daemon
		list := m.messages()
		require.Len(t, list, 1)
		require.Equal(t, []string{"INBOX", "UNREAD"}, list[0].Labels)
		require.Len(t, m.posts(), 1)
		m.digest.From, m.digest.Until = noon.Add(-24*time.Hour), noon
		require.Equal(t, m.digest.Text(), m.posts()[0].body)

		client, err := m.client(t.Context(), "")
		require.NoError(t, err)
		raw, err := client.GetRaw(t.Context(), list[0].ID)
		require.NoError(t, err)
		content, err := raw.Bytes()
		require.NoError(t, err)
		parsed, err := mime.ParseBytes(content, nil)
		require.NoError(t, err)
		stored := mailstore.NewMessage(m.account, raw, parsed)
		require.Equal(t, m.digest.Text(), strings.ReplaceAll(stored.BodyPlain, "\r\n", "\n"))
		require.Empty(t, stored.BodyHTML)
		ours, err := m.mail.Inserted().Has(t.Context(), stored)
		require.NoError(t, err)
		require.True(t, ours)

		m.run(noon.Add(24*time.Hour), "tomorrow")
		require.Len(t, m.messages(), 2)
		span := func(day int) [2]time.Time {
			return [2]time.Time{noon.Add(time.Duration(day-1) * 24 * time.Hour), noon.Add(time.Duration(day) * 24 * time.Hour)}
		}
		require.Contains(t, m.asked, span(1), "it begins where the last one ended")
		require.Contains(t, m.asked, span(0))
		minute := [2]time.Time{noon, noon.Add(time.Minute)} // composed, and then found to be told of
		for _, asked := range m.asked {
			require.Contains(t, [][2]time.Time{span(0), span(1), minute}, asked, "a job composes what it is about")
		}
	})
}

func TestAClockThatWasAheadSilencesNoDigest(t *testing.T) {
	m := newMailroom(t, dbtest.SQLite(t))
	m.run(noon.Add(365*24*time.Hour), "of a wrong clock")
	m.run(noon, "today")
	require.Equal(t, noon.Add(-24*time.Hour), m.asked[len(m.asked)-1][0])
	require.Len(t, m.messages(), 2)
}

func TestADigestWhoseAnswerIsLostIsPutThereOnce(t *testing.T) {
	m := newMailroom(t, dbtest.SQLite(t))
	m.server.Fault(gmailtest.Fault{Method: gmailtest.MessagesInsert, Cut: gmailtest.CutAfter})
	m.run(noon, "today")
	jobs, err := m.queue.Jobs(t.Context(), queue.Filter{Types: []string{string(JobInsert)}})
	require.NoError(t, err)
	require.Len(t, jobs, 1)
	if jobs[0].State == queue.StateQueued { // it waits to be tried again
		require.NoError(t, m.queue.Cancel(t.Context(), jobs[0].ID))
		require.NoError(t, m.queue.Retry(t.Context(), jobs[0].ID))
		m.run(noon, "today")
	}
	require.Len(t, m.messages(), 1)
	require.Positive(t, m.server.Counts()[gmailtest.MessagesInsert])
}

func TestAnEmptyDigestIsNotSent(t *testing.T) {
	m := newMailroom(t, dbtest.SQLite(t))
	m.digest = &Digest{}
	m.run(noon, "today")
	require.Empty(t, m.messages())
	require.Empty(t, m.posts())
}

// Who may see jobs need not see mail.
func TestTheJobsOfADigestHoldNoWordsOfMail(t *testing.T) {
	m := newMailroom(t, dbtest.SQLite(t))
	m.run(noon, "today")
	jobs, err := m.queue.Jobs(t.Context(), queue.Filter{})
	require.NoError(t, err)
	require.Len(t, jobs, 3)
	for _, job := range jobs {
		require.NotContains(t, string(job.Payload), "Contract")
		require.NotContains(t, string(job.Payload), "Hello")
	}
}

// A job that an earlier version has made holds the digest.
func TestADigestOfAnEarlierVersionIsPutThere(t *testing.T) {
	m := newMailroom(t, dbtest.SQLite(t))
	_, err := m.queue.Enqueue(t.Context(), queue.NewJob{Type: string(JobInsert), Payload: map[string]any{
		"account_id": m.account, "message_id": "digest.x@" + mailstore.InsertedDomain, "title": "Postroom: old",
		"text": "1 message came.", "at": noon}})
	require.NoError(t, err)
	m.digest = &Digest{}
	m.run(noon, "today")
	list := m.messages()
	require.Len(t, list, 1)
	client, err := m.client(t.Context(), "")
	require.NoError(t, err)
	raw, err := client.GetRaw(t.Context(), list[0].ID)
	require.NoError(t, err)
	content, err := raw.Bytes()
	require.NoError(t, err)
	require.Contains(t, string(content), "Subject: Postroom: old")
}

// There are as many new senders as there is room for, each of which is a question, and 30 at most.
func TestADigestAsksAboutThirtyNewSendersAtMost(t *testing.T) {
	d := &Digest{Came: 40}
	for i := range 40 {
		d.Senders = append(d.Senders, fmt.Sprintf("Bob %d <bob@example[.]org>: Hello", i))
	}
	require.Contains(t, d.Text(), "Bob 29 ")
	require.NotContains(t, d.Text(), "Bob 30 ")
	require.Contains(t, d.Text(), "and 10 more")

	d = full()
	text := d.Text()
	require.LessOrEqual(t, strings.Count(text, "\n"), 50)
	require.Contains(t, text, "Models: $0.12", "the senders take no room from what is wrong")
	require.Contains(t, text, "label 6 does not exist")
	require.Contains(t, text, "Bob 6 ")
}
