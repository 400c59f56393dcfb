package queue

import (
	"context"
	"sync"
	"time"
)

// The runningSet is what this process runs. A handler occupies a slot until it returns; its attempt stays in the set,
// and its lease alive, until its end is written.
type runningSet struct {
	mu       sync.Mutex
	slots    int
	busy     int
	attempts map[Lease]*entry // a job may be here twice: the attempt that lost it may not have returned yet
	// changed is closed and renewed whenever a slot becomes free or an end is written.
	changed chan struct{}
}

type entry struct {
	attempt *Attempt
	cancel  context.CancelCauseFunc
	inside  bool // its handler has not returned
}

func newRunningSet(slots int) *runningSet {
	return &runningSet{slots: slots, attempts: make(map[Lease]*entry), changed: make(chan struct{})}
}

// free is how many slots are, and a channel that closes when there are more.
func (s *runningSet) free() (int, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.slots - s.busy, s.changed
}

// empty tells whether nothing runs and nothing waits to be written.
func (s *runningSet) empty() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.attempts) == 0
}

func (s *runningSet) add(a *Attempt, cancel context.CancelCauseFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy++
	s.attempts[a.Job.Lease()] = &entry{attempt: a, cancel: cancel, inside: true}
}

// leave frees the slot of a handler that has returned. It returns false when the attempt was abandoned meanwhile.
func (s *runningSet) leave(a *Attempt) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy--
	s.signal()
	e := s.attempts[a.Job.Lease()]
	if e == nil || !e.inside {
		return false
	}
	e.inside = false
	return true
}

// forget ends the care for an attempt whose end is written.
func (s *runningSet) forget(a *Attempt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.attempts, a.Job.Lease())
	s.signal()
}

func (s *runningSet) signal() {
	close(s.changed)
	s.changed = make(chan struct{})
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
		if e.inside {
			e.inside = false
			inside = append(inside, e.attempt)
		}
	}
	return inside
}

// waitIdle waits until no handler runs, at most for the given time.
func (s *runningSet) waitIdle(limit time.Duration) bool {
	timeout := time.NewTimer(max(limit, 0))
	defer timeout.Stop()
	return s.wait(timeout.C, func() bool { return s.busy == 0 })
}

// waitWritten waits until every attempt's end is written, at most for the given time.
func (s *runningSet) waitWritten(limit time.Duration) bool {
	timeout := time.NewTimer(limit)
	defer timeout.Stop()
	return s.wait(timeout.C, func() bool { return len(s.attempts) == 0 })
}

func (s *runningSet) wait(timeout <-chan time.Time, done func() bool) bool {
	for {
		s.mu.Lock()
		ok, changed := done(), s.changed
		s.mu.Unlock()
		if ok {
			return true
		}
		select {
		case <-changed:
		case <-timeout:
			return false
		}
	}
}
