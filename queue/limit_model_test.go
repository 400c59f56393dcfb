package queue_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/queueadmin"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// A limited is a queue under random limits, seen from outside: what runs, and since when.
type limited struct {
	q       *queue.Queue
	now     time.Time
	running []queue.Job
	starts  map[queue.Target][]time.Time
	limits  map[queue.Target]queue.Limit
	since   map[queue.Target]time.Time // the rate has been as it is
	paused  map[queue.Target]bool
}

var (
	limitedTypes = []string{"t1", "t2"}
	limitedKeys  = []string{"", "k1", "k2", "m"}
	limitTargets = []queue.Target{
		queue.ForType("t1"), queue.ForType("t2"), queue.ForKey("k1"), queue.ForKeyPrefix("k"), queue.ForKeyPrefix("m"),
	}
)

// Whatever is done to jobs and limits in whatever order: no limit is exceeded, and whatever may run is claimed.
func TestLimitsAreKeptAndKeepNothingForEver(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		db, err := sqlite.OpenMemory(context.Background())
		require.NoError(t, err)
		defer func() { require.NoError(t, db.Close()) }()
		require.NoError(t, queue.Migrate(context.Background(), db))
		q, err := queue.New(db, nil)
		require.NoError(t, err)
		l := &limited{
			q: q, now: time.Now().Add(time.Hour).Truncate(time.Microsecond), starts: map[queue.Target][]time.Time{},
			limits: map[queue.Target]queue.Limit{}, since: map[queue.Target]time.Time{},
			paused: map[queue.Target]bool{},
		}
		t.Repeat(map[string]func(*rapid.T){
			"enqueue": l.enqueue, "claim": l.claim, "end": l.end, "cancel": l.cancel, "limit": l.limit,
			"pause": l.pause, "advance": l.advance,
			"": l.verify,
		})
		l.settle(t)
	})
}

// The heads of a key that is not to be looked at are the first of its waiting jobs of each type, or there are none.
const wrongHeads = `
SELECT limit_key || ' ' || type
FROM job_heads AS f
WHERE NOT EXISTS (SELECT 1 FROM job_limit_marks AS a WHERE a.limit_key = f.limit_key)
  AND id IS NOT (
    SELECT id
    FROM jobs
    WHERE state = 'queued'
      AND hold = 2
      AND limit_key = f.limit_key
      AND type = f.type
    ORDER BY priority DESC, not_before, id
    LIMIT 1)
UNION ALL
SELECT limit_key || ' ' || type
FROM jobs AS j
WHERE state = 'queued'
  AND hold = 2
  AND NOT EXISTS (SELECT 1 FROM job_limit_marks AS a WHERE a.limit_key = j.limit_key)
  AND EXISTS (SELECT 1 FROM job_heads AS f WHERE f.limit_key = j.limit_key)
  AND NOT EXISTS (SELECT 1 FROM job_heads AS f WHERE f.limit_key = j.limit_key AND f.type = j.type)`

func (l *limited) verify(t *rapid.T) {
	found, err := queueadmin.Verify(context.Background(), l.q)
	require.NoError(t, err)
	require.Empty(t, found)
	var wrong []string
	require.NoError(t, l.q.DB().Reader().Select(&wrong, wrongHeads))
	require.Empty(t, wrong)
}

func (l *limited) enqueue(t *rapid.T) {
	batch := make([]queue.NewJob, rapid.IntRange(1, 6).Draw(t, "jobs"))
	for i := range batch {
		opts := &queue.Options{LimitKey: rapid.SampledFrom(limitedKeys).Draw(t, "key"),
			Priority: rapid.IntRange(0, 2).Draw(t, "priority")}
		if rapid.IntRange(0, 4).Draw(t, "scheduled") == 0 {
			opts.NotBefore = l.now.Add(time.Second)
		}
		batch[i] = queue.NewJob{Type: rapid.SampledFrom(limitedTypes).Draw(t, "type"), Options: *opts}
	}
	_, err := l.q.EnqueueMany(context.Background(), batch)
	require.NoError(t, err)
}

func (l *limited) claim(t *rapid.T) {
	result, err := l.q.DB().Driver().Claim(context.Background(), l.draw(t))
	require.NoError(t, err)
	l.take(t, &result)
}

// draw is any claim.
func (l *limited) draw(t *rapid.T) driver.ClaimRequest {
	types := limitedTypes
	if n := rapid.IntRange(0, 2).Draw(t, "types"); n < 2 {
		types = types[n : n+1]
	}
	return l.request(types, rapid.IntRange(1, 5).Draw(t, "limit"))
}

func (l *limited) request(types []string, limit int) driver.ClaimRequest {
	capacities := make([]driver.TypeCapacity, len(types))
	for i, name := range types {
		capacities[i] = driver.TypeCapacity{Type: name, Capacity: limit}
	}
	return driver.ClaimRequest{WorkerID: "w", Types: capacities, Limit: limit, Now: l.now}
}

func (l *limited) take(t *rapid.T, result *driver.ClaimResult) {
	for i := range result.Jobs {
		job := queue.Job(result.Jobs[i])
		l.running = append(l.running, job)
		l.started(t, &job)
	}
}

// started checks a start against every limit that is about it.
func (l *limited) started(t *rapid.T, job *queue.Job) {
	for _, target := range []queue.Target{queue.ForType(job.Type), l.limitOf(job.LimitKey)} {
		require.False(t, l.paused[target], "%v is paused", target)
		limit, ok := l.limits[target]
		if !ok {
			continue
		}
		// A prefix limits each key for itself.
		of := target
		if target.Kind == queue.TargetKeyPrefix {
			of = queue.ForKey(job.LimitKey)
		}
		if limit.MaxRunning > 0 {
			require.LessOrEqual(t, l.runningOf(of), limit.MaxRunning, "%v", target)
		}
		if limit.Rate > 0 {
			l.starts[of] = append(l.starts[of], l.now)
			recent := 0
			for _, at := range l.starts[of] {
				if !at.Before(l.since[target]) && at.After(l.now.Add(-limit.Per)) {
					recent++
				}
			}
			require.LessOrEqual(t, recent, limit.Rate+limit.Burst-1, "%v", target)
		}
	}
	require.False(t, l.paused[queue.ForAll()])
}

// limitOf is the target whose limit or pause holds for the key.
func (l *limited) limitOf(key string) queue.Target {
	set := func(target queue.Target) bool { _, ok := l.limits[target]; return ok || l.paused[target] }
	if own := queue.ForKey(key); set(own) {
		return own
	}
	if key == "" {
		return queue.Target{}
	}
	return queue.ForKeyPrefix(key[:1])
}

func (l *limited) runningOf(target queue.Target) (n int) {
	for i := range l.running {
		if target == queue.ForType(l.running[i].Type) || target == queue.ForKey(l.running[i].LimitKey) {
			n++
		}
	}
	return n
}

func (l *limited) end(t *rapid.T) {
	if len(l.running) == 0 {
		return
	}
	i := rapid.IntRange(0, len(l.running)-1).Draw(t, "which")
	job := l.running[i]
	l.running = slices.Delete(l.running, i, i+1)
	out := driver.Outcome{Lease: job.Lease(), State: queue.StateCompleted, Kind: queue.KindCompleted, At: l.now}
	if rapid.Bool().Draw(t, "name its limit key") {
		out.LimitKey = job.LimitKey
	}
	switch kind := rapid.SampledFrom([]string{queue.KindCompleted, queue.KindFailed, driver.KindReleased,
		queue.KindInterrupted}).Draw(t, "how"); kind {
	case queue.KindCompleted:
	case queue.KindInterrupted:
		out.State, out.Kind, out.Error, out.NotBefore = queue.StateQueued, kind, "later", l.now.Add(time.Second)
	default:
		out.State, out.Kind, out.Error = queue.StateQueued, kind, "again"
	}
	if rapid.Bool().Draw(t, "claim, too") {
		l.claimOnComplete(t, out)
		return
	}
	l.finish(t, out)
}

// claimOnComplete claims in the transaction that ends a job.
func (l *limited) claimOnComplete(t *rapid.T, out driver.Outcome) {
	var claimed func() driver.ClaimResult
	require.NoError(t, l.q.DB().Write(context.Background(), func(ctx context.Context, tx queue.Tx) (err error) {
		var answers []error
		answers, claimed, err = l.q.DB().Driver().(driver.FinishClaimer).FinishAndClaim(ctx, tx.(*driver.WriteTx),
			[]driver.Outcome{out}, l.draw(t))
		require.Equal(t, []error{nil}, answers)
		return err
	}))
	result := claimed()
	l.take(t, &result)
}

func (l *limited) finish(t *rapid.T, outcomes ...driver.Outcome) {
	require.NoError(t, l.q.DB().Write(context.Background(), func(ctx context.Context, tx queue.Tx) error {
		answers, err := l.q.DB().Driver().Finish(ctx, tx.(*driver.WriteTx), outcomes)
		for _, answer := range answers {
			require.NoError(t, answer)
		}
		return err
	}))
}

func (l *limited) cancel(t *rapid.T) {
	jobs, err := l.q.Jobs(context.Background(),
		queue.Filter{States: []queue.State{queue.StateQueued, queue.StateRunning}, Limit: 1000})
	require.NoError(t, err)
	if len(jobs) == 0 {
		return
	}
	id := jobs[rapid.IntRange(0, len(jobs)-1).Draw(t, "which")].ID
	require.NoError(t, l.q.Cancel(context.Background(), id))
	l.running = slices.DeleteFunc(l.running, func(j queue.Job) bool { return j.ID == id })
	if rapid.Bool().Draw(t, "retry") {
		require.NoError(t, l.q.Retry(context.Background(), id))
	}
}

func (l *limited) limit(t *rapid.T) {
	target := rapid.SampledFrom(limitTargets).Draw(t, "target")
	// What has started under another limit does not count by this one.
	for key := range l.starts {
		delete(l.starts, key)
	}
	if rapid.IntRange(0, 2).Draw(t, "lift") == 0 {
		delete(l.limits, target)
		require.NoError(t, l.q.RemoveLimit(context.Background(), target))
		return
	}
	limit := queue.Limit{MaxRunning: rapid.IntRange(0, 3).Draw(t, "running")}
	if limit.MaxRunning == 0 || rapid.Bool().Draw(t, "rated") {
		limit.Rate, limit.Per = rapid.IntRange(1, 4).Draw(t, "rate"), 10*time.Second
		limit.Burst = rapid.IntRange(1, limit.Rate).Draw(t, "burst")
	}
	l.limits[target], l.since[target] = limit, l.now
	require.NoError(t, l.q.SetLimit(context.Background(), target, limit))
}

func (l *limited) pause(t *rapid.T) {
	target := rapid.SampledFrom(append(limitTargets, queue.ForAll())).Draw(t, "target")
	if l.paused[target] {
		delete(l.paused, target)
		require.NoError(t, l.q.Resume(context.Background(), target))
		return
	}
	l.paused[target] = true
	require.NoError(t, l.q.Pause(context.Background(), target))
}

func (l *limited) advance(t *rapid.T) {
	l.now = l.now.Add(time.Duration(rapid.IntRange(1, 5000).Draw(t, "ms")) * time.Millisecond)
}

// settle resumes what is paused and runs what there is, looking again only when the claims say so: nothing may be left.
func (l *limited) settle(t *rapid.T) {
	for target := range l.paused {
		require.NoError(t, l.q.Resume(context.Background(), target))
	}
	clear(l.paused)
	for range 10_000 {
		result, err := l.q.DB().Driver().Claim(context.Background(), l.request(limitedTypes, 3))
		require.NoError(t, err)
		l.take(t, &result)
		ended := len(l.running) > 0
		for _, job := range l.running {
			l.finish(t, driver.Outcome{Lease: job.Lease(), State: queue.StateCompleted, Kind: queue.KindCompleted,
				At: l.now})
		}
		l.running = nil
		switch {
		case result.More || ended:
		case result.NextDue.IsZero():
			counts, err := l.q.Counts(context.Background(),
				queue.Filter{States: []queue.State{queue.StateQueued, queue.StateRunning}})
			require.NoError(t, err)
			require.Empty(t, counts, "no claim would ever take them")
			return
		default:
			require.True(t, result.NextDue.After(l.now), "%v at %v", result.NextDue, l.now)
			l.now = result.NextDue
		}
	}
	require.Fail(t, "claims go on for ever", fmt.Sprint(l.limits))
}
