package queue_test

import (
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/postroom-go/postroom/queue"
)

// follow does the same to all queues.
func follow(t *rapid.T, models ...*model) {
	f := &follower{models: models}
	t.Repeat(map[string]func(*rapid.T){
		"enqueue": f.enqueue, "claim": f.claim, "complete": f.complete, "fail": f.fail, "cancel": f.cancel, "retry": f.retry,
		"heartbeat": f.heartbeat, "step": f.step, "crash": f.crash, "advance": f.advance, "": f.compare,
	})
	for _, m := range models {
		violations, err := m.q.Verify(t.Context())
		require.NoError(t, err)
		require.Empty(t, violations)
	}
}

// A follower draws what is done next.
type follower struct {
	models []*model
	offset time.Duration // how far claims look ahead of the clock
}

func (f *follower) enqueue(t *rapid.T) {
	payload := rapid.IntRange(1, 2).Draw(t, "payload")
	opts := &queue.Options{Priority: rapid.IntRange(0, 2).Draw(t, "priority"), MaxAttempts: modelAttempts}
	if name := rapid.SampledFrom([]string{"", "a", "b", "c", "d"}).Draw(t, "key"); name != "" {
		// A name has one scope.
		opts.Key = map[string]queue.Key{
			"a": queue.Forever("a"), "b": queue.WhileUnfinished("b"), "c": queue.Coalesce("c"), "d": queue.ForPeriod("d", 24*time.Hour),
		}[name]
	}
	if rapid.Bool().Draw(t, "scheduled") {
		opts.NotBefore = time.Now().Add(time.Hour)
	}
	if rapid.IntRange(0, 3).Draw(t, "expires") == 0 {
		opts.ExpiresAt = time.Now().Add(90 * time.Minute)
	}
	for _, m := range f.models {
		m.enqueue(t, payload, opts)
	}
}

func (f *follower) claim(t *rapid.T) {
	limit, worker := rapid.IntRange(1, 3).Draw(t, "limit"), rapid.SampledFrom([]string{"v", "w"}).Draw(t, "worker")
	now := time.Now().Add(f.offset)
	for _, m := range f.models {
		m.claim(t, worker, limit, now)
	}
}

// held draws a job as it was claimed once, and does something under its lease. It says what that must answer.
func (f *follower) held(t *rapid.T, fn func(m *model, claimed queue.Job, j *modelJob, want error)) {
	claims := len(f.models[0].leases)
	if claims == 0 {
		t.Skip("nothing was claimed yet")
	}
	drawn, unknown := rapid.IntRange(0, claims-1).Draw(t, "lease"), rapid.IntRange(0, 9).Draw(t, "unknown") == 0
	for _, m := range f.models {
		claimed := m.leases[drawn]
		j := m.jobs[claimed.ID]
		switch {
		case unknown:
			claimed.ID = "unknown"
			fn(m, claimed, nil, queue.ErrJobNotFound)
		case j.State != queue.StateRunning:
			fn(m, claimed, j, queue.ErrNotRunning)
		case j.Attempt != claimed.Attempt:
			fn(m, claimed, j, queue.ErrLeaseLost)
		default:
			fn(m, claimed, j, nil)
		}
	}
}

func (f *follower) complete(t *rapid.T) {
	f.held(t, func(m *model, claimed queue.Job, j *modelJob, want error) {
		require.ErrorIs(t, m.q.Complete(t.Context(), claimed.Lease(), nil), want)
		if want == nil {
			m.finish(j, queue.StateCompleted)
		}
	})
}

func (f *follower) fail(t *rapid.T) {
	kind := rapid.SampledFrom([]string{"plain", "fatal", "defer"}).Draw(t, "kind")
	cause := map[string]error{"plain": errBroken, "fatal": queue.Fatal(errBroken), "defer": queue.Defer(errBroken, 0)}[kind]
	f.held(t, func(m *model, claimed queue.Job, j *modelJob, want error) {
		require.ErrorIs(t, m.q.Fail(t.Context(), &claimed, cause), want)
		switch {
		case want != nil:
		case kind == "defer":
			j.Interruptions++
			m.again(t, j, j.Interruptions <= modelInterruptions)
		default:
			j.Failures++
			m.again(t, j, kind == "plain" && j.Failures < modelAttempts)
		}
	})
}

func (f *follower) heartbeat(t *rapid.T) {
	f.held(t, func(m *model, claimed queue.Job, _ *modelJob, want error) {
		require.NoError(t, m.q.Heartbeat(t.Context(), claimed.WorkerID), "a worker may register again")
		err := m.q.Heartbeat(t.Context(), claimed.WorkerID, claimed.Lease())
		require.ErrorIs(t, err, want)
		if want != nil {
			var e *queue.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, claimed.ID, e.JobID)
		}
	})
}

func (f *follower) step(t *rapid.T) {
	name := rapid.SampledFrom([]string{"first", "second"}).Draw(t, "name")
	does := rapid.SampledFrom([]string{"start", "save cursor", "finish"}).Draw(t, "does")
	f.held(t, func(m *model, claimed queue.Job, j *modelJob, want error) {
		if want == nil && does == "save cursor" && j.steps[name].finished {
			want = queue.ErrStepFinished
		}
		require.ErrorIs(t, m.step(claimed.Lease(), name, does), want)
		if want == nil && (does == "finish" || !j.steps[name].finished) {
			j.steps[name] = modelStep{attempt: claimed.Attempt, finished: does == "finish"}
		}
	})
}

// any draws a job.
func (f *follower) any(t *rapid.T, fn func(m *model, j *modelJob)) {
	jobs := len(f.models[0].order)
	if jobs == 0 {
		t.Skip("there is no job yet")
	}
	drawn := rapid.IntRange(0, jobs-1).Draw(t, "job")
	for _, m := range f.models {
		fn(m, m.jobs[m.order[drawn]])
	}
}

func (f *follower) cancel(t *rapid.T) { f.any(t, func(m *model, j *modelJob) { m.cancel(t, j) }) }
func (f *follower) retry(t *rapid.T)  { f.any(t, func(m *model, j *modelJob) { m.retry(t, j) }) }

// crash kills all workers.
func (f *follower) crash(t *rapid.T) {
	for _, m := range f.models {
		m.crash(t)
	}
}

func (f *follower) advance(*rapid.T) { f.offset += 2 * time.Hour }

// compare holds each model against its queue, and the models against each other.
func (f *follower) compare(t *rapid.T) {
	for _, m := range f.models {
		m.compare(t)
		require.Equal(t, f.models[0].outline(), m.outline(), "the engines differ")
	}
}
