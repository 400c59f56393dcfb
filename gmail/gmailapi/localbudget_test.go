package gmailapi

import (
	"context"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/postroom-go/postroom/gmail/gmailtest"
)

// A meter counts units as Gmail may do it: in minutes that begin at any time.
type meter struct {
	mu    sync.Mutex
	calls []metered
}

type metered struct {
	at    time.Time
	units int
}

func (m *meter) count(units int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls = append(m.calls, metered{time.Now(), units})
}

// most is the highest sum of any minute, and total the sum of all.
func (m *meter) most() (most, total int) {
	sum, first := 0, 0
	for _, c := range m.calls {
		for ; c.at.Sub(m.calls[first].at) >= time.Minute; first++ {
			sum -= m.calls[first].units
		}
		sum += c.units
		total += c.units
		most = max(most, sum)
	}
	return most, total
}

// spend makes calls by so many workers until the time is over; Gmail counts each at some time while it is under way.
func (m *meter) spend(t *testing.T, g *rateLimiter, workers int, methods []Method, seed uint64,
	until time.Time) *sync.WaitGroup {
	var all sync.WaitGroup
	for worker := range workers {
		random := rand.New(rand.NewPCG(seed, uint64(worker)))
		all.Go(func() {
			for time.Now().Before(until) {
				method := methods[random.IntN(len(methods))]
				leave, err := g.enter(t.Context(), method)
				require.NoError(t, err)
				latency := time.Duration(random.IntN(300)) * time.Millisecond
				if random.IntN(50) == 0 {
					latency = time.Duration(random.IntN(20)) * time.Second
				}
				before := time.Duration(random.Int64N(int64(latency) + 1))
				time.Sleep(before)
				m.count(DefaultCosts()[method])
				time.Sleep(latency - before)
				leave()
			}
		})
	}
	return &all
}

// However long calls take, no minute has more than the budget, and nearly all of it is used.
func TestAnyMinuteIsWithinTheBudget(t *testing.T) {
	for name, tt := range map[string]struct {
		methods []Method
		workers int
		used    float64 // at least
	}{
		"backfill": {[]Method{MethodGetMessage}, 8, 0.98},
		"mixed":    {[]Method{MethodGetMessage, MethodModifyMessage, MethodListHistory, MethodSend, MethodGetProfile}, 30, 0.97},
		"one":      {[]Method{MethodSend, MethodGetMessage}, 3, 0.95},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, err := newGate(Limits{Concurrent: tt.workers})
				require.NoError(t, err)
				const minutes = 30
				m := new(meter)
				m.spend(t, g, tt.workers, tt.methods, 1, time.Now().Add(minutes*time.Minute)).Wait()
				most, total := m.most()
				require.LessOrEqual(t, most, 6000)
				require.GreaterOrEqual(t, float64(total)/minutes, tt.used*6000)
				t.Logf("%.1f %% of the quota", float64(total)/minutes/60)
			})
		})
	}
}

// After a pause only the burst is spent at once: a call that comes then does not wait for the next minute.
func TestBudgetIsSpreadOverTheMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, err := newGate(Limits{UnitsPerMinute: 1200, Burst: 100})
		require.NoError(t, err)
		start := time.Now()
		for range 50 {
			leave, err := g.enter(t.Context(), MethodGetMessage)
			require.NoError(t, err)
			leave()
		}
		require.Equal(t, 45*time.Second, time.Since(start), "of 1000 units, 100 at once and 20 a second")
	})
}

// fastClock is a clock of which a minute is shorter.
func fastClock(minute time.Duration) func() time.Time {
	began, factor := time.Now(), time.Minute.Seconds()/minute.Seconds()
	return func() time.Time { return began.Add(time.Duration(float64(time.Since(began)) * factor)) }
}

// A server that counts as Gmail does never has to refuse a call. Its minutes are a second here, and so are the
// client's.
func TestNoCallIsRefused(t *testing.T) {
	const minute = time.Second
	fast, err := gmailtest.Open(t.Context(), gmailtest.Config{
		Quota: gmailtest.Quota{PerMinute: 600, Concurrent: 8},
		Now:   fastClock(minute),
	})
	require.NoError(t, err)
	defer fast.Close()
	letter, err := fast.Deliver(t.Context(), []byte(plainMail))
	require.NoError(t, err)

	base := &http.Transport{}
	defer base.CloseIdleConnections()
	carrier := &http.Client{Transport: &oauth2.Transport{Source: oauth2.StaticTokenSource(
		&oauth2.Token{AccessToken: "x"}), Base: base}}
	client, err := NewClient(ClientConfig{HTTPClient: carrier, Endpoint: fast.URL(), Limits: Limits{UnitsPerMinute: 600}})
	require.NoError(t, err)
	client.gate.budget = newLocalBudget(Limits{UnitsPerMinute: 600, Burst: 100}, minute)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 25 { // 4000 units
				_, err := client.GetImage(context.Background(), letter.ID)
				require.NoError(t, err)
			}
		})
	}
	all.Wait()
}
