package aging

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/senders"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/rulestore"
)

const day = 24 * time.Hour

// start is when the mailbox of a world was added.
var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// A world is a mailbox with rules, and a ledger that counts.
type world struct {
	*testing.T
	db      queue.DB
	queue   *queue.Queue
	store   *mailstore.Store
	rules   *rulestore.Store
	account string
	now     time.Time
	decided []string // by message and action, each once for a key
	keys    map[string]bool
	failAt  int // decisions, 0 for never
	cfg     Config
}

func eachWorld(t *testing.T, fn func(w *world)) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		w := &world{T: t, db: db, now: start, keys: map[string]bool{}}
		for _, migrate := range []func(context.Context, queue.DB) error{queue.Migrate, mailstore.Migrate,
			rulestore.Migrate} {
			require.NoError(t, migrate(t.Context(), db))
		}
		var err error
		w.queue, err = queue.New(db, &queue.Config{Retry: queue.RetryPolicy{Base: time.Millisecond, Factor: 1,
			Cap: time.Millisecond}})
		require.NoError(t, err)
		w.store, err = mailstore.New(mailstore.Config{DB: db})
		require.NoError(t, err)
		w.rules, err = rulestore.New(rulestore.Config{DB: db})
		require.NoError(t, err)
		engine, err := rules.NewEngine(rules.EngineConfig{Store: w.rules, History: senders.History{Store: w.store}})
		require.NoError(t, err)
		w.cfg = Config{Store: w.store, Engine: engine, Ledger: w, Now: func() time.Time { return w.now }}
		w.write(func(ctx context.Context, tx queue.Tx) (err error) {
			w.account, err = w.store.EnsureAccount(ctx, tx, "ada@example.org", start.Add(-3*day))
			return err
		})
		fn(w)
	})
}

func (w *world) write(fn func(ctx context.Context, tx queue.Tx) error) {
	w.Helper()
	require.NoError(w, w.db.Write(w.Context(), fn))
}

var errAway = errors.New("the ledger is away")

// Record implements rules.Ledger.
func (w *world) Record(_ context.Context, msg *postroom.Message, d postroom.Decision) func(context.Context, queue.Tx) (
	postroom.Action, error) {
	return func(context.Context, queue.Tx) (postroom.Action, error) {
		if w.failAt > 0 && len(w.decided) >= w.failAt {
			return postroom.Action{}, errAway
		}
		if key := msg.ID + d.Key; !w.keys[key] {
			w.keys[key] = true
			w.decided = append(w.decided, msg.Subject+" "+string(d.Action))
		}
		return postroom.Action{}, nil
	}
}

// Refuse implements rules.Ledger.
func (w *world) Refuse(context.Context, queue.Tx, *postroom.Message, postroom.Decision, string) (postroom.Action,
	error) {
	return postroom.Action{}, nil
}

// arrive stores a message that is received at the time.
func (w *world) arrive(subject string, at time.Time, labels ...string) {
	w.Helper()
	w.arriveIn(subject, subject, at, labels...)
}

// arriveIn stores a message of a thread.
func (w *world) arriveIn(thread, subject string, at time.Time, labels ...string) {
	w.Helper()
	w.write(func(ctx context.Context, tx queue.Tx) error {
		_, err := w.store.SaveMessage(ctx, tx, &postroom.Message{AccountID: w.account, ProviderID: subject,
			ProviderThreadID: thread, Subject: subject, ReceivedAt: at, LabelIDs: append(labels, postroom.LabelInbox)}, 1)
		return err
	})
}

// rule stores a rule about age, or replaces it.
func (w *world) rule(name, age string, action postroom.ActionType) {
	w.Helper()
	list := []rules.Rule{rules.NewRule(name, rules.Condition{Type: rules.OlderThan, Value: age}, action, nil)}
	w.importRules(list)
}

func (w *world) importRules(list []rules.Rule) {
	w.Helper()
	w.write(func(ctx context.Context, tx queue.Tx) error {
		_, err := w.rules.Import(ctx, tx, w.account, list)
		return err
	})
}

// run runs the job after some time, in a mailbox that is synchronized, and returns what it has decided and the state of
// the job.
func (w *world) run(after time.Duration, pageSize int) ([]string, queue.Job) {
	w.Helper()
	w.now, w.decided = w.now.Add(after), nil
	enqueued, err := w.queue.Enqueue(w.Context(), NewJob(w.account))
	require.NoError(w, err)
	w.write(func(ctx context.Context, tx queue.Tx) error {
		return w.store.Progress().MoveCursor(ctx, tx, w.account, 1, true)
	})
	cfg, err := w.cfg.withDefaults()
	require.NoError(w, err)
	d, err := queue.NewDispatcher(w.queue, &queue.DispatcherConfig{Exclusive: true})
	require.NoError(w, err)
	ctx, cancel := context.WithCancel(w.Context())
	defer cancel()
	queue.Handle(d, Job, func(ctx context.Context, work *queue.Work[Payload]) error {
		err := (&job{cfg, pageSize}).run(ctx, work)
		if errors.Is(err, errAway) {
			cancel() // as a process that is stopped
		}
		return err
	})
	if err := d.RunUntilIdle(ctx); ctx.Err() == nil {
		require.NoError(w, err)
	}
	ended, err := w.queue.Job(w.Context(), enqueued.ID)
	require.NoError(w, err)
	return w.decided, *ended
}

// A message is asked about when it becomes old enough, and never again; old mail, and what is out of the inbox's way,
// is left alone.
func TestAMessageIsDecidedAboutWhenItIsOldEnough(t *testing.T) {
	eachWorld(t, func(w *world) {
		w.rule("clean", "30d", postroom.Trash)
		w.arrive("before the mailbox was added", start.Add(-4*day))
		w.arrive("first", start.Add(-2*day))
		w.arrive("in the trash", start.Add(-2*day), postroom.LabelTrash)
		decided, _ := w.run(time.Hour, pageSize)
		require.Empty(t, decided)
		w.arrive("second", start.Add(10*day))
		for _, step := range []struct {
			after time.Duration
			want  []string
		}{
			{27 * day, nil},
			{2 * day, []string{"first trash"}},
			{time.Hour, nil},
			{11 * day, []string{"second trash"}},
			{day, nil},
		} {
			decided, job := w.run(step.after, pageSize)
			require.Equal(t, queue.StateCompleted, job.State, job.LastError)
			require.Equal(t, step.want, decided, "on %s", w.now)
		}
		counts, err := Count(t.Context(), w.store, w.account)
		require.NoError(t, err)
		require.Equal(t, Counts{Messages: 2, Actions: 2}, counts)
	})
}

// A message that the rule has decided about as it arrived, since it was old enough by then, is left out.
func TestWhatTheRuleHasDecidedAboutIsLeftOut(t *testing.T) {
	eachWorld(t, func(w *world) {
		w.rule("clean", "30d", postroom.Trash)
		w.cfg.Decided = func(_ context.Context, msg *postroom.Message, ruleID, version string) (bool, error) {
			require.NotEmpty(t, ruleID)
			require.NotEmpty(t, version)
			return msg.Subject == "first", nil
		}
		w.run(time.Hour, pageSize)
		w.arrive("first", start.Add(day))
		w.arrive("second", start.Add(day))
		decided, _ := w.run(40*day, pageSize)
		require.Equal(t, []string{"second trash"}, decided)
	})
}

// A rule that is new does nothing to mail that is old enough already, and neither does a version with a smaller age. A
// version that asks later asks again.
func TestAVersionGoesOnWhereTheLastOneWas(t *testing.T) {
	eachWorld(t, func(w *world) {
		w.arrive("first", start.Add(-2*day))
		w.now = start.Add(40 * day)
		w.rule("clean", "30d", postroom.Archive)
		decided, _ := w.run(time.Hour, pageSize)
		require.Empty(t, decided, "it was old enough before")

		w.arrive("between", w.now)
		w.arrive("second", w.now.Add(10*day))
		w.run(20*day, pageSize)
		w.rule("clean", "14d", postroom.Archive)
		decided, _ = w.run(time.Hour, pageSize)
		require.Empty(t, decided, "it was old enough for the new age when that was written")
		decided, _ = w.run(5*day, pageSize)
		require.Equal(t, []string{"second archive"}, decided)
		w.rule("clean", "25d", postroom.Archive)
		decided, _ = w.run(time.Hour, pageSize)
		require.Empty(t, decided)
		decided, _ = w.run(10*day, pageSize)
		require.Equal(t, []string{"second archive"}, decided, "once for each version")
		decided, _ = w.run(5*day, pageSize)
		require.Empty(t, decided)

		w.arrive("third", w.now)
		w.importRules([]rules.Rule{})
		w.run(30*day, pageSize)
		w.rule("clean", "25d", postroom.Archive)
		decided, _ = w.run(time.Hour, pageSize)
		require.Empty(t, decided, "a rule that was away is a new one")
	})
}

// A version with the same age does what the last one was late with, and one with another age among its ages too.
func TestAVersionDoesWhatTheLastOneWasLateWith(t *testing.T) {
	eachWorld(t, func(w *world) {
		w.now = start.Add(40 * day)
		w.rule("clean", "30d", postroom.Archive)
		w.run(0, pageSize)
		w.arrive("late", w.now.Add(-30*day+time.Hour))
		w.rule("clean", "30d", postroom.Trash)
		decided, _ := w.run(2*time.Hour, pageSize)
		require.Equal(t, []string{"late trash"}, decided)

		w.arrive("again", w.now.Add(-30*day+time.Hour))
		ages := rules.Condition{Op: rules.Or, Children: []rules.Condition{
			{Type: rules.OlderThan, Value: "7d"}, {Type: rules.OlderThan, Value: "30d"}}}
		w.importRules([]rules.Rule{rules.NewRule("clean", ages, postroom.Archive, nil)})
		decided, _ = w.run(2*time.Hour, pageSize)
		require.Equal(t, []string{"again archive"}, decided)
	})
}

// A run that is interrupted goes on where it was: each message is decided about once.
func TestARunThatIsInterruptedGoesOn(t *testing.T) {
	eachWorld(t, func(w *world) {
		w.rule("clean", "7d", postroom.Archive)
		w.run(0, pageSize)
		var want []string
		for i := range 9 {
			subject := fmt.Sprintf("m%d", i)
			w.arrive(subject, start.Add(time.Duration(i/2)*time.Hour)) // two at a time
			want = append(want, subject+" archive")
		}
		w.failAt = 5
		decided, job := w.run(8*day, 2)
		require.False(t, job.State.Finished(), job.State)
		require.Equal(t, want[:5], decided)
		first := decided
		w.failAt = 0
		clear(w.keys) // to see what is asked about again, of which a ledger records nothing twice
		decided, job = w.run(0, 2)
		require.Equal(t, queue.StateCompleted, job.State, job.LastError)
		require.Equal(t, want, append(first[:2], decided...),
			"the page that was not recorded whole, and what was received at the instant of the cursor")
	})
}

// The rules before it are a rule's exceptions, and conditions that end with the age ask nothing again.
func TestOnlyWhatTheRuleDecidesAmongAllRulesIsDone(t *testing.T) {
	eachWorld(t, func(w *world) {
		older := rules.Condition{Type: rules.OlderThan, Value: "7d"}
		subject := func(s string) rules.Condition { return rules.Condition{Type: rules.SubjectContains, Value: s} }
		w.importRules([]rules.Rule{
			rules.NewRule("keep", subject("keep"), postroom.Star, nil),
			rules.NewRule("young", rules.NoneOf(older), postroom.MarkRead, nil),
			rules.NewRule("two", rules.AllOf(subject("a"), rules.AnyOf(older, rules.Condition{Type: rules.OlderThan,
				Value: "14d"})), postroom.Archive, nil),
		})
		aging, err := w.cfg.Engine.Aging(t.Context(), w.account)
		require.NoError(t, err)
		require.Len(t, aging, 1)
		require.Equal(t, []time.Duration{7 * day, 14 * day}, aging[0].Ages)
		w.run(0, pageSize)
		w.arrive("keep a", start)
		w.arrive("a", start)
		w.arrive("b", start)
		decided, _ := w.run(8*day, pageSize)
		require.Equal(t, []string{"a archive"}, decided)
		decided, _ = w.run(8*day, pageSize)
		require.Empty(t, decided, "the second age asks again, and this version has decided")
	})
}

// Nothing is decided before the changes of people are known.
func TestItWaitsForTheSync(t *testing.T) {
	eachWorld(t, func(w *world) {
		w.rule("clean", "30d", postroom.Trash)
		enqueued, err := w.queue.Enqueue(t.Context(), NewJob(w.account))
		require.NoError(t, err)
		d, err := queue.NewDispatcher(w.queue, nil)
		require.NoError(t, err)
		require.NoError(t, Register(d, w.cfg))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ran := make(chan error, 1)
		go func() { ran <- d.Run(ctx) }()
		require.Eventually(t, func() bool {
			job, err := w.queue.Job(t.Context(), enqueued.ID)
			return err == nil && job.Interruptions > 0 && job.LastError == errNotSynced.Error()
		}, time.Minute, 5*time.Millisecond)
		cancel()
		require.NoError(t, <-ran)
	})
}

func TestWhatIsMissingIsNamed(t *testing.T) {
	w := &world{}
	d, err := queue.NewDispatcher(must(queue.New(dbtest.SQLite(t), nil)), nil)
	require.NoError(t, err)
	for _, field := range []string{"Store", "Engine", "Ledger"} {
		require.ErrorContains(t, Register(d, Config{}), "aging: Config."+field)
	}
	require.ErrorContains(t, Register(nil, w.cfg), "the Dispatcher")
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// A rule whose first run comes long after it was stored, as after a dry run, is new then: it does nothing to mail that
// is old enough by that time.
func TestAFirstRunThatComesLate(t *testing.T) {
	eachWorld(t, func(w *world) {
		w.now = time.Now()
		w.arrive("Old", w.now.Add(-20*day))
		w.rule("tidy", "30d", postroom.Archive)
		w.arrive("Sale", w.now.Add(59*day))
		decided, job := w.run(60*day, pageSize)
		require.Equal(w, queue.StateCompleted, job.State, job.LastError)
		require.Empty(w, decided)
		decided, _ = w.run(30*day, pageSize)
		require.Equal(w, []string{"Sale archive"}, decided)
	})
}

// What becomes old between the writing of a rule and its first run is asked about, and what was old before is not.
func TestMailThatBecomesOldBeforeTheFirstRun(t *testing.T) {
	eachWorld(t, func(w *world) {
		w.now = time.Now()
		w.arrive("Old", w.now.Add(-31*day))
		w.arrive("Sale", w.now.Add(-30*day+20*time.Minute))
		w.rule("tidy", "30d", postroom.Archive)
		decided, job := w.run(40*time.Minute, pageSize)
		require.Equal(w, queue.StateCompleted, job.State, job.LastError)
		require.Equal(w, []string{"Sale archive"}, decided)
	})
}
