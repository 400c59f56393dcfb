package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/queue/sqlite"
	"github.com/postroom-go/postroom/safety"
)

func TestThreeTenants(t *testing.T) {
	server := gmailtest.NewServer(t)
	tenants := map[string]tenant{"ada@example.org": {rules: books}, "bob@example.org": {rules: books},
		"eve@example.org": {rules: labels}}
	for email, tenant := range tenants {
		account, err := server.Account(t.Context(), email)
		require.NoError(t, err)
		token, err := account.Grant(t.Context())
		require.NoError(t, err)
		tenant.token = token.AccessToken
		tenants[email] = tenant
	}
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "host.db"), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	p, err := newHost(t.Context(), db, server.URL(), tenants)
	require.NoError(t, err)
	for email := range tenants {
		account, err := server.Account(t.Context(), email)
		require.NoError(t, err)
		_, err = account.Deliver(t.Context(),
			[]byte("From: shop@example.com\r\nTo: "+email+"\r\nSubject: Your invoice\r\n\r\nPlease pay.\r\n"))
		require.NoError(t, err)
	}
	faults, err := p.RunUntilIdle(t.Context())
	require.NoError(t, err)
	require.Empty(t, faults)

	booked := func() (all, told int) {
		require.NoError(t, db.Reader().QueryRowContext(t.Context(),
			"SELECT COUNT(*), COALESCE(SUM(told), 0) FROM bookings").Scan(&all, &told))
		return all, told
	}
	all, told := booked()
	require.Equal(t, []int{2, 2}, []int{all, told}, "the third tenant has other rules")
	done, err := p.Ledger.Actions(t.Context(), safety.Filter{Limit: 10})
	require.NoError(t, err)
	require.Len(t, done, 3)
	for _, e := range done {
		require.Equal(t, postroom.ActionCompleted, e.Action.State)
		_, err := p.Undoer.Request(t.Context(), e.Action.ID)
		require.NoError(t, err)
	}
	require.NoError(t, p.RunJobs(t.Context()))
	all, _ = booked()
	require.Zero(t, all)
}
