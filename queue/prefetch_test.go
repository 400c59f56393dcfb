package queue

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const slots = 10

// after is the load of slots that have run jobs of that length, one after the other, for a time.
func after(l load, job, ran time.Duration) load {
	l.ended += int(slots * ran / job)
	l.spent += slots * ran
	return l
}

// settled is an estimator that has seen jobs of one length for a while, and claims of one length.
func settled(job, wait time.Duration) (p prefetchEstimator, l load) {
	for range 50 {
		l = after(l, job, 50*time.Millisecond)
		p.waited(wait)
		p.ahead(l, slots, p.reach(50*time.Millisecond))
	}
	return p, l
}

func TestPrefetchPrefetchesWhatTheSlotsCanRun(t *testing.T) {
	p, _ := settled(5*time.Millisecond, time.Millisecond)
	require.InDelta(t, 100, p.depth, 1, "ten slots run 2,000 jobs a second")
}

// Where claims take long, a process that is short of jobs must claim more at a time: it would come to less and less
// otherwise.
func TestPrefetchPrefetchesFurtherWhereClaimsTakeLong(t *testing.T) {
	p, _ := settled(5*time.Millisecond, 30*time.Millisecond)
	require.InDelta(t, 240, p.depth, 5)

	// The slots stand idle most of the time.
	idle, l := settled(5*time.Millisecond, 30*time.Millisecond)
	for range 50 {
		l = after(l, 5*time.Millisecond, 10*time.Millisecond)
		idle.waited(30 * time.Millisecond)
		idle.ahead(l, slots, idle.reach(50*time.Millisecond))
	}
	require.InDelta(t, p.depth, idle.depth, 5)
}

// However long claims take, other machines are left what this one cannot run in a bounded time.
func TestPrefetchReachesNoFurtherThanItsBound(t *testing.T) {
	p, _ := settled(5*time.Millisecond, 10*time.Second)
	require.Equal(t, 500*time.Millisecond, p.reach(50*time.Millisecond))
	require.Zero(t, p.reach(0), "not at all")
	p, _ = settled(time.Microsecond, time.Millisecond)
	require.Equal(t, maxPrefetch, p.depth)
}

func TestPrefetchGrowsByDoubling(t *testing.T) {
	var p prefetchEstimator
	var l load
	require.Zero(t, p.ahead(l, slots, time.Second), "nothing is known yet")
	for _, want := range []int{10, 20, 40, 80, 160} {
		l = after(l, time.Millisecond, 10*time.Millisecond)
		require.Equal(t, want, p.ahead(l, slots, time.Second))
	}
}

// Jobs that take long are left to others as soon as they are seen to, also before the first of them has ended.
func TestPrefetchForgetsQuickJobsWhenSlowOnesCome(t *testing.T) {
	p, l := settled(5*time.Millisecond, time.Millisecond)
	l.spent += slots * time.Second
	require.LessOrEqual(t, p.ahead(l, slots, 50*time.Millisecond), 10)
	for range 10 {
		l.spent += slots * time.Second
		p.ahead(l, slots, 50*time.Millisecond)
	}
	require.Zero(t, p.depth)
}
