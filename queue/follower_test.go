package queue_test

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

// A follower draws what is done next, and does it to the model and on all engines.
type follower struct {
	model  *model
	queues []*queue.Queue
	claims []queue.Job // every job as it was claimed, stale ones too
}

// follow does the same to a model and to queues on the databases, which are empty.
func follow(t *rapid.T, rounds int, drivers ...driver.Driver) {
	f := &follower{model: newModel()}
	for _, driver := range drivers {
		e := &engine{clocked: clocked{Driver: driver, Auditor: auditorOf(driver),
			at: func(time.Time) time.Time { return f.model.now }}}
		q, err := queue.New(queue.NewDB(e), &queue.Config{Retry: modelRetry, Budget: modelBudget})
		require.NoError(t, err)
		f.queues = append(f.queues, q)
	}
	for range rounds {
		t.Repeat(f.actions())
	}
	f.drain(t)
	f.compare(t)
	for _, q := range f.queues {
		violations, err := queueadmin.Verify(t.Context(), q)
		require.NoError(t, err)
		require.Empty(t, violations)
	}
}

// actions are those that are drawn, each as often as any other.
func (f *follower) actions() map[string]func(*rapid.T) {
	actions := map[string]func(*rapid.T){
		"": f.compare, "clock": f.clock, "look": f.look, "crash": f.crash, "transaction": f.transaction,
		"claim for v": func(t *rapid.T) { f.claim(t, "v") }, "claim for w": func(t *rapid.T) { f.claim(t, "w") },
		"worker": f.oneOf(f.heartbeat, f.retire), "all": f.oneOf(f.redrive, f.cancelAll),
	}
	for name, draw := range f.changes() {
		actions[name] = func(t *rapid.T) { f.write(t, false, draw(t)) }
	}
	return actions
}

func (f *follower) oneOf(actions ...func(*rapid.T)) func(*rapid.T) {
	return func(t *rapid.T) { actions[rapid.IntRange(0, len(actions)-1).Draw(t, "which")](t) }
}

// compare holds all that can be seen of each queue against the model. What is done next is done later.
func (f *follower) compare(t *rapid.T) {
	f.model.now = f.model.now.Add(time.Microsecond)
	want := f.model.visible()
	for _, q := range f.queues {
		require.Equal(t, want, seen(t.Context(), t, q), q.DB().Dialect())
	}
}

// each does the same to all queues. They answer the same, down to the words of errors.
func (f *follower) each(t *rapid.T, want any, wantErr error, do func(q *queue.Queue) (any, error)) {
	var first string
	for i, q := range f.queues {
		got, err := do(q)
		if wantErr == nil {
			require.NoError(t, err, q.DB().Dialect())
			require.Equal(t, want, got, q.DB().Dialect())
			continue
		}
		require.ErrorIs(t, err, wantErr, q.DB().Dialect())
		if i == 0 {
			first = err.Error()
		}
		require.Equal(t, first, err.Error(), "the engines answer alike")
	}
}

func (f *follower) claim(t *rapid.T, worker string) {
	var capacities []driver.TypeCapacity
	types := rapid.SampledFrom([][]string{modelTypes, modelTypes[:1], modelTypes[1:]}).Draw(t, "types")
	for _, name := range types {
		capacities = append(capacities, driver.TypeCapacity{Type: name, Capacity: rapid.IntRange(1, 4).Draw(t, name)})
	}
	f.take(t, worker, capacities, rapid.IntRange(1, 6).Draw(t, "limit"))
}

// take claims as long as there is more. When there is none, whoever claims is told when to look again at the latest.
func (f *follower) take(t *rapid.T, worker string, capacities []driver.TypeCapacity, limit int) {
	want := f.model.claim(worker, capacities, limit)
	f.claims = append(f.claims, want...)
	for _, q := range f.queues {
		got, left, next := takeAll(t, q, worker, capacities, limit)
		require.Equal(t, want, got, q.DB().Dialect())
		if len(left) == 0 || len(got) == limit {
			continue
		}
		require.True(t, next.IsZero() || next.After(f.model.now), "%v at %v", next, f.model.now)
		if due := f.model.nextDue(left); !due.IsZero() {
			require.False(t, next.IsZero() || next.After(due), "%s: told %v, and the next is due at %v",
				q.DB().Dialect(), next, due)
		}
	}
}

func takeAll(
	t *rapid.T, q *queue.Queue, worker string, capacities []driver.TypeCapacity, limit int,
) (jobs []queue.Job, left []driver.TypeCapacity, next time.Time) {
	left = slices.Clone(capacities)
	for range 100 {
		result, err := q.DB().Driver().Claim(t.Context(), driver.ClaimRequest{WorkerID: worker, Types: left,
			Limit: limit - len(jobs)})
		require.NoError(t, err)
		for _, j := range result.Jobs {
			jobs = append(jobs, queue.Job(j))
			left[slices.IndexFunc(left, func(r driver.TypeCapacity) bool { return r.Type == j.Type })].Capacity--
		}
		left = slices.DeleteFunc(left, func(r driver.TypeCapacity) bool { return r.Capacity == 0 })
		if !result.More || len(left) == 0 || len(jobs) == limit {
			return jobs, left, result.NextDue
		}
	}
	require.Fail(t, "a claim that says there is more never ends")
	return nil, nil, time.Time{}
}

// drain resumes what is paused and runs what there is, looking again only when there is something to find then: nothing
// may be left.
func (f *follower) drain(t *rapid.T) {
	for target, l := range f.model.limits {
		if l.Paused {
			f.write(t, false, changePaused(target, false))
		}
	}
	for range 10_000 {
		f.take(t, "w", []driver.TypeCapacity{{Type: "ping", Capacity: 10}, {Type: "pong", Capacity: 10}}, 10)
		running := f.model.inState(queue.StateRunning)
		var ends []driver.Outcome
		for _, j := range running {
			ends = append(ends, driver.Outcome{Lease: j.Lease(), State: queue.StateCompleted,
				Kind: queue.KindCompleted})
		}
		f.write(t, false, changeEnds(ends))
		if len(running) > 0 {
			continue
		}
		queued := f.model.inState(queue.StateQueued)
		if len(queued) == 0 {
			return
		}
		next := f.model.nextDue([]driver.TypeCapacity{{Type: "ping", Capacity: 1}, {Type: "pong", Capacity: 1}})
		if next.IsZero() {
			next = queued[0].ExpiresAt
		}
		require.False(t, next.IsZero(), "nobody would ever claim it: %v", queued[0].Job)
		f.model.now = next
	}
	require.Fail(t, "there is work for ever")
}

func (f *follower) heartbeat(t *rapid.T) {
	worker := rapid.SampledFrom([]string{"v", "w"}).Draw(t, "worker")
	var jobs []queue.Job
	var want error
	w, alive := f.model.workers[worker]
	if rapid.Bool().Draw(t, "holds a lease") {
		job := f.lease(t)
		if _, want = f.model.held(job.Lease()); want == nil && !alive {
			want = queue.ErrLeaseLost
		}
		jobs = append(jobs, job)
	}
	if alive || len(jobs) == 0 {
		f.model.workers[worker] = driver.Worker{ID: worker, Beat: w.Beat + 1, BeatAt: f.model.now}
	}
	f.each(t, nil, want, func(q *queue.Queue) (any, error) {
		var held []*queue.Attempt
		for _, job := range jobs {
			held = append(held, queue.AttemptOf(q, job))
		}
		return nil, q.Heartbeat(t.Context(), worker, held...)
	})
}

func (f *follower) retire(t *rapid.T) {
	worker := rapid.SampledFrom([]string{"v", "w"}).Draw(t, "worker")
	delete(f.model.workers, worker)
	f.each(t, nil, nil, func(q *queue.Queue) (any, error) {
		return nil, q.DB().Driver().RemoveWorker(t.Context(),
			worker)
	})
}

// crash has another process find all others dead.
func (f *follower) crash(t *rapid.T) {
	f.model.crash()
	f.each(t, nil, nil, func(q *queue.Queue) (any, error) {
		d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{Exclusive: true})
		require.NoError(t, err)
		queue.Handle(d, queue.Type[int]("another"), func(context.Context, *queue.Work[int]) error { return nil })
		return nil, d.RunUntilIdle(t.Context())
	})
}

// clock moves the clock, both ways.
func (f *follower) clock(t *rapid.T) {
	now := f.model.now.Add(rapid.SampledFrom([]time.Duration{
		time.Microsecond, time.Second, 7 * time.Second, time.Minute, time.Hour, 25 * time.Hour, -time.Second,
		-time.Minute, -time.Hour,
	}).Draw(t, "by"))
	if !f.model.steady(now) {
		t.Skip("a rate would begin anew at some time")
	}
	f.model.now = now
}

// look reads what compare does not.
func (f *follower) look(t *rapid.T) {
	m, ctx := f.model, t.Context()
	filter, id := f.filter(t, queue.States()), f.id(t)
	filter.Before = rapid.SampledFrom([]string{"", id}).Draw(t, "before")
	found := m.find(filter)
	f.each(t, found, nil, func(q *queue.Queue) (any, error) { return q.Jobs(ctx, filter) })
	counts := make(map[queue.State]int)
	filter.Before, filter.Limit = "", 0
	for _, j := range m.find(filter) {
		counts[j.State]++
	}
	f.each(t, counts, nil, func(q *queue.Queue) (any, error) { return q.Counts(ctx, filter) })
	if j := m.jobs[id]; j != nil {
		f.each(t, &j.Job, nil, func(q *queue.Queue) (any, error) { return q.Job(ctx, id) })
		f.each(t, j.attempts(), nil, func(q *queue.Queue) (any, error) { return q.Attempts(ctx, id) })
	} else {
		f.each(t, nil, queue.ErrJobNotFound, func(q *queue.Queue) (any, error) { return q.Job(ctx, id) })
	}
	state := rapid.SampledFrom([]queue.State{queue.StateCompleted, queue.StateFailed, queue.StateCanceled}).Draw(t,
		"finished")
	f.each(t, m.finished(state), nil, func(q *queue.Queue) (any, error) { return q.DB().Driver().Finished(ctx, state) })
	f.each(t, m.firstKeyExpiry(), nil, func(q *queue.Queue) (any, error) { return q.DB().Driver().FirstKeyExpiry(ctx) })
	f.each(t, earliest(slices.Collect(maps.Values(m.arrivals))...), nil,
		func(q *queue.Queue) (any, error) { return q.DB().Driver().FirstRate(ctx) })
}

func (f *follower) redrive(t *rapid.T) {
	filter := f.filter(t, []queue.State{queue.StateFailed, queue.StateCanceled})
	all := filter
	if len(filter.States) == 0 {
		all.States = []queue.State{queue.StateFailed}
	}
	filter.All = true
	f.each(t, f.model.redrive(all), nil, func(q *queue.Queue) (any, error) { return q.Redrive(t.Context(), filter) })
}

func (f *follower) cancelAll(t *rapid.T) {
	filter := f.filter(t, []queue.State{queue.StateQueued, queue.StateRunning})
	all := filter
	if len(filter.States) == 0 {
		all.States = []queue.State{queue.StateQueued, queue.StateRunning}
	}
	found := f.model.find(all)
	for i := range found {
		require.NoError(t, f.model.cancel(found[i].ID))
	}
	filter.All = true
	f.each(t, len(found), nil, func(q *queue.Queue) (any, error) { return q.CancelAll(t.Context(), filter) })
}

// filter draws what jobs to look for.
func (f *follower) filter(t *rapid.T, states []queue.State) (filter queue.Filter) {
	if rapid.Bool().Draw(t, "by state") {
		filter.States = []queue.State{rapid.SampledFrom(states).Draw(t, "state")}
	}
	switch by := rapid.SampledFrom([]string{"nothing", "type", "user", "key", "limit key", "tag", "created"}).Draw(t,
		"by"); by {
	case "type":
		filter.Types = []string{rapid.SampledFrom(modelTypes).Draw(t, by)}
	case "user":
		filter.UserID = "ada"
	case "key":
		filter.Key = rapid.SampledFrom(slices.Sorted(maps.Keys(modelKeys))).Draw(t, by)
	case "limit key":
		filter.LimitKey = rapid.SampledFrom(modelLimitKeys).Draw(t, by)
	case "tag":
		filter.Tags = []string{"b", "a"}[:rapid.IntRange(1, 2).Draw(t, by)]
	case "created":
		filter.CreatedFrom, filter.CreatedBefore = f.model.now.Add(-time.Minute), f.model.now
	}
	filter.Limit = rapid.SampledFrom([]int{1000, 1, 3}).Draw(t, "limit")
	return filter
}

// id draws a job: most often one that is not finished, sometimes one that is no more, or never was.
func (f *follower) id(t *rapid.T) string {
	kind := rapid.SampledFrom([][]queue.State{{queue.StateQueued, queue.StateRunning},
		{queue.StateFailed, queue.StateCanceled}, queue.States(), nil}).Draw(t, "of")
	if jobs := f.model.inState(kind...); len(jobs) > 0 {
		return jobs[rapid.IntRange(0, len(jobs)-1).Draw(t, "job")].ID
	}
	return modelID(rapid.IntRange(0, f.model.ids).Draw(t, "nth"))
}

// lease draws a job that runs, or as it was claimed once.
func (f *follower) lease(t *rapid.T) queue.Job {
	running := f.model.inState(queue.StateRunning)
	switch stale := rapid.IntRange(0, 5).Draw(t, "stale"); {
	case stale < 4 && len(running) > 0:
		return running[rapid.IntRange(0, len(running)-1).Draw(t, "running")].Job
	case stale < 5 && len(f.claims) > 0:
		return f.claims[rapid.IntRange(0, len(f.claims)-1).Draw(t, "claimed")]
	case stale == 5:
		return queue.Job{ID: "unknown", Attempt: 1}
	}
	t.Skip("nothing was claimed yet")
	return queue.Job{}
}
