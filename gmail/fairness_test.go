package gmail

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

// An office is many mailboxes of one Gmail and one database, within the default limits.
type office struct {
	t        testing.TB
	store    *mailstore.Store
	queue    *queue.Queue
	cfg      Config
	accounts []string
	boxes    []*gmailtest.Account

	unlimited bool        // no limit of the queue
	stored    chan string // the account of each message that is stored
}

func newOffice(t testing.TB, db queue.DB, mailboxes int) *office {
	t.Helper()
	ctx := t.Context()
	server := gmailtest.NewServer(t)
	require.NoError(t, queue.Migrate(ctx, db))
	require.NoError(t, mailstore.Migrate(ctx, db))
	store, err := mailstore.New(mailstore.Config{DB: db})
	require.NoError(t, err)
	base := &http.Transport{MaxIdleConnsPerHost: 64}
	t.Cleanup(base.CloseIdleConnections)
	clients, err := NewClients(AccountClientsConfig{Store: store, Endpoint: server.URL(),
		HTTPClient: func(_ context.Context, a mailstore.Account) (*http.Client, error) {
			token := oauth2.StaticTokenSource(&oauth2.Token{AccessToken: "gmailtest:" + a.Email})
			return &http.Client{Transport: &oauth2.Transport{Source: token, Base: base}}, nil
		}})
	require.NoError(t, err)
	o := &office{t: t, store: store, cfg: Config{Store: store, Clients: clients}, stored: make(chan string, 1000)}
	o.cfg.OnMessage = func(_ context.Context, tx queue.Tx, m *postroom.Message) error {
		tx.(*driver.WriteTx).OnCommit(func() { o.stored <- m.AccountID })
		return nil
	}
	o.queue, err = queue.New(db, &queue.Config{Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	for n := range mailboxes {
		box, err := server.Account(ctx, fmt.Sprintf("clerk%d@example.com", n))
		require.NoError(t, err)
		o.accounts, o.boxes = append(o.accounts, ensureAccount(t, store, box.Email())), append(o.boxes, box)
		o.skipHistory(n)
	}
	return o
}

// skipHistory makes what is in the mailbox old mail.
func (o *office) skipHistory(box int) {
	o.t.Helper()
	service, err := o.boxes[box].Service(o.t.Context())
	require.NoError(o.t, err)
	profile, err := service.Users.GetProfile("me").Do()
	require.NoError(o.t, err)
	write(o.t, o.store, func(ctx context.Context, tx queue.Tx) error {
		return o.store.Progress().MoveCursor(ctx, tx, o.accounts[box], profile.HistoryId, true)
	})
}

func (o *office) deliver(box, messages int) {
	o.t.Helper()
	for range messages {
		_, err := o.boxes[box].Deliver(o.t.Context(), []byte(plainMail))
		require.NoError(o.t, err)
	}
}

func (o *office) enqueue(job queue.NewJob) {
	o.t.Helper()
	_, err := o.queue.Enqueue(o.t.Context(), job)
	require.NoError(o.t, err)
}

// start runs a dispatcher as a program does that configures nothing. The function that it returns ends it.
func (o *office) start() (stop func() time.Duration) {
	o.t.Helper()
	_, err := LimitJobs(o.t.Context(), o.queue, gmailapi.Limits{Unlimited: o.unlimited})
	require.NoError(o.t, err)
	d, err := queue.NewDispatcher(o.queue, nil)
	require.NoError(o.t, err)
	require.NoError(o.t, Register(d, o.cfg))
	ctx, cancel := context.WithCancel(o.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	return func() time.Duration {
		began := time.Now()
		cancel()
		require.NoError(o.t, <-ended)
		return time.Since(began)
	}
}

// awaitStored returns when so many messages are stored, of the accounts each.
func (o *office) awaitStored(accounts []string, each int, within time.Duration) {
	o.t.Helper()
	waiting := map[string]int{}
	for _, account := range accounts {
		waiting[account] = each
	}
	late := time.After(within)
	for len(waiting) > 0 {
		select {
		case account := <-o.stored:
			if waiting[account]--; waiting[account] <= 0 {
				delete(waiting, account) // or one that is not waited for
			}
		case <-late:
			require.Empty(o.t, waiting, "mailboxes whose mail is not stored after %v", within)
		}
	}
}

// spendBurst spends the units of an account that may be spent at once.
func (o *office) spendBurst(box int) {
	o.t.Helper()
	client, err := gmailapi.FindClient(o.t.Context(), o.cfg.Clients, o.accounts[box])
	require.NoError(o.t, err)
	for client.QuotaWait(false, gmailapi.MethodGetMessage) == 0 {
		_, err := client.State(o.t.Context(), "0123456789abcdef")
		require.ErrorIs(o.t, err, postroom.ErrMessageGone)
	}
}

// A burst in one mailbox, far beyond its quota, delays the new mail of no other, and no stop.
func TestABurstInOneMailboxLeavesTheOthers(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		o := newOffice(t, db, 10)
		o.deliver(0, 600)
		stop := o.start()
		o.enqueue(NewHistorySyncJob(o.accounts[0], 0))
		o.awaitStored(o.accounts[:1], 1, 10*time.Second)
		o.spendBurst(0)
		for n := 1; n < len(o.boxes); n++ {
			o.deliver(n, 1)
			o.enqueue(NewHistorySyncJob(o.accounts[n], 0))
		}
		o.awaitStored(o.accounts[1:], 1, 5*time.Second)
		require.Less(t, stop(), 3*time.Second, "to stop")
	})
}

// New mail of a mailbox that is being filled does not wait for the old mail, and no job has spent an attempt.
func TestNewMailGoesBeforeOldMailOfItsMailbox(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		o := newOffice(t, db, 1)
		o.deliver(0, 200)
		o.skipHistory(0)
		stop := o.start()
		defer stop()
		o.enqueue(NewBackfillJob(o.accounts[0], "", ""))
		o.awaitStored(o.accounts, 1, 10*time.Second)
		o.spendBurst(0)
		letter, err := o.boxes[0].Deliver(t.Context(), []byte(plainMail))
		require.NoError(t, err)
		o.enqueue(NewHistorySyncJob(o.accounts[0], 0))
		for known := false; !known; {
			o.awaitStored(o.accounts, 1, 5*time.Second)
			_, err := o.store.MessageID(t.Context(), o.accounts[0], letter.ID)
			known = err == nil
		}
		stored, err := o.store.CountMessages(t.Context(), o.accounts[0])
		require.NoError(t, err)
		require.Less(t, stored, 100, "old mail waits for the quota")
	})
}

// Without the limit of the queue, a job without quota gives its worker back, and waits no longer than its quota does.
func TestAJobWithoutQuotaGivesItsWorkerBack(t *testing.T) {
	o := newOffice(t, dbtest.SQLite(t), 2)
	o.deliver(0, 60)
	o.unlimited = true
	stop := o.start()
	defer stop()
	began := time.Now()
	o.enqueue(NewHistorySyncJob(o.accounts[0], 0))
	o.awaitStored(o.accounts[:1], 10, 10*time.Second)
	o.spendBurst(0)
	o.deliver(1, 1)
	o.enqueue(NewHistorySyncJob(o.accounts[1], 0))
	o.awaitStored(o.accounts[1:], 1, 2*time.Second)
	ingests := queue.Filter{Types: []string{string(JobIngest)}, LimitKey: mailstore.LimitKey(o.accounts[0]), Limit: 100}
	require.Eventually(t, func() bool {
		n, err := o.store.CountMessages(t.Context(), o.accounts[0])
		return err == nil && n == 60
	}, 15*time.Second, 50*time.Millisecond)
	require.Less(t, time.Since(began), 14*time.Second, "600 units at once, and 600 in six seconds, and the burst spent")
	jobs, err := o.queue.Jobs(t.Context(), ingests)
	require.NoError(t, err)
	deferrals := 0
	for _, job := range jobs {
		require.Zero(t, job.Failures)
		deferrals += job.Interruptions
	}
	require.NotZero(t, deferrals)
	require.Less(t, deferrals, 600, "deferred jobs that all come back at once")
	t.Log(deferrals, "deferrals of 60 jobs")
}
