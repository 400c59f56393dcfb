package main

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
)

// A server counts the calls of each account. Its first ones are slow, so that they overlap unless they are limited; the
// others are fast, so that only their rate holds them back. It refuses the third of ada.
type server struct {
	mu       sync.Mutex
	calls    map[string]int
	inFlight map[string]int
	most     map[string]int // of them at once
	last     map[string]time.Time
	refused  time.Time
	again    time.Time // the page that was refused came again
	page     string
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	account, page := r.FormValue("account"), r.FormValue("page")
	nth, accepted := s.begin(account, page)
	if !accepted {
		w.Header().Set("Retry-After", "1")
		http.Error(w, "slowly", http.StatusTooManyRequests)
	} else if nth <= 4 {
		<-time.After(500 * time.Millisecond)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inFlight[account]--
}

func (s *server) begin(account, page string) (nth int, accepted bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[account]++
	s.inFlight[account]++
	s.most[account] = max(s.most[account], s.inFlight[account])
	s.last[account] = time.Now()
	if account == "ada" && s.calls[account] == 3 {
		s.page, s.refused = page, time.Now()
		return s.calls[account], false
	}
	if account == "ada" && page == s.page {
		s.again = time.Now()
	}
	return s.calls[account], true
}

func TestTheLimitsHold(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		q, err := queue.New(db, nil)
		require.NoError(t, err)
		s := &server{calls: map[string]int{}, inFlight: map[string]int{}, most: map[string]int{},
			last: map[string]time.Time{}}
		web := httptest.NewServer(s)
		t.Cleanup(web.Close)
		a := &api{url: web.URL, client: web.Client()}

		require.NoError(t, limitCalls(t.Context(), q))
		begun := time.Now()
		for _, account := range []string{"ada", "ben"} {
			require.NoError(t, enqueue(t.Context(), q, account, 12))
		}
		queuetest.Work(t, q, a.register)

		counts, err := q.Counts(t.Context(), queue.Filter{})
		require.NoError(t, err)
		require.Equal(t, map[queue.State]int{queue.StateCompleted: 24}, counts)
		require.Equal(t, map[string]int{"ada": 13, "ben": 12}, s.calls, "one call of ada was refused, and came again")
		require.Equal(t, map[string]int{"ada": 2, "ben": 2}, s.most, "two at once, of each account")
		for account, calls := range s.calls {
			// Five a second are one every 200 ms, so that the last of n starts that long after the first.
			require.GreaterOrEqual(t, s.last[account].Sub(begun), time.Duration(calls-1)*200*time.Millisecond, account)
		}
		require.GreaterOrEqual(t, s.again.Sub(s.refused), time.Second, "as the server asked")
		deferred := 0
		jobs, err := q.Jobs(t.Context(), queue.Filter{LimitKey: "account:ada"})
		require.NoError(t, err)
		for i := range jobs {
			require.Zero(t, jobs[i].Failures)
			deferred += jobs[i].Interruptions
		}
		require.Equal(t, 1, deferred)
	})
}

func TestRetryAfter(t *testing.T) {
	for value, want := range map[string]time.Duration{"": 10 * time.Second, "3": 3 * time.Second,
		"-1": 10 * time.Second, "999999999999": time.Hour, "soon": 10 * time.Second} {
		require.Equal(t, want, retryAfter(&http.Response{Header: http.Header{"Retry-After": {value}}}), value)
	}
	date := time.Now().Add(30 * time.Minute).UTC().Format(http.TimeFormat)
	require.InDelta(t, 1800, retryAfter(&http.Response{Header: http.Header{"Retry-After": {date}}}).Seconds(), 60)
}

func TestTheProgram(t *testing.T) {
	web := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(web.Close)
	t.Chdir(t.TempDir())
	require.NoError(t, run(t.Context(), &api{url: web.URL, client: web.Client()}, []string{"ada"}, 2))
}
