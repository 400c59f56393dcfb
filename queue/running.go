package queue

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
)

// The runningSet has the jobs that this process has claimed. A job waits in the backlog until a slot is free, then its
// handler occupies the slot until it returns. Its attempt stays in the set, and its lease alive, until its end is
// written.
type runningSet struct {
	mu       sync.Mutex
	slots    int
	busy     int
	pools    map[string]*pool // nil: there are none
	backlog  []*entry
	apart    []*entry                // suspects that wait for their turn
	turn     *entry                  // the suspect that has it
	attempts map[driver.Lease]*entry // a job may be here twice: the attempt that lost it may not have returned yet
	active   map[string]int          // by type: claimed, and the handler has not returned
	ended    int                     // handlers that have returned, ever
	inside   int                     // handlers that run
	spent    time.Duration           // that handlers have run, all taken together, until since
	since    time.Time
	stuck    map[*entry]struct{}
	canceled map[string]struct{} // jobs, since the latest claim began: it may have got them before

	// low is how short the backlog may become before hungry is sent to, once.
	low    int
	hungry chan struct{}
	// changed is closed and renewed when a handler has returned or an end is written, if a goroutine waits for it.
	changed chan struct{}
	watched bool
	// unwritable: the database has been closed, and takes no end any more.
	unwritable bool
}

type entry struct {
	attempt *Attempt
	ctx     context.Context //nolint:containedctx // the handler's, made when the job is claimed so that it can be canceled
	cancel  context.CancelCauseFunc
	claimed time.Time
	inside  bool // its handler runs
	given   bool // given back or given up: the handler's result is ignored

	pool     *pool // nil: there are none
	admitted bool  // has a slot of the pool, or is to have the next

	suspect   bool // its worker died at the latest attempt
	turnBegan time.Time
	marked    bool // as begun, in the database

	timeout   time.Duration // 0: none
	deadline  time.Time     // of a handler with a timeout, once it runs
	stopped   time.Time     // when its context was canceled, if not by the deadline
	goroutine uint64        // that runs the handler
	replaced  bool          // given up, and the slot has passed to another goroutine
}

// begin makes the handler's context, and starts its time if that is limited.
func (e *entry) begin(goroutine uint64) {
	e.inside, e.goroutine, e.attempt.began = true, goroutine, e.attempt.q.now()
	if e.timeout == 0 {
		return
	}
	e.deadline = time.Now().Add(e.timeout)
	ctx, release := context.WithDeadlineCause(e.ctx, e.deadline, ErrTimeout)
	cancel := e.cancel
	e.ctx, e.cancel = ctx, func(cause error) {
		cancel(cause)
		release()
	}
}

// stop cancels the handler's context; the first cause counts.
func (e *entry) stop(cause error) {
	if e.stopped.IsZero() {
		e.stopped = time.Now()
	}
	e.cancel(cause)
}

func newRunningSet(pools map[string]*pool, slots int) *runningSet {
	return &runningSet{
		slots: slots, pools: pools, attempts: make(map[driver.Lease]*entry), active: make(map[string]int),
		stuck:  make(map[*entry]struct{}),
		hungry: make(chan struct{}, 1), changed: make(chan struct{}),
	}
}

// A load is how busy the process is, and how busy it has been.
type load struct {
	idle, backlog int
	bytes         int           // of the payloads of the backlog
	ended         int           // handlers that have returned, ever
	spent         time.Duration // that handlers have run, ever
}

func (s *runningSet) load() load {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spend(time.Now(), 0)
	l := load{backlog: len(s.backlog), ended: s.ended, spent: s.spent}
	for _, e := range s.backlog {
		l.bytes += len(e.attempt.job.Payload)
	}
	for _, p := range s.pools {
		for _, e := range p.waiting {
			l.bytes += len(e.attempt.job.Payload)
		}
	}
	if s.closed() {
		l.backlog = maxPrefetch
	} else {
		l.idle = max(0, s.slots-s.busy-len(s.backlog))
	}
	return l
}

// spend counts the time that handlers have run until now, when more of them, or fewer, do.
func (s *runningSet) spend(now time.Time, more int) {
	s.spent += time.Duration(s.inside) * now.Sub(s.since)
	s.inside += more
	s.since = now
}

// hungryBelow returns a channel that is sent to when there are idle slots, or the backlog is no longer than low.
func (s *runningSet) hungryBelow(low int) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.low = low
	select {
	case <-s.hungry: // of before
	default:
	}
	s.tellIfHungry()
	return s.hungry
}

func (s *runningSet) tellIfHungry() {
	if len(s.backlog) > s.low || (s.low == 0 && s.busy >= s.slots) || s.closed() {
		return
	}
	tell(s.hungry)
}

// watch returns a channel that closes when a handler has returned or an end is written.
func (s *runningSet) watch() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watched = true
	return s.changed
}

// empty reports whether nothing runs and nothing waits to be written.
func (s *runningSet) empty() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.attempts) == 0
}

// activeOf is how many jobs of the type are claimed and have not returned.
func (s *runningSet) activeOf(jobType string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.active[jobType]
}

// add puts claimed jobs into the backlog and returns how many goroutines to start for them: each takes a slot, and jobs
// with next until there are none.
func (s *runningSet) add(entries []*entry) (goroutines int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range entries {
		s.attempts[e.attempt.job.lease()] = e
		s.count(e, 1)
		if e.suspect {
			e.enter()
			s.apart = append(s.apart, e)
		} else {
			s.queue(e)
		}
	}
	return s.occupy()
}

// occupy takes free slots for waiting jobs.
func (s *runningSet) occupy() (goroutines int) {
	goroutines = max(0, min(s.slots-s.busy, s.startable()))
	s.busy += goroutines
	return goroutines
}

// next returns the job that the caller, who holds a slot, runs now. Without one the slot is free again.
func (s *runningSet) next(goroutine uint64) *entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.pick()
	if e == nil {
		if len(s.backlog) == 0 {
			s.backlog = nil
		}
		s.busy--
		s.tellIfHungry()
		s.signal()
		return nil
	}
	e.begin(goroutine)
	s.spend(time.Now(), 1)
	s.tellIfHungry()
	return e
}

// leave ends what next began. It returns how many goroutines to start, and false when the attempt was given up
// meanwhile.
func (s *runningSet) leave(e *entry) (goroutines int, held bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spend(time.Now(), -1)
	s.ended++
	s.count(e, -1)
	s.exit(e)
	e.inside = false
	if e.given {
		delete(s.stuck, e)
		s.signal()
	}
	if e == s.turn {
		goroutines = s.endTurn()
	} else if e.given {
		goroutines = s.occupy()
	}
	return goroutines, !e.given
}

// forget removes attempts whose ends are written.
func (s *runningSet) forget(attempts ...*Attempt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range attempts {
		delete(s.attempts, a.job.lease())
	}
	s.signal()
}

func (s *runningSet) signal() {
	if s.watched {
		close(s.changed)
		s.changed = make(chan struct{})
		s.watched = false
	}
}

// unclaim empties the backlog when its first job has waited since before the given time.
func (s *runningSet) unclaim(before time.Time) []*Attempt {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.backlog) == 0 || !s.backlog[0].claimed.Before(before) {
		return nil
	}
	backlog := s.backlog
	s.backlog = nil
	var given []*Attempt
	for _, p := range s.pools { // first, so that none of them follows
		given = append(given, s.dismiss(p)...)
	}
	for _, e := range backlog {
		given = append(given, s.release(e))
	}
	return given
}

func (s *runningSet) cancel(lease driver.Lease, cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.attempts[lease]; e != nil {
		e.stop(cause)
	}
}

// expect notes that a claim begins. A cancellation before its jobs are in the set would be missed.
func (s *runningSet) expect() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.canceled = make(map[string]struct{})
}

// missed returns the claimed jobs that have been canceled since the claim began.
func (s *runningSet) missed(claimed []driver.Job) (leases []driver.Lease) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.canceled) > 0 {
		for i := range claimed {
			if _, ok := s.canceled[claimed[i].ID]; ok {
				leases = append(leases, claimed[i].Lease())
			}
		}
	}
	s.canceled = nil
	return leases
}

func (s *runningSet) cancelJob(jobID string, cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.canceled != nil {
		s.canceled[jobID] = struct{}{}
	}
	for lease, e := range s.attempts {
		if lease.JobID == jobID {
			e.stop(cause)
		}
	}
}

func (s *runningSet) cancelAll(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.attempts {
		e.stop(cause)
	}
}

func (s *runningSet) has(lease driver.Lease) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.attempts[lease] != nil
}

// leases returns the leases that must still be held, without those of completed jobs.
func (s *runningSet) leases() []driver.Lease {
	s.mu.Lock()
	defer s.mu.Unlock()
	leases := make([]driver.Lease, 0, len(s.attempts))
	for lease, e := range s.attempts {
		if !e.attempt.completed.Load() {
			leases = append(leases, lease)
		}
	}
	return leases
}

// giveUp marks the handlers that run and match as given up. Their slots pass to others, but no more than there are
// slots in all: where everything hangs, more of it would only fill the memory. It returns how many goroutines to start.
func (s *runningSet) giveUp(match func(e *entry) bool) (stuck []*entry, goroutines int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.attempts {
		if !e.inside || e.given || !match(e) {
			continue
		}
		e.given = true
		stuck = append(stuck, e)
		s.stuck[e] = struct{}{}
		if e == s.turn { // a suspect that hangs must not keep the others from beginning
			s.turn = nil
		}
		if e.replaced = len(s.stuck) <= s.slots; e.replaced {
			s.busy--
			s.exit(e)
		}
	}
	if len(stuck) > 0 {
		goroutines = s.occupy()
		s.tellIfHungry()
		s.signal()
	}
	return stuck, goroutines
}

// stuckJobs names the jobs whose handlers were given up and have not returned.
func (s *runningSet) stuckJobs() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for e := range s.stuck {
		names = append(names, e.attempt.job.Type+" "+e.attempt.job.ID)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// idle reports whether no handler runs but those that were given up.
func (s *runningSet) idle() bool {
	held := 0
	for e := range s.stuck {
		if !e.replaced {
			held++
		}
	}
	return s.busy == held
}

// returned reports whether no handler runs at all.
func (s *runningSet) returned() bool { return s.busy == 0 && len(s.stuck) == 0 }

// waitIdle waits until no handler runs, at most for the given time.
func (s *runningSet) waitIdle(limit time.Duration) bool {
	return s.wait(limit, s.idle)
}

// waitWritten waits until every attempt's end is written, at most for the given time, and not for a database that is
// closed.
func (s *runningSet) waitWritten(limit time.Duration) (written bool) {
	return s.wait(limit, func() bool {
		written = len(s.attempts) == 0
		return written || s.unwritable
	}) && written
}

func (s *runningSet) setUnwritable() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unwritable = true
	s.signal()
}

func (s *runningSet) wait(limit time.Duration, done func() bool) bool {
	timeout := time.NewTimer(max(limit, 0))
	defer timeout.Stop()
	for {
		s.mu.Lock()
		ok, changed := done(), s.changed
		s.watched = true
		s.mu.Unlock()
		if ok {
			return true
		}
		select {
		case <-changed:
		case <-timeout.C:
			return false
		}
	}
}
