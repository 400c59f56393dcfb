package main

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
)

// A bank answers a key that it knows as before, and has poor customers. It keeps a journal of all that has an effect.
type bank struct {
	mu       sync.Mutex
	payments map[string]string
	poor     map[string]bool
	journal  []string
}

func newBank(poor ...string) *bank {
	b := &bank{payments: make(map[string]string), poor: make(map[string]bool)}
	for _, customer := range poor {
		b.poor[customer] = true
	}
	return b
}

func (b *bank) charge(ctx context.Context, key, customer string, cents int) (payment string, err error) {
	err = queuetest.Outside(ctx, "charge", func() error {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.poor[customer] {
			return errDeclined
		}
		if b.payments[key] == "" {
			b.payments[key] = fmt.Sprintf("payment %d", len(b.payments)+1)
			b.journal = append(b.journal, fmt.Sprintf("%s pays %d", customer, cents))
		}
		payment = b.payments[key]
		return nil
	})
	return payment, err
}

func (b *bank) shop(q *queue.Queue) *shop {
	return &shop{q: q, charge: b.charge, mail: func(_ context.Context, to, text string) error {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.journal = append(b.journal, "to "+to+": "+text)
		return nil
	}}
}

func place(t testing.TB, s *shop, o Order) bool {
	t.Helper()
	placed, err := s.place(t.Context(), o)
	require.NoError(t, err)
	return placed
}

func TestOrdersArePaidOnceAndInOrder(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, migrate(t.Context(), db))
		q, err := queue.New(db, nil)
		require.NoError(t, err)
		b := newBank("ada")
		s := b.shop(q)
		require.True(t, place(t, s, Order{17, "ada", 4200}))
		require.True(t, place(t, s, Order{18, "ada", 100}))
		require.False(t, place(t, s, Order{17, "ada", 4200}), "it was placed before")
		require.True(t, place(t, s, Order{19, "ben", 999}))

		queuetest.Work(t, q, s.register)
		require.Equal(t, []string{"ben pays 999", "to ben: Order 19 is paid: payment 1"}, b.journal,
			"the declined order holds back the customer's next one, and nobody else's")

		// The card is mended, and a person retries what has failed.
		delete(b.poor, "ada")
		redriven, err := q.Redrive(t.Context(), queue.Filter{UserID: "ada"})
		require.NoError(t, err)
		require.Equal(t, 1, redriven.Queued)
		queuetest.Work(t, q, s.register)
		require.Contains(t, b.journal, "to ada: Order 17 is paid: payment 2")
		require.Contains(t, b.journal, "to ada: Order 18 is paid: payment 3")
		require.Len(t, b.journal, 6)
		var unpaid int
		require.NoError(t, db.Reader().Get(&unpaid, "SELECT COUNT(*) FROM orders WHERE payment IS NULL"))
		require.Zero(t, unpaid)
	})
}

// The bank pays once, wherever the process dies.
func TestAnOrderIsPaidOnceWhereverTheProcessDies(t *testing.T) {
	queuetest.CrashEverywhere(t, func(t testing.TB, q *queue.Queue) queuetest.Scenario {
		require.NoError(t, migrate(t.Context(), q.DB()))
		b := newBank()
		s := b.shop(q)
		s.mail = func(context.Context, string, string) error { return nil } // mail may come twice
		place(t, s, Order{17, "ada", 4200})
		return queuetest.Scenario{Register: s.register, Outside: func() []string { return b.journal }}
	})
}

func TestTheProgram(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shop.db")
	require.NoError(t, run(t.Context(), path))
	require.NoError(t, run(t.Context(), path), "again: nothing is charged twice")
}
