package discord_test

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/safety/discord"
	"github.com/postroom-go/postroom/safety/discord/discordtest"
)

func TestMain(m *testing.M) { dbtest.Main(m, queue.Migrate, safety.Migrate, discord.Migrate) }

var (
	ann     = discordtest.User{ID: "53908232506183680", Username: "ann"}
	ben     = discordtest.User{ID: "53908232506183681", Username: "ben"}
	mallory = discordtest.User{ID: "53908232506183699", Username: "mallory"}
)

// A fixture is a ledger whose requests are asked at a fake Discord.
type fixture struct {
	t         *testing.T
	db        queue.DB
	queue     *queue.Queue
	ledger    *safety.Ledger
	server    *discordtest.Server
	transport *http.Transport
	cfg       discord.Config
	bot       *discord.Bot
	executed  atomic.Pointer[[]string]
}

// each runs the test on every database.
func each(t *testing.T, fn func(t *testing.T, f *fixture)) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) { fn(t, newFixture(t, db, nil)) })
}

func newFixture(t *testing.T, db queue.DB, change func(*discord.Config)) *fixture {
	f := &fixture{t: t, db: db, server: discordtest.Start(discordtest.Config{}), transport: &http.Transport{}}
	t.Cleanup(func() {
		f.server.Close()
		f.transport.CloseIdleConnections()
	})
	for _, migrate := range []func(context.Context, queue.DB) error{queue.Migrate, safety.Migrate, discord.Migrate} {
		require.NoError(t, migrate(t.Context(), db))
	}
	var err error
	f.queue, err = queue.New(db, &queue.Config{Retry: queue.RetryPolicy{Base: time.Millisecond, Factor: 1,
		Cap: time.Millisecond}, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	enqueue := func(ctx context.Context, tx queue.Tx, actionID string) error {
		_, err := f.queue.EnqueueTx(ctx, tx, discord.NewNotifyJob(actionID))
		return err
	}
	f.ledger, err = safety.NewLedger(safety.Config{
		DB: db,
		Execute: func(_ context.Context, _ queue.Tx, a postroom.Action) error {
			list := append(f.done(), a.ID)
			f.executed.Store(&list)
			return nil
		},
		Ask:      func(ctx context.Context, tx queue.Tx, r safety.Approval) error { return enqueue(ctx, tx, r.ActionID) },
		Joined:   func(ctx context.Context, tx queue.Tx, r safety.Approval) error { return enqueue(ctx, tx, r.ActionID) },
		OnAnswer: func(ctx context.Context, tx queue.Tx, r safety.Approval) error { return enqueue(ctx, tx, r.ActionID) },
	})
	require.NoError(t, err)
	f.cfg = discord.Config{
		DB: db, Queue: f.queue, Ledger: f.ledger, Token: f.server.Token(), Channel: f.server.Channel(),
		Endpoint:  f.server.URL(),
		Transport: f.transport, DeferAfter: 2500 * time.Millisecond, Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
	if change != nil {
		change(&f.cfg)
	}
	f.bot, err = discord.New(f.cfg)
	require.NoError(t, err)
	f.write(time.Now(), func(ctx context.Context, tx queue.Tx) error {
		return discord.SetWhitelist(ctx, tx, []discord.Person{{UserID: ann.ID, Name: "ann"}, {UserID: ben.ID}})
	})
	return f
}

// serve gives the bot another server.
func (f *fixture) serve(cfg discordtest.Config) {
	f.t.Helper()
	f.server.Close()
	f.server = discordtest.Start(cfg)
	f.cfg.Endpoint = f.server.URL()
	var err error
	f.bot, err = discord.New(f.cfg)
	require.NoError(f.t, err)
}

// done lists the actions that were executed.
func (f *fixture) done() []string {
	if list := f.executed.Load(); list != nil {
		return slices.Clone(*list)
	}
	return nil
}

// write runs fn in a transaction whose clock is now.
func (f *fixture) write(now time.Time, fn func(ctx context.Context, tx queue.Tx) error) {
	f.t.Helper()
	require.NoError(f.t, f.tryWrite(now, fn))
}

func (f *fixture) tryWrite(now time.Time, fn func(ctx context.Context, tx queue.Tx) error) error {
	return f.db.Write(context.Background(), func(ctx context.Context, tx queue.Tx) error {
		return fn(ctx, driver.NewWriteTx(tx, f.db.Dialect(), now))
	})
}

// ask records a decision that waits for a person; it was made at the time.
func (f *fixture) ask(at time.Time, change func(*postroom.Message, *postroom.Decision)) postroom.Action {
	f.t.Helper()
	msg := &postroom.Message{ID: uuid.NewString(), AccountID: uuid.NewString(), // so that none is grouped
		From: postroom.Address{Email: "a@example.com"}, Subject: "Hello"}
	d := postroom.Decision{
		Action: postroom.Delete, Parameters: postroom.Parameters{}, Confidence: 1, Rationale: "it is old",
		Source: postroom.SourceModel, Model: "some-model",
	}
	if change != nil {
		change(msg, &d)
	}
	var a postroom.Action
	f.write(at, func(ctx context.Context, tx queue.Tx) (err error) {
		a, err = f.ledger.Record(ctx, msg, d)(ctx, tx)
		return err
	})
	require.Equal(f.t, postroom.ActionPendingApproval, a.State)
	return a
}

// asked is ask now, and the message about it.
func (f *fixture) asked() (postroom.Action, discordtest.Message) {
	f.t.Helper()
	a := f.ask(time.Now(), nil)
	f.work()
	return a, f.last()
}

func (f *fixture) last() discordtest.Message {
	f.t.Helper()
	all := f.server.Messages()
	require.NotEmpty(f.t, all)
	return all[len(all)-1]
}

func (f *fixture) message(id string) discordtest.Message {
	f.t.Helper()
	for _, m := range f.server.Messages() {
		if m.ID == id {
			return m
		}
	}
	require.Fail(f.t, "there is no such message", id)
	return discordtest.Message{}
}

func (f *fixture) dispatcher() *queue.Dispatcher {
	f.t.Helper()
	d, err := queue.NewDispatcher(f.queue, &queue.DispatcherConfig{Exclusive: true, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(f.t, err)
	require.NoError(f.t, discord.Register(d, f.bot))
	return d
}

// work runs the jobs until nothing is left to do but what follows an expiry. It takes over what a worker that died
// has left.
func (f *fixture) work() {
	f.t.Helper()
	expiry := queue.ForType(discord.JobExpire)
	require.NoError(f.t, f.queue.Pause(f.t.Context(), expiry))
	require.NoError(f.t, f.dispatcher().RunUntilIdle(f.t.Context()))
	require.NoError(f.t, f.queue.Resume(f.t.Context(), expiry))
}

// run runs the bot until the test ends, and returns when it is connected.
func (f *fixture) run() {
	f.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- f.bot.Run(ctx) }()
	f.t.Cleanup(func() {
		stop()
		require.NoError(f.t, <-ended)
	})
	f.await(func() bool { return f.server.Connected() == 1 })
}

func (f *fixture) await(condition func() bool) {
	f.t.Helper()
	require.NoError(f.t, f.server.Await(f.t.Context(), condition))
}

// press presses a button and returns what the person is told.
func (f *fixture) press(p discordtest.Press) string {
	f.t.Helper()
	in, err := f.server.Press(p)
	require.NoError(f.t, err)
	said, err := in.Answer(f.t.Context())
	require.NoError(f.t, err)
	return said
}

// pressAgain presses a button, as a person does, until it is answered: a press during a session that is given up is
// lost.
func (f *fixture) pressAgain(p discordtest.Press) string {
	f.t.Helper()
	for {
		sessions := f.server.Gateway().Identifies
		in, err := f.server.Press(p)
		require.NoError(f.t, err)
		ctx, lost := context.WithCancel(f.t.Context())
		var watching sync.WaitGroup
		watching.Go(func() {
			_ = f.server.Await(ctx, func() bool { return f.server.Gateway().Identifies > sessions })
			lost()
		})
		said, err := in.Answer(ctx)
		lost()
		watching.Wait()
		if err == nil {
			return said
		}
		require.ErrorIs(f.t, err, context.Canceled)
		require.NoError(f.t, f.t.Context().Err())
	}
}

func (f *fixture) answer(id string, outcome safety.Outcome, by string) {
	f.t.Helper()
	f.write(time.Now(), func(ctx context.Context, tx queue.Tx) (err error) {
		if outcome == safety.OutcomeApproved {
			_, err = f.ledger.Approve(ctx, tx, id, by)
		} else {
			_, err = f.ledger.Reject(ctx, tx, id, by, "no `need`")
		}
		return err
	})
}

func (f *fixture) state(id string) postroom.ActionState {
	f.t.Helper()
	a, err := f.ledger.Action(context.Background(), id)
	require.NoError(f.t, err)
	return a.State
}

func (f *fixture) jobs(filter queue.Filter) []queue.Job {
	f.t.Helper()
	list, err := f.queue.Jobs(context.Background(), filter)
	require.NoError(f.t, err)
	return list
}
