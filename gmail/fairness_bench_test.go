package gmail

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

// BenchmarkBurst has new mail come to 99 mailboxes and measures how long each message takes until it is stored, while
// 20,000 messages come to the hundredth mailbox, which take it more than an hour. The same mail comes, in turns, to a
// second program with a database of its own, which is calm: what else the machine does is the same to both. Run it with
// -benchtime 1x; it takes a minute and a half for each engine.
func BenchmarkBurst(b *testing.B) {
	for name, open := range map[string]func(testing.TB) queue.DB{
		"sqlite":   func(t testing.TB) queue.DB { return dbtest.SQLite(t) },
		"postgres": func(t testing.TB) queue.DB { return dbtest.Postgres(t) },
	} {
		b.Run(name, func(b *testing.B) {
			calm, burst := newTimed(b, open(b)), newTimed(b, open(b))
			burst.deliver(0, 20_000)
			defer calm.start()()
			defer burst.start()()
			measure(200, calm, burst) // everything is warm
			burst.enqueue(NewHistorySyncJob(burst.accounts[0], 0))
			took := measure(1000, calm, burst)
			waiting, err := burst.queue.Counts(b.Context(), queue.Filter{Types: []string{string(JobIngest)}})
			require.NoError(b, err)
			require.Greater(b, waiting[queue.StateQueued], 15_000, "the burst lasts")
			for _, percent := range []int{50, 95} {
				name := map[int]string{50: "p50", 95: "p95"}[percent]
				at := len(took[0]) * percent / 100
				b.ReportMetric(float64(took[0][at].Microseconds())/1000, "calm-"+name+"-ms")
				b.ReportMetric(float64(took[1][at].Microseconds())/1000, "burst-"+name+"-ms")
				b.ReportMetric(float64(took[1][at])/float64(took[0][at]), "ratio-"+name)
			}
		})
	}
}

// A timedOffice notes when messages are stored, by account and Gmail's id.
type timedOffice struct {
	*office

	mu   sync.Mutex
	sent map[string]time.Time
	took []time.Duration
}

func newTimed(t testing.TB, db queue.DB) *timedOffice {
	o := &timedOffice{office: newOffice(t, db, 100), sent: map[string]time.Time{}}
	o.cfg.OnMessage = func(_ context.Context, tx queue.Tx, m *postroom.Message) error {
		tx.(*driver.WriteTx).OnCommit(func() { o.note(m.AccountID + m.ProviderID) })
		return nil
	}
	return o
}

func (o *timedOffice) note(id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if began, ok := o.sent[id]; ok {
		o.took = append(o.took, time.Since(began))
	}
}

// send sends a message to one of the mailboxes but the first.
func (o *timedOffice) send(n int) {
	box := 1 + n%(len(o.boxes)-1)
	letter, err := o.boxes[box].Deliver(o.t.Context(), []byte(plainMail))
	require.NoError(o.t, err)
	o.mu.Lock()
	o.sent[o.accounts[box]+letter.ID] = time.Now()
	o.mu.Unlock()
	o.enqueue(NewHistorySyncJob(o.accounts[box], 0))
}

// measure sends so many messages to each office in turns, and returns how long each took, in order.
func measure(messages int, offices ...*timedOffice) (took [][]time.Duration) {
	pace := time.NewTicker(25 * time.Millisecond)
	defer pace.Stop()
	for n := range messages {
		for _, o := range offices {
			o.send(n)
			<-pace.C
		}
	}
	for _, o := range offices {
		require.Eventually(o.t, func() bool {
			o.mu.Lock()
			defer o.mu.Unlock()
			return len(o.took) == messages
		}, 2*time.Minute, 100*time.Millisecond)
		slices.Sort(o.took)
		took = append(took, o.took)
		o.took = nil
	}
	return took
}
