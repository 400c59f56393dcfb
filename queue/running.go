package queue

import (
	"context"
	"sync"
	"time"
)

// The runningSet is what this process has claimed. A job waits in the backlog until a slot is free, then its handler
// occupies the slot until it returns; its attempt stays in the set, and its lease alive, until its end is written.
type runningSet struct {
	mu       sync.Mutex
	slots    int
	busy     int
	backlog  []*entry
	attempts map[Lease]*entry // a job may be here twice: the attempt that lost it may not have returned yet
	active   map[string]int   // by type: claimed, and the handler has not returned
	ended    int              // handlers that have returned, ever

	// low is how short the backlog may become before hungry is told, once.
	low    int
	hungry chan struct{}
	// changed is closed and renewed when a handler has returned or an end is written, if somebody waits for it.
	changed chan struct{}
	watched bool
}

type entry struct {
	attempt *Attempt
	ctx     context.Context //nolint:containedctx // the handler's, made when the job is claimed so that it can be canceled
	cancel  context.CancelCauseFunc
	claimed time.Time
	inside  bool // its handler runs
	given   bool // given back: what its handler still does is not looked at
}

func newRunningSet(slots int) *runningSet {
	return &runningSet{
		slots: slots, attempts: make(map[Lease]*entry), active: make(map[string]int),
		hungry: make(chan struct{}, 1), changed: make(chan struct{}),
	}
}

// A load is how busy the process is.
type load struct{ idle, backlog, ended int }

func (s *runningSet) load() load {
	s.mu.Lock()
	defer s.mu.Unlock()
	return load{idle: max(0, s.slots-s.busy-len(s.backlog)), backlog: len(s.backlog), ended: s.ended}
}

// hungryBelow asks to be told when there are idle slots, or the backlog is no longer than low.
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
	if len(s.backlog) > s.low || (s.low == 0 && s.busy >= s.slots) {
		return
	}
	select {
	case s.hungry <- struct{}{}:
	default:
	}
}

// watch returns a channel that closes when a handler has returned or an end is written.
func (s *runningSet) watch() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watched = true
	return s.changed
}

// empty tells whether nothing runs and nothing waits to be written.
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
		s.attempts[e.attempt.Job.Lease()] = e
		s.active[e.attempt.Job.Type]++
	}
	s.backlog = append(s.backlog, entries...)
	goroutines = min(s.slots-s.busy, len(s.backlog))
	s.busy += goroutines
	return goroutines
}

// next is the job that the caller, who holds a slot, runs now. Without one the slot is free again.
func (s *runningSet) next() *entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.backlog) == 0 {
		s.backlog = nil
		s.busy--
		s.tellIfHungry()
		s.signal()
		return nil
	}
	e := s.backlog[0]
	s.backlog[0] = nil
	s.backlog = s.backlog[1:]
	e.inside = true
	s.tellIfHungry()
	return e
}

// leave ends what next began. It returns false when the attempt was given up meanwhile.
func (s *runningSet) leave(e *entry) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended++
	s.active[e.attempt.Job.Type]--
	e.inside = false
	return !e.given
}

// forget ends the care for attempts whose ends are written.
func (s *runningSet) forget(attempts ...*Attempt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range attempts {
		delete(s.attempts, a.Job.Lease())
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
	given := make([]*Attempt, len(s.backlog))
	for i, e := range s.backlog {
		e.given = true
		s.active[e.attempt.Job.Type]--
		given[i] = e.attempt
	}
	s.backlog = nil
	return given
}

func (s *runningSet) cancel(lease Lease, cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.attempts[lease]; e != nil {
		e.cancel(cause)
	}
}

func (s *runningSet) cancelJob(jobID string, cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for lease, e := range s.attempts {
		if lease.JobID == jobID {
			e.cancel(cause)
		}
	}
}

func (s *runningSet) cancelAll(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.attempts {
		e.cancel(cause)
	}
}

func (s *runningSet) has(lease Lease) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.attempts[lease] != nil
}

// leases are those that must still be held: not those of jobs that their handlers have completed.
func (s *runningSet) leases() []Lease {
	s.mu.Lock()
	defer s.mu.Unlock()
	leases := make([]Lease, 0, len(s.attempts))
	for lease, e := range s.attempts {
		if !e.attempt.completed.Load() {
			leases = append(leases, lease)
		}
	}
	return leases
}

// abandon marks the handlers that have not returned as given up and returns their attempts.
func (s *runningSet) abandon() []*Attempt {
	s.mu.Lock()
	defer s.mu.Unlock()
	var inside []*Attempt
	for _, e := range s.attempts {
		if e.inside && !e.given {
			e.given = true
			inside = append(inside, e.attempt)
		}
	}
	return inside
}

// waitIdle waits until no handler runs, at most for the given time.
func (s *runningSet) waitIdle(limit time.Duration) bool {
	return s.wait(limit, func() bool { return s.busy == 0 })
}

// waitWritten waits until every attempt's end is written, at most for the given time.
func (s *runningSet) waitWritten(limit time.Duration) bool {
	return s.wait(limit, func() bool { return len(s.attempts) == 0 })
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
