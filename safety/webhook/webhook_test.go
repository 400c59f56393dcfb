package webhook_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/safety/webhook"
)

func TestMain(m *testing.M) { dbtest.Main(m, queue.Migrate, safety.Migrate) }

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// A delivery is one call of the receiver.
type delivery struct {
	header http.Header
	body   map[string]any
	raw    string
}

// A fixture is a ledger whose requests are told to a receiver.
type fixture struct {
	t      *testing.T
	db     queue.DB
	queue  *queue.Queue
	ledger *safety.Ledger
	server *httptest.Server
	sender *webhook.Sender

	mu       sync.Mutex
	got      []delivery
	statuses []int // of the next answers; then 204
}

func newFixture(t *testing.T, db queue.DB) *fixture {
	f := &fixture{t: t, db: db}
	f.server = httptest.NewServer(http.HandlerFunc(f.receive))
	t.Cleanup(f.server.Close)
	require.NoError(t, queue.Migrate(t.Context(), db))
	require.NoError(t, safety.Migrate(t.Context(), db))
	var err error
	f.queue, err = queue.New(db, &queue.Config{Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	follow := func(ctx context.Context, tx queue.Tx, r safety.Approval) error {
		_, err := f.queue.EnqueueManyTx(ctx, tx, webhook.Jobs(r))
		return err
	}
	f.ledger, err = safety.NewLedger(safety.Config{
		DB: db, Execute: func(context.Context, queue.Tx, postroom.Action) error { return nil }, OnAnswer: follow,
		Ask: follow,
	})
	require.NoError(t, err)
	f.sender, err = webhook.New(webhook.Config{Ledger: f.ledger, URL: f.server.URL + "/hook?token=hunter2",
		Secret: secret, AllowPrivate: true})
	require.NoError(t, err)
	t.Cleanup(f.sender.Close)
	return f
}

func (f *fixture) receive(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	d := delivery{header: r.Header, raw: string(raw)}
	_ = json.Unmarshal(raw, &d.body)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.got = append(f.got, d)
	status := http.StatusNoContent
	if len(f.statuses) > 0 {
		status, f.statuses = f.statuses[0], f.statuses[1:]
	}
	if status == http.StatusFound {
		w.Header().Set("Location", "/elsewhere")
	}
	w.WriteHeader(status)
}

func (f *fixture) deliveries() []delivery {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.got
}

func (f *fixture) write(fn func(ctx context.Context, tx queue.Tx) error) {
	f.t.Helper()
	require.NoError(f.t, f.db.Write(f.t.Context(), fn))
}

func (f *fixture) ask() postroom.Action {
	f.t.Helper()
	return f.askAt(time.Now())
}

// writeAt is write at another time.
func (f *fixture) writeAt(at time.Time, fn func(ctx context.Context, tx queue.Tx) error) {
	f.t.Helper()
	f.write(func(ctx context.Context, tx queue.Tx) error {
		return fn(ctx, driver.NewWriteTx(tx, f.db.Dialect(), at))
	})
}

func (f *fixture) askAt(at time.Time) postroom.Action {
	f.t.Helper()
	var a postroom.Action
	f.writeAt(at, func(ctx context.Context, tx queue.Tx) (err error) {
		msg := &postroom.Message{ID: uuid.NewString(), AccountID: "account-1",
			From: postroom.Address{Email: "ann@example.com"}, Subject: "Very private"}
		a, err = f.ledger.Record(ctx, msg, postroom.Decision{
			Action: postroom.Delete, Parameters: postroom.Parameters{"note": "hunter2"}, Confidence: 1,
			Rationale: "it says: hunter2",
			Source:    postroom.SourceModel, Model: "some-model",
		})(ctx, tx)
		return err
	})
	return a
}

// work delivers what is due. Expiries wait.
func (f *fixture) work() {
	f.t.Helper()
	ctx, stop := context.WithCancel(f.t.Context())
	defer stop()
	ended, err := f.queue.Subscribe(queue.EventFilter{
		Types: []string{string(webhook.JobDeliver), string(webhook.JobNotAsked), string(webhook.JobNotice)}})
	require.NoError(f.t, err)
	defer ended.Close()
	d, err := queue.NewDispatcher(f.queue, &queue.DispatcherConfig{Exclusive: true, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(f.t, err)
	retry := queue.RetryPolicy{Base: time.Millisecond, Factor: 1, Cap: time.Millisecond}
	require.NoError(f.t, webhook.Register(d, f.sender, queue.WithRetry(retry)))
	done := make(chan error, 1)
	go func() { done <- d.Run(ctx) }()
	for f.due() {
		_, err := ended.Next(ctx)
		require.NoError(f.t, err)
	}
	stop()
	require.NoError(f.t, <-done)
}

// due reports whether a delivery is left that is not an expiry to come.
func (f *fixture) due() bool {
	jobs, err := f.queue.Jobs(f.t.Context(), queue.Filter{States: []queue.State{queue.StateQueued, queue.StateRunning}})
	require.NoError(f.t, err)
	for _, j := range jobs {
		if time.Until(j.NotBefore) < time.Hour {
			return true
		}
	}
	return false
}

func TestEventsAreSignedAndHoldNoMail(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		f := newFixture(t, db)
		a := f.ask()
		f.work()
		f.write(func(ctx context.Context, tx queue.Tx) error {
			_, err := f.ledger.Reject(ctx, tx, a.ID, "ann", "no need")
			return err
		})
		f.work()
		got := f.deliveries()
		require.Len(t, got, 2)
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		require.NoError(t, err)
		for _, d := range got {
			h := hmac.New(sha256.New, key)
			h.Write([]byte(d.header.Get("Webhook-Id") + "." + d.header.Get("Webhook-Timestamp") + "." + d.raw))
			require.Equal(t, "v1,"+base64.StdEncoding.EncodeToString(h.Sum(nil)), d.header.Get("Webhook-Signature"))
			for _, private := range []string{"Very private", "ann@example.com", "hunter2"} {
				require.NotContains(t, d.raw, private)
			}
		}
		require.NotEqual(t, got[0].header.Get("Webhook-Id"), got[1].header.Get("Webhook-Id"))
		require.Equal(t, "approval.requested", got[0].body["type"])
		asked, answered := got[0].body["data"].(map[string]any), got[1].body["data"].(map[string]any)
		require.Equal(t, "waiting", asked["outcome"])
		require.Equal(t, "delete", asked["action"])
		require.Equal(t, "some-model", asked["model"])
		require.NotContains(t, asked, "approver")
		require.Equal(t, "approval.rejected", got[1].body["type"])
		require.Equal(t, "rejected", answered["outcome"])
		require.Equal(t, "ann", answered["approver"])
		require.Equal(t, "no need", answered["why"])
		require.Equal(t, asked["approval_id"], answered["approval_id"])
		require.Equal(t, answered["decided_at"], got[1].body["timestamp"])
	})
}

func TestDeliveriesAreTriedAgain(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		f := newFixture(t, db)
		f.statuses = []int{500, http.StatusFound, http.StatusNotFound, http.StatusOK}
		f.ask()
		f.work()
		got := f.deliveries()
		require.Len(t, got, 4, "a redirect is not followed")
		for _, d := range got[1:] {
			require.Equal(t, got[0].header.Get("Webhook-Id"), d.header.Get("Webhook-Id"))
			require.Equal(t, got[0].raw, d.raw)
		}

		f.statuses = []int{http.StatusGone}
		f.ask()
		f.work()
		require.Len(t, f.deliveries(), 5)
		failed, err := f.queue.Jobs(t.Context(), queue.Filter{States: []queue.State{queue.StateFailed}})
		require.NoError(t, err)
		require.Len(t, failed, 1)
		require.Contains(t, failed[0].LastError, "the answer is 410 Gone")
		require.NotContains(t, failed[0].LastError, "hunter2", "the address is not told")
	})
}

func TestExpiryIsTold(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		for _, answered := range []bool{false, true} {
			f := newFixture(t, db)
			asked := time.Now().Add(-8 * 24 * time.Hour)
			a := f.askAt(asked)
			if answered {
				f.writeAt(asked.Add(time.Hour), func(ctx context.Context, tx queue.Tx) error {
					_, err := f.ledger.Approve(ctx, tx, a.ID, "ann")
					return err
				})
			}
			f.work()
			want := "approval.expired"
			if answered {
				want = "approval.approved"
			}
			require.ElementsMatch(t, []string{"approval.requested", want}, f.types())
		}
	})
}

// types are those of the events that have arrived.
func (f *fixture) types() (types []string) {
	for _, d := range f.deliveries() {
		types = append(types, d.body["type"].(string))
	}
	return types
}

// TestNothingIsSentThatIsNotSigned: rows say that somebody has approved, or something else was asked; and jobs say
// what they want.
func TestNothingIsSentThatIsNotSigned(t *testing.T) {
	for name, c := range map[string]struct {
		statement, event string
		fault            string // empty: it waits
	}{
		"approved in the row": {
			"UPDATE approvals SET outcome = 'approved', approver = 'ada', decided_at = requested_at", webhook.EventApproved,
			"altered in the database",
		},
		"approved in the job":     {"", webhook.EventApproved, "is waiting, and approval.approved is not to be told of it"},
		"another action":          {"UPDATE actions SET type = 'archive'", webhook.EventRequested, "altered in the database"},
		"another decision":        {"UPDATE decisions SET model = 'another'", webhook.EventRequested, "altered in the database"},
		"other reasons":           {`UPDATE approvals SET reasons_json = '["no reason"]'`, webhook.EventRequested, "altered in the database"},
		"no event":                {"", "approval.invented", "approval.invented is not to be told of it"},
		"expired before its time": {"", webhook.EventExpired, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, db queue.DB) {
				f := newFixture(t, db)
				a := f.ask()
				f.work()
				n := len(f.deliveries())
				requests, err := f.ledger.ApprovalsOf(t.Context(), a.ID)
				require.NoError(t, err)
				var job queue.EnqueueResult
				f.write(func(ctx context.Context, tx queue.Tx) error {
					if c.statement != "" {
						_, err := tx.ExecContext(ctx, c.statement)
						require.NoError(t, err)
					}
					job, err = f.queue.EnqueueTx(ctx, tx,
						webhook.JobDeliver.New(webhook.Event{Type: c.event, ApprovalID: requests[0].ID, At: time.Now()}, nil))
					return err
				})
				f.work()
				require.Len(t, f.deliveries(), n)
				left, err := f.queue.Job(t.Context(), job.ID)
				require.NoError(t, err)
				if c.fault == "" {
					require.Equal(t, queue.StateQueued, left.State)
					return
				}
				require.Equal(t, queue.StateFailed, left.State)
				require.Contains(t, left.LastError, c.fault)
			})
		})
	}
}

func TestOnlyPublicAddressesAreCalled(t *testing.T) {
	f := newFixture(t, dbtest.SQLite(t))
	private := webhook.Config{Ledger: f.ledger, URL: strings.Replace(f.server.URL, "http:", "https:", 1), Secret: secret}
	var err error
	f.sender, err = webhook.New(private)
	require.NoError(t, err)
	a := f.ask()
	f.write(func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE jobs SET max_attempts = 1")
		return err
	})
	f.work()
	require.Empty(t, f.deliveries())
	failed, err := f.queue.Jobs(t.Context(), queue.Filter{States: []queue.State{queue.StateFailed}})
	require.NoError(t, err)
	require.Len(t, failed, 1, a.ID)
	require.Contains(t, failed[0].LastError, "127.0.0.1 is not a public address")
}

func TestABadConfigurationIsRefused(t *testing.T) {
	f := newFixture(t, dbtest.SQLite(t))
	good := webhook.Config{Ledger: f.ledger, URL: "https://example.com/hook", Secret: secret}
	for want, change := range map[string]func(*webhook.Config){
		"webhook: Config.Ledger is nil":                    func(c *webhook.Config) { c.Ledger = nil },
		"webhook: Config.URL: it is no address":            func(c *webhook.Config) { c.URL = "" },
		"webhook: Config.URL: it is not encrypted":         func(c *webhook.Config) { c.URL = "http://example.com" },
		"webhook: Config.Secret: it is no secret":          func(c *webhook.Config) { c.Secret = "hunter2" },
		"webhook: Config.Secret: it is no secret; write w": func(c *webhook.Config) { c.Secret = "whsec_aHVudGVyMg==" },
		"webhook: Config.Timeout is 1ms":                   func(c *webhook.Config) { c.Timeout = time.Millisecond },
	} {
		cfg := good
		change(&cfg)
		_, err := webhook.New(cfg)
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "hunter2")
	}
	_, err := webhook.New(good)
	require.NoError(t, err)
	require.ErrorContains(t, webhook.Register(nil, nil), "webhook: Register: the Dispatcher is nil")
}
