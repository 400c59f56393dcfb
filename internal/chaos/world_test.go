package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/mailindex"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
)

// A world is a Gmail with mailboxes of people, and an office of the test's own beside those of the workers.
type world struct {
	*testing.T
	size
	*rand.Rand
	server    *gmailtest.Server
	office    *office
	receiver  *gmail.Receiver
	place     place
	mailboxes []*mailbox

	correspondents map[string]bool // addresses of those who write, and get mail
}

func newWorld(t *testing.T, database string, s size) *world {
	t.Helper()
	return newWorldAt(t, place{Database: database}, s)
}

func newWorldAt(t *testing.T, at place, s size) *world {
	t.Helper()
	if testing.Short() {
		t.Skip("starts and kills many processes; left out by -short")
	}
	w := &world{T: t, size: s, Rand: rand.New(rand.NewPCG(s.seed, 1)), place: at,
		correspondents: map[string]bool{clerk: true}}
	var err error
	w.server, err = gmailtest.Open(t.Context(), gmailtest.Config{Publish: w.publish})
	require.NoError(t, err)
	w.place.Gmail = w.server.URL()
	transport := &http.Transport{MaxIdleConnsPerHost: 16}
	w.office, err = open(t.Context(), w.place, transport)
	require.NoError(t, err)
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		require.NoError(t, w.server.Close()) // which publishes into the office's queue
		require.NoError(t, w.office.db.Close())
	})
	w.receiver, err = gmail.NewReceiver(gmail.ReceiverConfig{Queue: w.office.queue, Store: w.office.mail, Logger: silent})
	require.NoError(t, err)
	_, err = w.server.Account(t.Context(), clerk)
	require.NoError(t, err)
	for i := range s.mailboxes {
		w.mailboxes = append(w.mailboxes, w.newMailbox(fmt.Sprintf("person%d@example.com", i+1)))
	}
	return w
}

func (w *world) publish(ctx context.Context, _ string, data []byte) error {
	return w.receiver.Receive(ctx, data)
}

// A mailbox is that of a person, with what must become of its messages.
type mailbox struct {
	account  *gmailtest.Account
	id       string            // ours
	names    map[string]string // of labels, by their ids
	messages []*message
}

// A message is one that has been delivered, and what it must look like.
type message struct {
	id        string // Gmail's
	subject   string
	sorting   *sorting
	labels    postroom.Snapshot // by names: as people left it, and the sorting as well once it is settled
	settled   bool              // it was sorted, and is to be sorted no more
	disturbed bool              // a person has taken it away before it was settled: it may be sorted or not
	gone      bool              // for ever
}

func (w *world) newMailbox(email string) *mailbox {
	w.Helper()
	ctx := w.Context()
	account, err := w.server.Account(ctx, email)
	require.NoError(w, err)
	require.NoError(w, account.CreateLabels(ctx, "Receipts", "News", own, snoozed))
	m := &mailbox{account: account}
	require.NoError(w, w.office.db.Write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
		m.id, err = w.office.mail.EnsureAccount(ctx, tx, email, time.Time{})
		return err
	}))
	w.enqueue(gmail.NewLabelsSyncJob(m.id))
	return m
}

func (w *world) enqueue(jobs ...queue.NewJob) {
	w.Helper()
	_, err := w.office.queue.EnqueueMany(w.Context(), jobs)
	require.NoError(w, err)
}

// prepare stores the rules, and what is known of labels.
func (w *world) prepare() {
	w.Helper()
	w.finish()
	require.NoError(w, w.office.db.Write(w.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := w.office.rules.Import(ctx, tx, "", sortingRules())
		return err
	}))
	// What was put to sleep is woken by the test.
	require.NoError(w, w.office.queue.Pause(w.Context(), queue.ForType(gmail.JobUnsnooze)))
	for _, m := range w.mailboxes {
		labels, err := w.office.mail.Labels(w.Context(), m.id)
		require.NoError(w, err)
		m.names = make(map[string]string)
		for _, l := range labels {
			m.names[l.ID] = l.Name
		}
	}
}

// deliver delivers a message for a sorting.
func (w *world) deliver(m *mailbox, s *sorting) (*message, error) {
	n := len(m.messages) + 1
	subject := fmt.Sprintf("[%s] %d to %s", s.name, n, m.account.Email())
	from := fmt.Sprintf("friend%d@friends.example", n) // nobody gets two replies a day
	if _, err := w.server.Account(w.Context(), from); err != nil {
		return nil, err
	}
	w.correspondents[from] = true
	raw := fmt.Sprintf("From: %s\r\nTo: %s\r\nSubject: %s\r\nMessage-ID: <%d.%s>\r\nDate: %s\r\n\r\nHello.\r\n",
		from, m.account.Email(), subject, n, m.account.Email(), time.Now().Format(time.RFC1123Z))
	arrived, err := m.account.Deliver(w.Context(), []byte(raw))
	if err != nil {
		return nil, err
	}
	msg := &message{id: arrived.ID, subject: subject, sorting: s, labels: postroom.NewSnapshot(arrived.Labels)}
	m.messages = append(m.messages, msg)
	return msg, nil
}

// lend lets a person have a hand in a message.
func (m *mailbox) lend(ctx context.Context, msg *message, h hand) error {
	if err := h.do(ctx, m.account.Person(), msg.id); err != nil {
		return err
	}
	msg.labels = msg.labels.Apply(h.change)
	return nil
}

// settle ends an act: nothing fails any more, nobody kills, and all that is left to do is done.
func (w *world) settle() {
	w.Helper()
	w.server.ClearFaults()
	queuetest.PromoteScheduled(w, w.office.queue)
	// What the first round changes at Gmail, such as by sending, is followed by the second.
	for range 2 {
		for _, m := range w.mailboxes {
			w.enqueue(gmail.NewHistorySyncJob(m.id, 0))
		}
		w.finish()
	}
}

// finish works until nothing is left to do, and fails the test when there is no end to it.
func (w *world) finish() {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), 5*time.Minute+time.Duration(w.messages)*100*time.Millisecond)
	defer cancel()
	require.NoError(w, w.office.finish(ctx))
	if ctx.Err() == nil {
		return
	}
	left, err := w.office.queue.Jobs(w.Context(),
		queue.Filter{States: []queue.State{queue.StateQueued, queue.StateRunning}, Limit: 20})
	require.NoError(w, err)
	for i := range left {
		j := &left[i]
		w.Logf("%s %s %s is %s, due %v, attempt %d: %s", j.Type, j.ID, j.Payload, j.State, time.Until(j.NotBefore),
			j.Attempt, j.LastError)
	}
	w.Fatal("still not idle")
}

// fault is one of those that pass.
func (w *world) fault() gmailtest.Fault {
	return []gmailtest.Fault{
		{Status: http.StatusTooManyRequests, RetryAfter: time.Second},
		{Status: http.StatusTooManyRequests},
		{Status: http.StatusForbidden, Reason: "userRateLimitExceeded", RetryAfter: time.Second},
		{Status: http.StatusInternalServerError},
		{Status: http.StatusBadGateway, Body: "<html>Bad Gateway</html>"},
		{Status: http.StatusServiceUnavailable},
		{Truncate: true},
		{Truncate: true},
		{Cut: gmailtest.CutBefore},
		{Cut: gmailtest.CutAfter},
		{Cut: gmailtest.CutAfter},
	}[w.IntN(11)]
}

// atGmail returns the labels of all messages, by their names.
func (w *world) atGmail(m *mailbox) map[string][]string {
	w.Helper()
	snapshot, err := m.account.Snapshot(w.Context())
	require.NoError(w, err)
	all := make(map[string][]string, len(snapshot))
	for i := range snapshot {
		all[snapshot[i].ID] = postroom.NewSnapshot(snapshot[i].Labels).LabelIDs
	}
	return all
}

// stored is atGmail for what is stored; ids are Gmail's by ours.
func (w *world) stored(m *mailbox) (all map[string][]string, ids map[string]string) {
	w.Helper()
	all, ids = make(map[string][]string), make(map[string]string)
	for search := (mailindex.Search{SpamAndTrash: true, Limit: 500}); ; {
		page, err := w.office.mail.Search(w.Context(), m.id, search)
		require.NoError(w, err)
		for _, msg := range page.Messages {
			names := make([]string, len(msg.LabelIDs))
			for i, id := range msg.LabelIDs {
				names[i] = m.names[id]
			}
			all[msg.ProviderID], ids[msg.ID] = postroom.NewSnapshot(names).LabelIDs, msg.ProviderID
		}
		if search.Cursor = page.Next; search.Cursor == "" {
			return all, ids
		}
	}
}

// received counts the messages that others have got, by their subjects.
func (w *world) received() map[string]int {
	w.Helper()
	counts := make(map[string]int)
	for email := range w.correspondents {
		account, err := w.server.Account(w.Context(), email)
		require.NoError(w, err)
		service, err := account.Service(w.Context())
		require.NoError(w, err)
		snapshot, err := account.Snapshot(w.Context())
		require.NoError(w, err)
		for i := range snapshot {
			full, err := service.Users.Messages.Get("me", snapshot[i].ID).Format("metadata").MetadataHeaders("Subject").Do()
			require.NoError(w, err)
			counts[full.Payload.Headers[0].Value]++
		}
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	return counts
}
