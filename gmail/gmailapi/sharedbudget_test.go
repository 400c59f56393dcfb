package gmailapi

import (
	"context"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// A sharing is an account on PostgreSQL whose quota processes share.
type sharing struct {
	*testing.T
	db      queue.DB
	account string
	limits  Limits
	minute  time.Duration
}

func newSharing(t *testing.T, limits Limits, minute time.Duration) *sharing {
	t.Helper()
	db := dbtest.Postgres(t)
	migration, err := os.ReadFile("../mailstore/migrations/postgres/0001_initial.sql")
	require.NoError(t, err)
	_, tables, found := strings.Cut(string(migration), "-- The quota of each account")
	require.True(t, found)
	const account = "0198f1a0-0000-7000-8000-000000000001"
	require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		statements := append([]string{
			`CREATE TABLE accounts (id TEXT NOT NULL PRIMARY KEY)`, `INSERT INTO accounts (id) VALUES ('` + account + `')`,
		}, strings.Split("--"+tables, ";")...)
		for _, statement := range statements {
			if strings.TrimSpace(statement) == "" {
				continue
			}
			if _, err := tx.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	}))
	return &sharing{T: t, db: db, account: account, limits: limits, minute: minute}
}

// rateLimiter is the gate of one more process.
func (s *sharing) gate() *rateLimiter {
	s.Helper()
	g, err := s.limits.gate(func(l Limits) budget {
		shared, err := newSharedBudget(s.db, s.account, l, s.minute, s.minute)
		require.NoError(s, err)
		return shared
	})
	require.NoError(s, err)
	return g
}

// Three processes call side by side, and Gmail, whose minutes are three seconds here, as are the processes', never
// refuses.
func TestProcessesThatShareAQuota(t *testing.T) {
	s := newSharing(t, Limits{UnitsPerMinute: 1200, Concurrent: 6}, 3*time.Second)
	server, err := gmailtest.Open(t.Context(), gmailtest.Config{
		Quota: gmailtest.Quota{PerMinute: 1200},
		Now:   fastClock(s.minute),
	})
	require.NoError(t, err)
	defer server.Close()
	letter, err := server.Deliver(t.Context(), []byte(plainMail))
	require.NoError(t, err)
	base := &http.Transport{}
	defer base.CloseIdleConnections()
	carrier := &http.Client{Transport: &oauth2.Transport{Source: oauth2.StaticTokenSource(
		&oauth2.Token{AccessToken: "x"}), Base: base}}

	var all sync.WaitGroup
	var calls atomic.Int64
	start, end := time.Now(), time.Now().Add(3*s.minute)
	for range 3 {
		client, err := newClient(ClientConfig{HTTPClient: carrier, Endpoint: server.URL()}, s.gate())
		require.NoError(t, err)
		for range 4 {
			all.Go(func() {
				for time.Now().Before(end) {
					if _, err := client.GetImage(context.Background(), letter.ID); !assert.NoError(t, err) {
						return
					}
					calls.Add(1)
				}
			})
		}
	}
	all.Wait()
	minutes := float64(time.Since(start)) / float64(s.minute)
	t.Logf("%.1f %% of the quota in %.1f minutes", float64(calls.Load())*20/12/minutes, minutes)
}

func TestSharedBudget(t *testing.T) {
	s := newSharing(t, Limits{UnitsPerMinute: 240, Burst: 200, Concurrent: 8}, time.Hour)
	one, other := s.gate(), s.gate()
	enter := func(g *rateLimiter, method Method) (func(), error) {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		return g.enter(ctx, method)
	}
	leave, err := enter(one, MethodSend)
	require.NoError(t, err)
	leave()
	leave, err = enter(other, MethodSend)
	require.NoError(t, err, "the rest of the burst")
	for _, g := range []*rateLimiter{one, other} {
		_, err = enter(g, MethodSend)
		require.Equal(t, ClassRateLimited, ClassOf(err), "nobody has a third")
	}
	leave()
	require.Equal(t, 2, one.budget.shares())
	require.Equal(t, 2, other.budget.shares())

	// What one process hears from Gmail holds for the other, and for one that begins.
	one.note(MethodGetMessage, &Error{Class: ClassRateLimited, RetryAfter: time.Minute})
	for _, g := range []*rateLimiter{one, other, s.gate()} {
		_, err = enter(g, MethodGetProfile)
		var e *Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, ClassRateLimited, e.Class)
		require.InDelta(t, time.Minute, e.RetryAfter, float64(40*time.Second))
		require.ErrorContains(t, err, "Gmail has told us to wait")
	}
}

// What a process that died had leased counts until its calls must have ended, and comes back then.
func TestLeaseOfADeadProcess(t *testing.T) {
	s := newSharing(t, Limits{UnitsPerMinute: 240, Burst: 230, Concurrent: 8}, time.Hour)
	_, err := s.gate().enter(t.Context(), MethodSend) // and is never heard of again
	require.NoError(t, err)
	g := s.gate()
	leave, err := g.enter(t.Context(), MethodSend)
	require.NoError(t, err)
	leave()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	_, err = g.enter(ctx, MethodSend)
	require.Equal(t, ClassRateLimited, ClassOf(err))

	var left time.Duration
	var micros int64
	require.NoError(t, s.db.Reader().GetContext(t.Context(), &micros,
		`SELECT MAX((EXTRACT(EPOCH FROM free_at - clock_timestamp()) * 1000000)::BIGINT) FROM quota_leases`))
	left = time.Duration(micros) * time.Microsecond
	require.Greater(t, left, 2*time.Hour, "a call may take as long as its timeout, and counts an hour more")
	// That time has passed, and so has the pace.
	require.NoError(t, s.db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		if _, err := tx.ExecContext(ctx, `UPDATE quota_leases SET free_at = clock_timestamp()`); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `UPDATE quota_accounts SET arrival = clock_timestamp()`)
		return err
	}))
	leave, err = g.enter(t.Context(), MethodSend)
	require.NoError(t, err)
	leave()
}

func TestClientsOnPostgresShare(t *testing.T) {
	s := newSharing(t, Limits{}, time.Minute)
	newClient := func(limits Limits) *Client {
		c, err := NewClient(ClientConfig{HTTPClient: http.DefaultClient, Limits: limits,
			Shared: &SharedLimits{DB: s.db, AccountID: s.account}})
		require.NoError(t, err)
		return c
	}
	require.IsType(t, (*sharedBudget)(nil), newClient(Limits{}).gate.budget)
	require.Nil(t, newClient(Limits{Unlimited: true}).gate)
}
