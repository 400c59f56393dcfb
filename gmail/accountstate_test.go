package gmail

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/queue"
)

// runOnce runs a job until its first attempt has ended.
func (w *world) runOnce(job queue.NewJob) *queue.Job {
	w.t.Helper()
	ends, err := w.queue.Subscribe(queue.EventFilter{Kinds: []queue.EventKind{queue.EventRetried}})
	require.NoError(w.t, err)
	defer ends.Close()
	enqueued, err := w.queue.Enqueue(w.t.Context(), job)
	require.NoError(w.t, err)
	d, err := queue.NewDispatcher(w.queue, &queue.DispatcherConfig{PollInterval: 20 * time.Millisecond})
	require.NoError(w.t, err)
	require.NoError(w.t, Register(d, w.cfg))
	ctx, stop := context.WithTimeout(w.t.Context(), 10*time.Minute)
	defer stop()
	ran := make(chan error, 1)
	go func() { ran <- d.Run(ctx) }()
	_, err = ends.Next(ctx)
	require.NoError(w.t, err)
	stop()
	require.NoError(w.t, <-ran)
	return w.job(enqueued.ID)
}

func TestJobsOfAPausedAccountWaitUnspent(t *testing.T) {
	w := newWorld(t)
	w.arriveMany(3)
	pause(t, w.store, w.queue, w.account, "")
	old := NewHistorySyncJob(w.account, 0) // as a host enqueues it that sets its own options
	old.LimitKey = ""
	keyless := w.runOnce(old)
	require.NoError(t, w.queue.Cancel(t.Context(), keyless.ID))
	require.Equal(t, queue.StateQueued, keyless.State)
	require.Zero(t, keyless.Failures)
	require.Equal(t, 1, keyless.Interruptions)
	require.WithinDuration(t, time.Now().Add(time.Hour), keyless.NotBefore, 10*time.Minute)
	backfill := w.run(NewBackfillJob(w.account, "", ""))
	require.Empty(t, w.server.Counts()[gmailtest.MessagesList], "Gmail is not asked")
	job := w.job(backfill)
	require.Equal(t, queue.StateQueued, job.State)
	require.Zero(t, job.Attempt)

	resume(t, w.store, w.queue, w.account)
	w.run()
	require.Equal(t, map[queue.State]int{queue.StateCompleted: 3}, w.jobs("ingest.gmail"))
}

// lostGrant makes the token endpoint answer as it does when the grant is gone.
type lostGrant struct {
	next http.RoundTripper
	gone atomic.Bool
}

func (l *lostGrant) RoundTrip(r *http.Request) (*http.Response, error) {
	if l.gone.Load() {
		return nil, &oauth2.RetrieveError{ErrorCode: "invalid_grant",
			Response: &http.Response{StatusCode: http.StatusBadRequest}}
	}
	return l.next.RoundTrip(r)
}

func (w *world) losingGrant() *lostGrant {
	lost := &lostGrant{next: authorized(w).Transport}
	client, err := gmailapi.NewClient(gmailapi.ClientConfig{HTTPClient: &http.Client{Transport: lost},
		Endpoint: w.server.URL(), Limits: gmailapi.Limits{Unlimited: true}})
	require.NoError(w.t, err)
	w.cfg.Clients = gmailapi.ClientsFunc(func(context.Context, string) (*gmailapi.Client, error) { return client, nil })
	return lost
}

func TestLostGrantStopsTheAccountOnce(t *testing.T) {
	w := newWorld(t)
	lost := w.losingGrant()
	var jobs []queue.NewJob
	for _, id := range w.arriveMany(20) {
		jobs = append(jobs, NewIngestJob(w.account, id))
	}
	lost.gone.Store(true)
	var told []mailstore.Account
	w.cfg.OnReauthorize = func(ctx context.Context, tx queue.Tx, account mailstore.Account, cause error) error {
		require.Equal(t, gmailapi.ClassReauthorize, gmailapi.ClassOf(cause))
		told = append(told, account)
		_, err := w.queue.EnqueueTx(ctx, tx, queue.NewJob{Type: "tell.person", Payload: "sign in"})
		return err
	}
	last := w.run(jobs...)
	require.Len(t, told, 1)
	require.Equal(t, w.account, told[0].ID)
	require.Equal(t, map[queue.State]int{queue.StateQueued: 1}, w.jobs("tell.person"), "it is part of the transaction")
	require.Equal(t, map[queue.State]int{queue.StateQueued: 20}, w.jobs("ingest.gmail"))
	require.Zero(t, w.job(last).Failures)
	require.LessOrEqual(t, w.job(last).Interruptions, 1, "nobody asks again and again")
	require.Equal(t, mailstore.AccountReauthorize, w.state().State)
	require.Contains(t, w.state().Reason, gmailapi.HintReauthorize)

	lost.gone.Store(false)
	resume(t, w.store, w.queue, w.account)
	w.run()
	require.Equal(t, map[queue.State]int{queue.StateCompleted: 20}, w.jobs("ingest.gmail"))
	require.Len(t, told, 1)

	lost.gone.Store(true)
	w.run(NewLabelsSyncJob(w.account))
	require.Len(t, told, 2, "each loss is told")
}

// Of two processes, the one without access leaves the account as it is, and the jobs to the other.
func TestJobsAreLeftToAProcessWithAccess(t *testing.T) {
	w := newWorld(t)
	elsewhere := w.cfg.Clients
	var log bytes.Buffer
	w.cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
	w.cfg.OnReauthorize = func(context.Context, queue.Tx, mailstore.Account, error) error {
		return errors.New("nobody is to be told")
	}
	lacks := &gmailapi.Error{Op: "use account", Class: gmailapi.ClassNoAccess, Hint: "sign in here"}
	w.cfg.Clients = gmailapi.ClientsFunc(func(context.Context, string) (*gmailapi.Client, error) { return nil, lacks })
	w.arriveMany(3)
	job := w.runOnce(NewBackfillJob(w.account, "", ""))
	require.Equal(t, queue.StateQueued, job.State)
	require.Equal(t, []int{0, 1}, []int{job.Failures, job.Interruptions})
	require.WithinDuration(t, time.Now(), job.NotBefore, 10*time.Second, "the other process has it soon")
	require.Equal(t, mailstore.AccountActive, w.state().State)
	require.False(t, isPaused(t, w.queue, w.account))
	require.Equal(t, 1, strings.Count(log.String(), "left to other processes"), log.String())
	require.Contains(t, log.String(), "sign in here")

	w.cfg.Clients = elsewhere
	w.run()
	require.Equal(t, map[queue.State]int{queue.StateCompleted: 3}, w.jobs("ingest.gmail"))
}

func TestMailboxWithoutAccess(t *testing.T) {
	w := newWorld(t)
	id, _ := w.known("INBOX")
	lacks := &gmailapi.Error{Op: "use account", Class: gmailapi.ClassNoAccess}
	mailbox, err := NewMailbox(MailboxConfig{Store: w.store,
		Clients: gmailapi.ClientsFunc(func(context.Context, string) (*gmailapi.Client, error) {
			return nil, lacks
		})})
	require.NoError(t, err)
	_, err = mailbox.Snapshot(t.Context(), w.account, id)
	require.Equal(t, queue.Defer(lacks, 15*time.Minute), err)
	require.EqualError(t, err, "gmail: use account: no access here")
}

func TestPersonThatCannotBeToldIsToldLater(t *testing.T) {
	w := newWorld(t)
	lost := w.losingGrant()
	lost.gone.Store(true)
	tries := 0
	w.cfg.OnReauthorize = func(context.Context, queue.Tx, mailstore.Account, error) error {
		if tries++; tries == 1 {
			return errors.New("no way to tell")
		}
		return nil
	}
	job := w.runOnce(NewLabelsSyncJob(w.account))
	require.Equal(t, mailstore.AccountActive, w.state().State)
	require.Zero(t, job.Failures)
	require.Contains(t, job.LastError, "no way to tell")
	w.runOnce(NewHistorySyncJob(w.account, 0))
	require.Equal(t, 2, tries)
	require.Equal(t, mailstore.AccountReauthorize, w.state().State)
}

func TestMailboxOfAPausedAccount(t *testing.T) {
	w := newWorld(t)
	id, _ := w.known("INBOX")
	mailbox, err := NewMailbox(MailboxConfig{Store: w.store, Clients: w.cfg.Clients})
	require.NoError(t, err)
	pause(t, w.store, w.queue, w.account, "")
	_, err = mailbox.Snapshot(t.Context(), w.account, id)
	require.Equal(t, gmailapi.ClassPaused, gmailapi.ClassOf(err))
	require.Equal(t, queue.Defer(errors.Unwrap(err), time.Hour), err)
	resume(t, w.store, w.queue, w.account)
	_, err = mailbox.Snapshot(t.Context(), w.account, id)
	require.NoError(t, err)
}

func TestRemoveAccount(t *testing.T) {
	eachQueue(t, func(t *testing.T, s *mailstore.Store, q *queue.Queue, id string) {
		other := ensureAccount(t, s, "other@example.com")
		for _, account := range []string{id, other} {
			save(t, s, fullMessage(account))
			write(t, s, func(ctx context.Context, tx queue.Tx) error {
				if err := s.Copies().SaveBroken(ctx, tx, mailstore.BrokenMessage{AccountID: account, ProviderID: "b", JobID: "j",
					Reason: "r"}, []byte("x")); err != nil {
					return err
				}
				return s.SaveLabel(ctx, tx, account, postroom.Label{ID: "L", Name: "L", Type: postroom.LabelUser})
			})
			_, err := q.EnqueueMany(t.Context(), []queue.NewJob{NewIngestJob(account, "m"), NewHistorySyncJob(account, 0)})
			require.NoError(t, err)
		}

		// Interrupted after its first transaction, it is finished by the next call.
		write(t, s, func(ctx context.Context, tx queue.Tx) error {
			return s.StartRemoval(ctx, tx, q, id)
		})
		require.Equal(t, mailstore.AccountRemoving, getAccount(t, s, id).State)
		require.Equal(t, gmailapi.ClassPaused, gmailapi.ClassOf(getAccount(t, s, id).Usable()))
		for _, change := range []func(ctx context.Context, tx queue.Tx) error{
			func(ctx context.Context, tx queue.Tx) error { return s.Resume(ctx, tx, q, id) },
			func(ctx context.Context, tx queue.Tx) error { return s.Pause(ctx, tx, q, id, "") },
			func(ctx context.Context, tx queue.Tx) error {
				_, err := s.EnsureAccount(ctx, tx, "me@example.com", time.Time{})
				return err
			},
		} {
			require.ErrorContains(t, s.DB().Write(t.Context(), change), "is being removed")
		}

		require.NoError(t, RemoveAccount(t.Context(), s, q, id))
		_, err := s.Account(t.Context(), id)
		require.ErrorIs(t, err, postroom.ErrNotFound)
		require.ErrorIs(t, RemoveAccount(t.Context(), s, q, id), postroom.ErrNotFound)
		require.False(t, isPaused(t, q, id))
		for _, table := range []string{"messages", "threads", "labels", "broken_messages"} {
			var accounts []string
			require.NoError(t, s.DB().Reader().SelectContext(t.Context(), &accounts, `SELECT account_id FROM `+table))
			require.Equal(t, []string{other}, accounts, table)
		}
		counts, err := q.Counts(t.Context(), queue.Filter{LimitKey: mailstore.LimitKey(id)})
		require.NoError(t, err)
		require.Equal(t, map[queue.State]int{queue.StateCanceled: 2}, counts)
		counts, err = q.Counts(t.Context(), queue.Filter{LimitKey: mailstore.LimitKey(other)})
		require.NoError(t, err)
		require.Equal(t, map[queue.State]int{queue.StateQueued: 2}, counts)

		require.NotEqual(t, id, ensureAccount(t, s, "me@example.com"), "the address can come back, as a new account")
	})
}

func TestClientsOfAccounts(t *testing.T) {
	w := newWorld(t)
	var made atomic.Int32
	fail := errors.New("keychain locked")
	clients, err := NewClients(AccountClientsConfig{
		Store: w.store, Endpoint: w.server.URL(),
		HTTPClient: func(_ context.Context, account mailstore.Account) (*http.Client, error) {
			require.Equal(t, w.server.Email(), account.Email)
			if made.Add(1) == 1 {
				return nil, fail
			}
			return authorized(w), nil
		},
	})
	require.NoError(t, err)
	_, err = clients.Client(t.Context(), w.account)
	require.ErrorIs(t, err, fail)

	first, err := clients.Client(t.Context(), w.account)
	require.NoError(t, err)
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			client, err := clients.Client(t.Context(), w.account)
			require.NoError(t, err)
			require.Same(t, first, client)
		})
	}
	all.Wait()
	require.EqualValues(t, 2, made.Load())
	w.cfg.Clients = clients
	w.arrive(plainMail)
	w.run(NewBackfillJob(w.account, "", ""))
	require.Len(t, w.seen, 1)

	require.NoError(t, RemoveAccount(t.Context(), w.store, w.queue, w.account))
	_, err = clients.Client(t.Context(), w.account)
	require.ErrorIs(t, err, postroom.ErrNotFound)
	require.Equal(t, gmailapi.ClassNotFound, gmailapi.ClassOf(err))
	require.Empty(t, clients.clients)

	_, err = NewClients(AccountClientsConfig{Limits: gmailapi.Limits{Concurrent: -1}})
	require.ErrorContains(t, err, "AccountClientsConfig.Store is nil")
	require.ErrorContains(t, err, "AccountClientsConfig.HTTPClient is nil")
	_, err = NewClients(AccountClientsConfig{Store: w.store, HTTPClient: clients.cfg.HTTPClient,
		Limits: gmailapi.Limits{Concurrent: -1}})
	require.ErrorContains(t, err, "AccountClientsConfig.Limits.Concurrent is -1")
}
