package queuetest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
)

// A Scenario is the input of [CrashEverywhere], after its tables are made and its first jobs are enqueued.
type Scenario struct {
	// Register registers the handlers with a dispatcher. It is called for each job that is run. State in a process's
	// memory must be made here, so that it dies with the process. State that is shared with other calls stands for the
	// outside world.
	Register func(d *queue.Dispatcher)
	// Outside returns the effects on the outside world, one a line, such as the letters that were sent. Their order
	// does not matter. Nil: there are none.
	Outside func() []string
	// Ignore names columns ("table.column") and whole tables ("table") of the scenario's own whose content may differ.
	// Identifiers (UUIDs) and instants (RFC 3339) are never compared.
	Ignore []string
}

// CrashEverywhere checks that a handler reaches the same end wherever its process dies. It begins the scenario on a
// new, empty queue for each run. begin makes tables and enqueues jobs, and does not wait for them.
//
// First all jobs are run undisturbed. Each commit while a job runs, by the handler or about the job, and each call
// marked with [Outside] has two crash points: before it, and after it but before the process learns its result. Then
// the scenario is run again for each crash point. The process stops there as if dead: its writes do not reach the
// database any more. Another process takes over its jobs and finishes. The end must be the same: jobs with their
// payloads, keys and results, steps, all rows of the scenario's own tables, and Scenario.Outside. The number of
// attempts does not matter.
//
// Then the stopped process, which was only slow, continues from where it stopped. It must change nothing at all, in any
// column that is not ignored. Its outside calls are refused with [queue.ErrLeaseLost], like calls under its canceled
// context: no queue can fence the outside world.
//
// Jobs run one at a time. A job that waits for its time, or for its next attempt, runs at once when no other is left;
// see the package documentation for time. Handlers must write under the context that they are given.
func CrashEverywhere(t testing.TB, begin func(t testing.TB, q *queue.Queue) Scenario) {
	t.Helper()
	want, points := undisturbed(t, begin)
	for i, target := range points {
		r := newRun(t, begin)
		r.name = fmt.Sprintf("crash point %d of %d: %s", i+1, len(points), target)
		r.disturb(target, want)
		r.end()
	}
}

// undisturbed runs the scenario twice: differences between two equal runs are not the fault of a crash.
func undisturbed(t testing.TB, begin func(t testing.TB, q *queue.Queue) Scenario) (state, []point) {
	t.Helper()
	var ends [2]state
	var points []point
	for i := range ends {
		r := newRun(t, begin)
		r.name = "undisturbed run"
		p := newProcess()
		p.ahead = true
		require.NoError(t, p.workAll(t.Context(), r.q, r.scenario.Register), "queuetest: undisturbed run")
		r.complain(p)
		ends[i], points = r.state(false), p.points
		r.end()
	}
	if difference := diff(ends[0], ends[1]); difference != "" {
		t.Fatalf("queuetest: two undisturbed runs end differently; name in Scenario.Ignore what may vary:\n%s",
			difference)
	}
	if len(points) == 0 {
		t.Fatalf("queuetest: the scenario runs no job: enqueue one of a type that Scenario.Register handles")
	}
	return ends[0], points
}

// A run is one execution of the scenario: a database, and everything that the scenario has made.
type run struct {
	testing.TB
	name     string
	q        *queue.Queue
	database *database
	ours     []string // tables that the scenario has not made
	scenario Scenario
	cleanups []func()
}

func newRun(t testing.TB, begin func(t testing.TB, q *queue.Queue) Scenario) *run {
	t.Helper()
	r := &run{TB: t}
	t.Cleanup(r.end)
	r.q = New(r)
	r.database = steered(r, r.q)
	r.ours = slices.Collect(maps.Keys(r.tables()))
	r.scenario = begin(r, r.q)
	if r.scenario.Register == nil {
		t.Fatalf("queuetest: Scenario.Register is nil; it gives the dispatcher its handlers")
	}
	r.checkIgnored()
	r.database.onStray(func() {
		r.Errorf(
			"queuetest: %s: a write is made under a context that does not come from the handler's; no crash can be tried there", r.name)
	})
	return r
}

// Cleanup is for the end of the run, not of the whole test.
func (r *run) Cleanup(fn func()) { r.cleanups = append(r.cleanups, fn) }

func (r *run) end() {
	if r.database != nil {
		r.database.onStray(nil)
	}
	for len(r.cleanups) > 0 {
		last := len(r.cleanups) - 1
		fn := r.cleanups[last]
		r.cleanups = r.cleanups[:last]
		fn()
	}
}

var errAborted = errors.New("queuetest: Scenario.Register did not return")

// disturb stops a process at the point, lets another finish its work, and wakes the first.
func (r *run) disturb(target point, want state) {
	first, second := newProcess(), newProcess()
	first.ahead, second.ahead = true, true
	first.target = &target
	ended := make(chan error, 1)
	go func() {
		err := errAborted
		defer func() { ended <- err }()
		err = first.workAll(r.Context(), r.q, r.scenario.Register)
	}()
	select {
	case <-first.frozen:
	case err := <-ended:
		r.Errorf("queuetest: %s: a second run does not pass there; a scenario must take the same way each time (error: %v)",
			r.name, err)
		return
	}
	defer first.rise()

	if err := second.workAll(r.Context(), r.q, r.scenario.Register); err != nil {
		r.Errorf("queuetest: %s: the process that takes over: %v", r.name, err)
	}
	died := diff(want, r.state(false))
	if died != "" {
		r.Errorf("queuetest: %s\nThe process dies there, and the one that takes over comes to another end:\n%s", r.name,
			died)
	}
	before := r.state(true)
	first.rise()
	if err := <-ended; err != nil {
		r.Errorf("queuetest: %s: the process that comes back: %v", r.name, err)
	}
	r.complain(second)
	if died != "" {
		return
	}
	if haunted := diff(before, r.state(true)); haunted != "" {
		r.Errorf(
			"queuetest: %s\nThe process is taken for dead there, comes back when another has finished its work, and changes that:\n%s", r.name, haunted)
	}
}

func (r *run) complain(p *process) {
	for _, fault := range p.faults {
		r.Errorf("queuetest: %s: %s", r.name, fault)
	}
}

func (pt point) String() string {
	return fmt.Sprintf("job %d (%s), attempt %d, %s", pt.job, pt.jobType, pt.attempt, pt.where)
}
