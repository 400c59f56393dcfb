package pipeline

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules/rulesfile"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/safety/stop"
)

const (
	ada, bob = "ada@example.org", "bob@example.org"
	tea      = "From: eve@example.com\r\nTo: ada@example.org\r\nSubject: tea\r\n\r\nNow?\r\n"
)

// rulesOf returns the rules by address.
func rulesOf(texts map[string]string) func(context.Context, mailstore.Account) (*rulesfile.File, error) {
	return func(_ context.Context, a mailstore.Account) (*rulesfile.File, error) {
		return rulesfile.Parse(a.Email, strings.NewReader(texts[a.Email]))
	}
}

const (
	archives = "rules:\n  - {name: Tea, condition: {type: subject_contains, value: tea}, action: archive}\n"
	labels   = "rules:\n  - {name: Tea, condition: {type: subject_contains, value: tea}, action: apply_label, parameters: {label: Tea}}\n"
	deletes  = "rules:\n  - {name: Tea, condition: {type: subject_contains, value: tea}, action: delete}\n"
)

func onBoth(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, db queue.DB) { test(t, newWorldOn(t, db)) })
}

func TestTenantsHaveTheirOwnRules(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		p := w.pipeline(Config{Rules: rulesOf(map[string]string{ada: archives, bob: labels})})
		ids := map[string]string{}
		for _, email := range []string{ada, bob} {
			ids[email] = w.add(p, email)
			w.deliver(email, tea)
		}
		faults, err := p.RunUntilIdle(t.Context())
		require.NoError(t, err)
		require.Empty(t, faults)
		require.Equal(t, map[string]string{ada: "archive", bob: "apply_label"}, map[string]string{
			ada: w.action(p, ids[ada]), bob: w.action(p, ids[bob])})
	})
}

// An account whose mail server does not answer keeps no other waiting, and is set up when it does.
func TestRunSetsUpAccountsThatAreAdded(t *testing.T) {
	w := newWorld(t)
	p := w.pipeline(Config{Rules: rulesOf(map[string]string{ada: archives, bob: archives})})
	down := gmailtest.NewGate()
	defer down.Open()
	first := w.add(p, ada)
	w.server.Fault(gmailtest.Fault{Method: gmailtest.LabelsList, Account: ada, Times: -1, Gate: down})
	stop := w.run(p)
	defer stop()
	<-down.Arrived()
	w.deliver(ada, tea)
	second := w.add(p, bob)
	w.deliver(bob, tea)
	w.eventually(func() bool { return w.action(p, second) == "archive" })
	require.Empty(t, w.decisions(p, first), "its rules are not stored")
	require.Equal(t, ada, p.Awaited()[0].Account)
	down.Open()
	w.eventually(func() bool { return w.action(p, first) == "archive" })
	w.eventually(func() bool { return p.Awaited() == nil })
	stop()
	require.Equal(t, []Awaited{{What: Stopping}}, p.Awaited())
}

func TestRemoveAccountLeavesNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		var told atomic.Int64
		p := w.pipeline(Config{Rules: rulesOf(map[string]string{ada: deletes, bob: deletes}),
			Notify: []func(safety.Approval) []queue.NewJob{func(safety.Approval) []queue.NewJob { told.Add(1); return nil }}})
		id, other := w.add(p, ada), w.add(p, bob)
		w.deliver(ada, tea)
		w.deliver(bob, tea)
		stop := w.run(p)
		w.eventually(func() bool { return told.Load() == 2 })
		w.eventually(func() bool { return p.Awaited() == nil })
		stop()
		require.Len(t, w.schedules(p), 8, "four of each account")
		require.NoError(t, p.RemoveAccount(t.Context(), id))

		waiting, err := p.Ledger.Approvals(t.Context(), safety.Filter{Limit: 10})
		require.NoError(t, err)
		require.Len(t, waiting, 1, "of the other tenant")
		require.Equal(t, other, waiting[0].Action.AccountID)
		require.EqualValues(t, 3, told.Load(), "who was asked is told")
		for _, name := range w.schedules(p) {
			require.Contains(t, name, other)
		}
		list, err := p.Rules.List(t.Context())
		require.NoError(t, err)
		require.Len(t, list, 1)
		require.Equal(t, other, list[0].AccountID)
		jobs, err := p.Queue.Jobs(t.Context(), queue.Filter{LimitKey: mailstore.LimitKey(id),
			States: []queue.State{queue.StateQueued, queue.StateRunning}})
		require.NoError(t, err)
		require.Empty(t, jobs)
		require.Len(t, w.decisions(p, id), 1, "it stays on record")
		require.Equal(t, postroom.ActionCanceled, w.actions(p, id)[0].Action.State)
	})
}

// A host that knows nothing of gates stores rules by itself: mail that came before is decided by them.
func TestNothingIsDecidedBeforeRulesAreStored(t *testing.T) {
	w := newWorld(t)
	p := w.pipeline(Config{})
	id := w.add(p, ada)
	w.deliver(ada, tea)
	faults, err := p.RunUntilIdle(t.Context())
	require.NoError(t, err)
	require.Empty(t, faults)
	require.Empty(t, w.decisions(p, id))
	file, err := rulesfile.Parse("rules.yaml", strings.NewReader(archives))
	require.NoError(t, err)
	require.NoError(t, p.DB.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := p.Rules.ImportFile(ctx, tx, id, file.ImportSource())
		return err
	}))
	_, err = p.RunUntilIdle(t.Context())
	require.NoError(t, err)
	require.Equal(t, "archive", w.action(p, id))
}

func TestAFaultyAccountIsNamed(t *testing.T) {
	w := newWorld(t)
	broken := errors.New("no rules today")
	p := w.pipeline(Config{Rules: func(ctx context.Context, a mailstore.Account) (*rulesfile.File, error) {
		if a.Email == ada {
			return nil, broken
		}
		return rulesOf(map[string]string{bob: archives})(ctx, a)
	}})
	id, other := w.add(p, ada), w.add(p, bob)
	w.deliver(bob, tea)
	faults, err := p.RunUntilIdle(t.Context())
	require.NoError(t, err)
	require.Equal(t, map[string]error{id: broken}, faults)
	require.Equal(t, "archive", w.action(p, other))
}

func TestNewRefusesWhatThePipelineSets(t *testing.T) {
	w := newWorld(t)
	cfg := Config{DB: w.db, Clients: w.clients(), Outbox: &outbox.Config{}}
	store, err := mailstore.New(mailstore.Config{DB: w.db})
	require.NoError(t, err)
	cfg.Outbox.Store, cfg.Gmail.Store = store, store
	_, err = New(cfg)
	require.ErrorContains(t, err, "pipeline: Config.Outbox.Store is set; leave it out")
	require.ErrorContains(t, err, "pipeline: Config.Gmail.Store is set; leave it out")
	_, err = New(Config{})
	require.ErrorContains(t, err, "pipeline: Config.DB is nil")
	require.ErrorContains(t, err, "pipeline: Config.Clients.HTTPClient is nil")
}

// Every part gets the same registry: an outbox adds the kinds that it sends.
func TestSendingAddsItsKinds(t *testing.T) {
	w := newWorld(t)
	p := w.pipeline(Config{Outbox: &outbox.Config{}})
	require.True(t, p.Rules.Kinds().Has(postroom.Forward))
	require.Nil(t, w.pipeline(Config{}).Rules.Kinds())
}

func TestStopAndResume(t *testing.T) {
	w := newWorld(t)
	p := w.pipeline(Config{Rules: rulesOf(map[string]string{ada: archives})})
	id := w.add(p, ada)
	w.deliver(ada, tea)
	require.NoError(t, p.Stop(t.Context(), "ada", stop.Options{Why: "odd mail"}))
	_, err := p.RunUntilIdle(t.Context())
	require.NoError(t, err)
	require.Equal(t, postroom.ActionQueued, w.actions(p, id)[0].Action.State)
	require.NoError(t, p.Resume(t.Context(), "ada", "it was nothing"))
	require.NoError(t, p.RunJobs(t.Context()))
	require.Equal(t, postroom.ActionCompleted, w.actions(p, id)[0].Action.State)
}

// The jobs of each account are limited by the limits of its client, whichever way the pipeline runs.
func TestJobsAreLimitedByTheQuota(t *testing.T) {
	w := newWorld(t)
	limits := func() []queue.LimitStatus {
		cfg := Config{DB: w.db, Clients: w.clients()}
		cfg.Clients.Limits = gmailapi.Limits{UnitsPerMinute: 15_000}
		p, err := New(cfg)
		require.NoError(t, err)
		_, err = p.RunUntilIdle(t.Context())
		require.NoError(t, err)
		set, err := p.Queue.Limits(t.Context())
		require.NoError(t, err)
		return set
	}
	require.Equal(t, []queue.LimitStatus{{Target: queue.ForKeyPrefix("gmail:"),
		Limit: queue.Limit{MaxRunning: 4, Rate: 750, Per: time.Minute, Burst: 75}}}, limits())
	unlimited := w.pipeline(Config{})
	stop := w.run(unlimited)
	defer stop()
	w.eventually(func() bool {
		set, err := unlimited.Queue.Limits(t.Context())
		return err == nil && len(set) == 0
	})
}

// Without notifications, new mail is found within a minute.
func TestNewMailIsPolledEachMinute(t *testing.T) {
	require.Equal(t, time.Minute, Schedules{}.withDefaults().HistorySync)
	require.Negative(t, Schedules{HistorySync: -1}.withDefaults().HistorySync)
}

// A pipeline that is stopped as it begins has stopped cleanly.
func TestRunThatIsStoppedAtOnceIsNoError(t *testing.T) {
	p := newWorld(t).pipeline(Config{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, p.Run(ctx))
}
