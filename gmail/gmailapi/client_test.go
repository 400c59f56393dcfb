package gmailapi

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/internal/dbtest"
)

func TestSizeOfAPageIsChecked(t *testing.T) {
	w := newWorld(t)
	for _, size := range []int{-1, 501} {
		_, err := w.client.ListMessages(t.Context(), MessageList{Max: size})
		require.Equal(t, ClassInvalid, ClassOf(err))
		require.ErrorContains(t, err, fmt.Sprintf("MessageList.Max is %d; it must be within 1 and 500", size))
	}
	require.Empty(t, w.server.Calls())
}

// TestTheZeroLimitsAreGmails: who sets nothing keeps within Gmail's quota.
func TestTheZeroLimitsAreGmails(t *testing.T) {
	c, err := NewClient(ClientConfig{HTTPClient: http.DefaultClient})
	require.NoError(t, err)
	budget := c.gate.budget.(*localBudget)
	require.Equal(t, 600, budget.pace.Burst())
	require.InDelta(t, 6000.0/60, float64(budget.pace.Limit()), 1e-9)
	require.Equal(t, 6000, budget.limit)
	require.EqualValues(t, 8, c.gate.slots)
	require.Equal(t, DefaultCosts(), c.gate.costs)

	c, err = NewClient(ClientConfig{HTTPClient: http.DefaultClient, Limits: Limits{Costs: map[Method]int{MethodTrash: 0}}})
	require.NoError(t, err)
	require.Zero(t, c.gate.costs[MethodTrash])
	require.Equal(t, 20, c.gate.costs[MethodGetMessage], "a cost that is not named stays Gmail's")

	c, err = NewClient(ClientConfig{HTTPClient: http.DefaultClient, Limits: Limits{Unlimited: true}})
	require.NoError(t, err)
	require.Nil(t, c.gate)
}

func TestClientOfAnotherUserAndWithLimits(t *testing.T) {
	w := newWorld(t)
	service := func(user string) *Client {
		c, err := NewClient(ClientConfig{
			HTTPClient: authorized(w), Endpoint: w.server.URL(), UserID: user, Limits: Limits{},
		})
		require.NoError(t, err)
		return c
	}
	profile, err := service(w.server.Email()).Profile(t.Context())
	require.NoError(t, err)
	require.WithinDuration(t, time.Now(), profile.At, time.Minute)
	profile.At = time.Time{}
	require.Equal(t, Profile{Email: w.server.Email(), HistoryID: w.latest()}, profile)

	_, err = service("another@example.com").Profile(t.Context())
	require.Equal(t, ClassForbidden, ClassOf(err))

	limited := service("")
	w.server.Fault(gmailtest.Fault{Method: gmailtest.GetProfile, Status: 429, RetryAfter: time.Hour})
	_, err = limited.Profile(t.Context())
	require.Equal(t, ClassRateLimited, ClassOf(err))
	calls := len(w.server.Calls())
	_, err = limited.Profile(t.Context())
	require.ErrorContains(t, err, "gmail: get profile: rate limited: not asked: Gmail has told us to wait")
	require.Len(t, w.server.Calls(), calls, "and so it is left in peace")
}

// Limits that nothing can keep for several processes are refused, not kept by this process alone.
func TestSharedLimitsAreChecked(t *testing.T) {
	_, err := NewClient(ClientConfig{HTTPClient: http.DefaultClient, Shared: &SharedLimits{AccountID: "a"}})
	require.EqualError(t, err,
		"gmail: ClientConfig.Shared.DB is nil; it is required: give a database opened with queue/sqlite or queue/postgres")
	_, err = NewClient(ClientConfig{HTTPClient: http.DefaultClient, Shared: &SharedLimits{DB: dbtest.SQLite(t)}})
	require.ErrorContains(t, err, "gmail: ClientConfig.Shared.AccountID is empty")
}
