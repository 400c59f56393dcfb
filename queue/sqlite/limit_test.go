package sqlite_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

// Jobs without a limit, and those of many keys and types that each have capacity for some, are one queue: what may run
// and is most urgent comes first, by whatever portions it is claimed and ended.
func TestClaimsAreInTheOrderOfAllKeysAndTypes(t *testing.T) {
	const most = 3
	db := openMemory(t)
	q := trapQueue(t, db)
	require.NoError(t, q.SetLimit(t.Context(), queue.ForKeyPrefix("k"), queue.Limit{MaxRunning: most}))
	random := rand.New(rand.NewPCG(3, 4))
	waiting, types := randomJobs(t, q, random, 2000)
	running := make(map[string]int)
	var held []queue.Job
	for len(waiting) > 0 {
		limit := 1 + random.IntN(100)
		want := []string{}
		waiting = slices.DeleteFunc(waiting, func(job queue.Job) bool {
			if len(want) == limit || (job.LimitKey != "" && running[job.LimitKey] == most) {
				return false
			}
			running[job.LimitKey]++
			want = append(want, job.ID)
			return true
		})
		lookAtAllKeys(t, q)
		got, err := q.Claim(t.Context(), "w", types, limit)
		require.NoError(t, err)
		require.Equal(t, want, append([]string{}, idsOf(got)...))
		for _, a := range got {
			held = append(held, a.Job)
		}
		random.Shuffle(len(held), func(i, j int) { held[i], held[j] = held[j], held[i] })
		n := random.IntN(len(held) + 1)
		for i := range held[:n] {
			running[held[i].LimitKey]--
		}
		endAll(t, q, held[:n])
		held = held[n:]
	}
}

// lookAtAllKeys has claims, which get nothing, look at all keys that are marked: what one claim leaves to the next
// comes later.
func lookAtAllKeys(t *testing.T, q *queue.Queue) {
	t.Helper()
	for more := true; more; {
		result, err := q.DB().Driver().Claim(t.Context(), driver.ClaimRequest{
			WorkerID: "w", Types: []driver.TypeCapacity{{Type: "none", Capacity: 1}}, Limit: 1, Now: time.Now(),
		})
		require.NoError(t, err)
		more = result.More
	}
}

// randomJobs enqueues n jobs and returns them in the order of claims, with their types.
func randomJobs(t *testing.T, q *queue.Queue, random *rand.Rand, n int) (jobs []queue.Job, types []string) {
	t.Helper()
	types = make([]string, 30)
	for i := range types {
		types[i] = fmt.Sprint("type-", i)
	}
	batch := make([]queue.NewJob, n)
	for i := range batch {
		opts := &queue.Options{Priority: random.IntN(3)}
		if random.IntN(4) > 0 {
			opts.LimitKey = fmt.Sprint("k", random.IntN(40)) + "\"\n\t \\"
		}
		batch[i] = queue.Type[int](types[random.IntN(1+random.IntN(len(types)))]).New(i, opts)
	}
	results, err := q.EnqueueMany(t.Context(), batch)
	require.NoError(t, err)
	jobs = make([]queue.Job, n)
	for i, r := range results {
		jobs[i] = queue.Job{ID: r.ID, Options: driver.Options(batch[i].Options)}
	}
	slices.SortFunc(jobs, func(a, b queue.Job) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority),
			cmp.Compare(a.ID, b.ID))
	})
	return jobs, types
}

// However many keys are to be looked at, one claim looks at a few of them, says that there is more, and takes what they
// have.
func TestAClaimLooksAtFewOfTheKeysThatAreMarked(t *testing.T) {
	const keys = 1000
	db := openMemory(t)
	q := trapQueue(t, db)
	require.NoError(t, q.SetLimit(t.Context(), queue.ForKeyPrefix("k"), queue.Limit{MaxRunning: 1}))
	batch := make([]queue.NewJob, 2*keys)
	for i := range batch {
		batch[i] = queue.Type[int]("t").New(i, &queue.Options{LimitKey: fmt.Sprint("k", i%keys)})
	}
	_, err := q.EnqueueMany(t.Context(), batch)
	require.NoError(t, err)
	// all are to be looked at
	require.NoError(t, q.SetLimit(t.Context(), queue.ForKeyPrefix("k"), queue.Limit{MaxRunning: 1}))
	marked := func() (n int) {
		require.NoError(t, db.Reader().Get(&n, "SELECT COUNT(*) FROM job_limit_marks"))
		return n
	}
	require.Equal(t, keys, marked())
	started := make(map[string]bool)
	for before := keys; before > 0; before = marked() {
		result, err := db.Driver().Claim(t.Context(),
			driver.ClaimRequest{WorkerID: "w", Types: []driver.TypeCapacity{{Type: "t", Capacity: keys}}, Limit: 10,
				Now: time.Now()})
		require.NoError(t, err)
		require.Len(t, result.Jobs, 10)
		require.True(t, result.More)
		require.InDelta(t, before-100, marked(), 100)
		require.Less(t, marked(), before)
		for i := range result.Jobs {
			require.False(t, started[result.Jobs[i].LimitKey])
			started[result.Jobs[i].LimitKey] = true
		}
	}
	jobs, err := q.Claim(t.Context(), "w", []string{"t"}, 2*keys)
	require.NoError(t, err)
	require.Len(t, jobs, keys-len(started))
}

// Jobs of keys that nothing runs of are found in their order, and no key is marked for them. Where such keys turn out
// to be paused, one claim looks at some of them, and says that there is more.
func TestJobsOfFreeKeysAreFoundWithoutMarks(t *testing.T) {
	const keys = 1000
	db := openMemory(t)
	q := trapQueue(t, db)
	require.NoError(t, q.SetLimit(t.Context(), queue.ForKeyPrefix("k"), queue.Limit{MaxRunning: 1}))
	enqueue := func(prefix string) {
		t.Helper()
		batch := make([]queue.NewJob, keys)
		for i := range batch {
			batch[i] = queue.Type[int]("t").New(i, &queue.Options{LimitKey: fmt.Sprint(prefix, i), Priority: i % 7})
		}
		_, err := q.EnqueueMany(t.Context(), batch)
		require.NoError(t, err)
	}
	count := func(table string) (n int) {
		require.NoError(t, db.Reader().Get(&n, "SELECT COUNT(*) FROM "+table))
		return n
	}
	claim := func() driver.ClaimResult {
		result, err := db.Driver().Claim(t.Context(),
			driver.ClaimRequest{WorkerID: "w", Types: []driver.TypeCapacity{{Type: "t", Capacity: keys}}, Limit: 10,
				Now: time.Now()})
		require.NoError(t, err)
		return result
	}
	enqueue("k")
	require.Zero(t, count("job_limit_marks"))
	require.Equal(t, keys, count("job_heads"))
	for priority := 6; priority >= 0; {
		result := claim()
		if len(result.Jobs) == 0 {
			break
		}
		for i := range result.Jobs {
			require.LessOrEqual(t, result.Jobs[i].Priority, priority)
			priority = result.Jobs[i].Priority
		}
	}
	require.Zero(t, count("job_heads"))

	require.NoError(t, q.Pause(t.Context(), queue.ForKeyPrefix("p")))
	enqueue("p")
	for left := keys; left > 0; {
		before, result := left, claim()
		left = count("job_heads")
		require.Less(t, left, before)
		require.Less(t, before-left, 250)
		require.True(t, result.More || left == 0)
	}
}

// None means that there is nothing to claim, and not that some keys are left to be looked at.
func TestAClaimThatGetsNoneHasLookedAtAllKeys(t *testing.T) {
	const keys = 200
	db := openMemory(t)
	q := trapQueue(t, db)
	one := queue.Limit{MaxRunning: 1}
	require.NoError(t, q.SetLimit(t.Context(), queue.ForKeyPrefix("k"), one))
	batch := make([]queue.NewJob, 2*keys)
	for i := range batch {
		batch[i] = queue.Type[int]("t").New(i, &queue.Options{LimitKey: fmt.Sprintf("k%03d", i%keys)})
	}
	_, err := q.EnqueueMany(t.Context(), batch)
	require.NoError(t, err)
	jobs, err := q.Claim(t.Context(), "w", []string{"t"}, 2*keys)
	require.NoError(t, err)
	require.Len(t, jobs, keys)

	require.NoError(t, q.SetLimit(t.Context(), queue.ForKeyPrefix("k"), one)) // all keys are to be looked at again
	last := fmt.Sprintf("k%03d", keys-1)
	require.NoError(t, q.SetLimit(t.Context(), queue.ForKey(last), queue.Limit{MaxRunning: 2}))
	jobs, err = q.Claim(t.Context(), "w", []string{"t"}, 1)
	require.NoError(t, err)
	require.Len(t, jobs, 1)
	require.Equal(t, last, jobs[0].Job.LimitKey)
}

// A limit key that a job's end frees may be marked as well. Examined twice, it left a job that runs as the first of
// those that wait.
func TestAKeyThatIsFreedAndMarkedIsExaminedOnce(t *testing.T) {
	db := openMemory(t)
	q := trapQueue(t, db)
	require.NoError(t, q.SetLimit(t.Context(), queue.ForKey("k"), queue.Limit{MaxRunning: 2}))
	for range 2 {
		_, err := q.Enqueue(t.Context(), queue.NewJob{Type: "one", Options: queue.Options{LimitKey: "k"}})
		require.NoError(t, err)
	}
	running, err := q.Claim(t.Context(), "w", []string{"one"}, 2)
	require.NoError(t, err)
	require.Len(t, running, 2)
	again, ends := running[0].Job.ID, running[1].Job
	require.NoError(t, q.Cancel(t.Context(), again))
	require.NoError(t, q.Retry(t.Context(), again))

	var claimed func() driver.ClaimResult
	require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) (err error) {
		now := time.Now().Add(time.Minute)
		_, claimed, err = db.Driver().(driver.FinishClaimer).FinishAndClaim(ctx, tx.(*driver.WriteTx),
			[]driver.Outcome{{Lease: driver.Lease{JobID: ends.ID, Attempt: ends.Attempt}, State: queue.StateCompleted,
				Kind: queue.KindCompleted, At: now}},
			driver.ClaimRequest{WorkerID: "w", Types: []driver.TypeCapacity{{Type: "one", Capacity: 1}}, Limit: 1, Now: now})
		return err
	}))
	require.Len(t, claimed().Jobs, 1)
	require.Equal(t, again, claimed().Jobs[0].ID)
	var heads []string
	require.NoError(t, db.Reader().Select(&heads, "SELECT id FROM job_heads"))
	require.Empty(t, heads)
}
