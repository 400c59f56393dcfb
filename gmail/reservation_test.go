package gmail

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// answers is a Gmail that answers everything with an empty object.
type answers struct{}

func (answers) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(bytes.NewBufferString("{}")), Request: r}, nil
}

// A send, which needs many units at once, has its turn beside jobs that spend what there is.
func TestASendHasItsTurnBesideSmallerJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, err := gmailapi.NewClient(gmailapi.ClientConfig{HTTPClient: &http.Client{Transport: answers{}}})
		require.NoError(t, err)
		j := &jobs{Config: Config{Clients: gmailapi.ClientsFunc(
			func(context.Context, string) (*gmailapi.Client, error) { return client, nil })}}
		may := func(id, kind string) bool {
			return j.awaitQuota(t.Context(), &queue.Attempt{Job: queue.Job{ID: id, Type: kind}}, "account") == nil
		}
		spend := func() {
			_, err := client.State(t.Context(), "m")
			require.NoError(t, err)
		}
		for client.QuotaWait(false, gmailapi.MethodGetMessage) == 0 {
			spend()
		}
		began := time.Now()
		require.False(t, may("send", string(outbox.JobSend)))
		for !may("send", string(outbox.JobSend)) {
			if may("read", string(JobIngest)) {
				spend()
			}
			require.Less(t, time.Since(began), 3*time.Second, "100 units are there after a second")
			time.Sleep(50 * time.Millisecond)
		}
		require.True(t, may("other", string(JobIngest)), "nothing is reserved any more")

		for client.QuotaWait(false, gmailapi.MethodGetMessage) == 0 {
			spend()
		}
		require.False(t, may("gone", string(outbox.JobSend)))
		time.Sleep(10 * time.Second)
		spend()
		require.Empty(t, j.reserved.others("account", "read"), "one that does not come back")
	})
}

// What an operator has set stays, and what a former configuration has set does not.
func TestLimitJobsKeepsAnOperatorsLimit(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		q, err := queue.New(db, nil)
		require.NoError(t, err)
		target := queue.ForKeyPrefix(mailstore.LimitKey(""))
		now := func() (l queue.Limit) {
			set, err := q.Limits(t.Context())
			require.NoError(t, err)
			for _, s := range set {
				require.Equal(t, target, s.Target)
				l = s.Limit
			}
			return l
		}
		for _, units := range []int{600, 6000, 15_010, 0} {
			limits := gmailapi.Limits{UnitsPerMinute: units}
			kept, err := LimitJobs(t.Context(), q, limits)
			require.NoError(t, err)
			require.Zero(t, kept)
			wanted, err := limits.JobLimit()
			require.NoError(t, err)
			require.Equal(t, wanted, now())
		}
		operators := queue.Limit{MaxRunning: 2, Rate: 300, Per: time.Minute, Burst: 30}
		require.NoError(t, q.SetLimit(t.Context(), target, operators))
		for _, limits := range []gmailapi.Limits{{}, {UnitsPerMinute: 15_000}, {Unlimited: true}} {
			kept, err := LimitJobs(t.Context(), q, limits)
			require.NoError(t, err)
			require.Equal(t, operators, kept)
			require.Equal(t, operators, now())
		}
		require.NoError(t, q.RemoveLimit(t.Context(), target))
		_, err = LimitJobs(t.Context(), q, gmailapi.Limits{})
		require.NoError(t, err)
		_, err = LimitJobs(t.Context(), q, gmailapi.Limits{Unlimited: true})
		require.NoError(t, err)
		require.Zero(t, now())
	})
}

// limitedSending is a Gmail that sends nothing for hours and answers all else.
type limitedSending struct{ answers }

func (l limitedSending) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := l.answers.RoundTrip(r)
	if strings.HasSuffix(r.URL.Path, "/send") {
		resp.StatusCode = http.StatusTooManyRequests
		resp.Body = io.NopCloser(strings.NewReader(`{"error": {"code": 429, "errors": [{"reason": "rateLimitExceeded"}], ` +
			`"message": "User-rate limit exceeded.  Retry after ` + time.Now().Add(5*time.Hour).UTC().Format(time.RFC3339) +
			` (Mail sending)"}}`))
	}
	return resp, err
}

// A send that Gmail refuses for hours keeps no other job waiting.
func TestALimitOnSendingReservesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, err := gmailapi.NewClient(gmailapi.ClientConfig{HTTPClient: &http.Client{Transport: limitedSending{}}})
		require.NoError(t, err)
		j := &jobs{Config: Config{Clients: gmailapi.ClientsFunc(
			func(context.Context, string) (*gmailapi.Client, error) { return client, nil })}}
		may := func(id, kind string) bool {
			return j.awaitQuota(t.Context(), &queue.Attempt{Job: queue.Job{ID: id, Type: kind}}, "account") == nil
		}
		_, err = client.Send(t.Context(), []byte("From: a@example.com\r\n\r\nx"), "")
		require.Error(t, err)
		require.Greater(t, client.QuotaWait(false, gmailapi.MethodSend), time.Hour)
		require.False(t, may("send", string(outbox.JobSend)))
		require.True(t, may("read", string(JobIngest)))
	})
}
