package notify

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/safety/limits"
)

// A desk is a world with a ledger whose requests are told of.
type desk struct {
	*world
	notifier *Notifier
	ledger   *safety.Ledger
	jobs     []queue.NewJob // for the last request
	asked    int
}

func newDesk(t *testing.T, db queue.DB, now time.Time, quiet ...limits.QuietSpan) *desk {
	t.Helper()
	d := &desk{world: newWorld(t, db)}
	require.NoError(t, safety.Migrate(t.Context(), db))
	d.notifier = d.world.notifier(now, quiet...)
	var err error
	d.ledger, err = safety.NewLedger(safety.Config{DB: db,
		Execute: func(context.Context, queue.Tx, postroom.Action) error { return nil },
		Ask: func(ctx context.Context, tx queue.Tx, r safety.Approval) error {
			d.jobs = d.notifier.WaitsJobs(r)
			_, err := d.queue.EnqueueManyTx(ctx, tx, d.jobs)
			return err
		}})
	require.NoError(t, err)
	return d
}

// ask records a decision that needs a person.
func (d *desk) ask() (action postroom.Action) {
	d.Helper()
	d.asked++
	id := strconv.Itoa(d.asked)
	msg := &postroom.Message{ID: id, ProviderID: id, AccountID: "account-1",
		From: postroom.Address{Email: "a@sender" + id + ".example"}}
	record := d.ledger.Record(d.Context(), msg, postroom.Decision{Key: "llm", Source: postroom.SourceModel,
		Action: postroom.Trash, Confidence: 1, Model: "m", Rationale: "x"})
	require.NoError(d, d.db.Write(d.Context(), func(ctx context.Context, tx queue.Tx) (err error) {
		action, err = record(ctx, tx)
		return err
	}))
	require.Equal(d, postroom.ActionPendingApproval, action.State)
	return action
}

// tells runs the waiting job, and returns what is told.
func (d *desk) tells() (texts []string) {
	d.Helper()
	due := d.waits()
	require.Len(d, due, 1)
	require.NoError(d, d.queue.Cancel(d.Context(), due[0].ID)) // makes it due
	require.NoError(d, d.queue.Retry(d.Context(), due[0].ID))
	before := len(d.posts())
	run, err := queue.NewDispatcher(d.queue, &queue.DispatcherConfig{PollInterval: 20 * time.Millisecond})
	require.NoError(d, err)
	topic := NewNtfy(d.topic.URL, "", asItIs)
	defer topic.Close()
	topic.Register(run)
	d.notifier.RegisterWaits(run, d.ledger)
	ctx, cancel := context.WithTimeout(d.Context(), 10*time.Minute)
	defer cancel()
	require.NoError(d, run.RunUntilIdle(ctx))
	require.NoError(d, ctx.Err())
	for _, p := range d.posts()[before:] {
		texts = append(texts, p.body)
	}
	return texts
}

func (d *desk) waits() []queue.Job {
	d.Helper()
	list, err := d.queue.Jobs(d.Context(), queue.Filter{Types: []string{string(JobWaits)},
		States: []queue.State{queue.StateQueued}})
	require.NoError(d, err)
	return list
}

// Requests of a minute are one notice, each is told of once, and those that were answered meanwhile are not.
func TestRequestsAreToldOfTogetherAndOnce(t *testing.T) {
	const help = "; the page shows what would happen, and so does 'postroomd approvals list'"
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, noon)
		d.ask()
		d.ask()
		answered := d.ask()
		require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			_, err := d.ledger.Reject(ctx, tx, answered.ID, "ann", "")
			return err
		}))
		require.Equal(t, noon.Add(time.Minute), d.jobs[0].NotBefore, "others are waited for")
		require.Equal(t, []string{"2 requests wait for you" + help}, d.tells())
		d.ask()
		require.Equal(t, []string{"1 request waits for you" + help + ". With those from before it is 3."}, d.tells())
		_, err := d.queue.EnqueueMany(t.Context(), d.jobs) // as after a restart
		require.NoError(t, err)
		require.Empty(t, d.tells())
		require.Empty(t, d.notifier.WaitsJobs(safety.Approval{Outcome: safety.OutcomeApproved}))
	})
}

func TestRequestsWaitForTheEndOfQuietHours(t *testing.T) {
	night := limits.QuietSpan{From: 22 * time.Hour, To: 7 * time.Hour}
	evening := noon.Add(9*time.Hour + 59*time.Minute + 30*time.Second)
	d := newDesk(t, dbtest.SQLite(t), evening, night)
	d.ask()
	require.Equal(t, noon.Add(19*time.Hour), d.jobs[0].NotBefore.UTC(), "the minute ends within them")
}
