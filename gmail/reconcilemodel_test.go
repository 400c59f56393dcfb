package gmail

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
)

// Whatever is done in a gap and while it is closed, with faults and processes that stop at any call: in the end the
// store is the mailbox.
func TestStoreEqualsTheMailboxWhateverHappens(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		w := newWorldOn(t, db)
		w.cfg.Logger = slog.New(slog.DiscardHandler)
		seed := uint64(time.Now().UnixNano())
		t.Logf("seed %d", seed)
		c := &chaos{world: w, Rand: rand.New(rand.NewPCG(seed, 1)), ids: w.backfilled(30), label: w.userLabel("Bills")}
		for round := range 4 {
			for range 25 {
				c.change()
			}
			w.forget()
			c.closeGap()
			require.Equal(t, w.atGmail(), w.stored(), "seed %d, round %d", seed, round)
		}
	})
}

type chaos struct {
	*world
	*rand.Rand
	mu    sync.Mutex
	ids   []string
	label string
}

// Change is one thing that a person does.
func (c *chaos) change() {
	labels := []string{"INBOX", "UNREAD", "STARRED", "IMPORTANT", "SPAM", c.label}
	i := c.IntN(len(c.ids))
	one := c.ids[i]
	messages := c.google.Users.Messages
	var err error
	switch c.IntN(8) {
	case 0:
		c.ids = append(c.ids, c.arrive(recent(), "INBOX"))
	case 1:
		c.ids = append(c.ids, c.arriveOld("INBOX", "UNREAD"))
	case 2:
		err = messages.Delete("me", one).Do()
		c.ids = slices.Delete(c.ids, i, i+1)
	case 3:
		_, err = messages.Trash("me", one).Do()
	case 4:
		_, err = messages.Untrash("me", one).Do()
	case 5:
		c.modify(one, remove(labels[c.IntN(len(labels))]))
	default:
		c.modify(one, add(labels[c.IntN(len(labels))]))
	}
	require.NoError(c.t, err)
}

// closeGap runs everything, with faults, changes and stops in between.
func (c *chaos) closeGap() {
	c.server.Fault(
		gmailtest.Fault{Method: gmailtest.MessagesList, Nth: 1 + c.IntN(6), Times: 2, Status: 503},
		gmailtest.Fault{Method: gmailtest.MessagesGet, Nth: 1 + c.IntN(10), Cut: gmailtest.CutAfter},
		gmailtest.Fault{Method: gmailtest.LabelsList, Status: 500},
		gmailtest.Fault{Method: gmailtest.MessagesGet, Nth: 2 + c.IntN(10), Truncate: true},
	)
	_, err := c.queue.Enqueue(c.t.Context(), NewHistorySyncJob(c.account, 0))
	require.NoError(c.t, err)
	for range 5 {
		c.runUntilStopped()
	}
	c.server.ClearFaults()
	c.wire.Before = nil
	queuetest.PromoteScheduled(c.t, c.queue)
	c.run(NewHistorySyncJob(c.account, 0)) // the changes while the gap was closed
}

// runUntilStopped runs a dispatcher that is stopped at one of its calls.
func (c *chaos) runUntilStopped() {
	ctx, stop := context.WithCancel(c.t.Context())
	defer stop()
	left := 3 + c.IntN(12)
	c.wire.Before = func(*http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if left--; left == 0 {
			stop()
		} else if left%3 == 0 {
			c.change()
		}
	}
	d, err := queue.NewDispatcher(c.queue, &queue.DispatcherConfig{PollInterval: 20 * time.Millisecond, Workers: 4})
	require.NoError(c.t, err)
	require.NoError(c.t, Register(d, c.cfg))
	_ = d.RunUntilIdle(ctx)
	queuetest.PromoteScheduled(c.t, c.queue)
}
