package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// An EventKind names what happened to a job.
type EventKind string

// The kinds of events, in the order of a job's life.
const (
	// EventEnqueued: the job was stored. A duplicate is not.
	EventEnqueued EventKind = "enqueued"
	// EventStarted: its handler begins, or [Queue.Claim] has returned it.
	EventStarted EventKind = "started"
	// EventRetried: it will run again, after a failure, an interruption, a crash or a wait, or because of [Queue.Retry].
	// Jobs that a flow retries have none.
	EventRetried EventKind = "retried"
	// EventCompleted: it is done.
	EventCompleted EventKind = "completed"
	// EventFailed: it has failed for good.
	EventFailed EventKind = "failed"
	// EventCanceled: [Queue.Cancel], or its handler by [Cancel], has ended it, or another has superseded it; see
	// [Coalesce]. Jobs that expire or that a flow cancels have none.
	EventCanceled EventKind = "canceled"
)

// eventKinds lists all kinds.
func eventKinds() []EventKind {
	return []EventKind{EventEnqueued, EventStarted, EventRetried, EventCompleted, EventFailed, EventCanceled}
}

// An Event is something that happened to a job, reported once it is durable.
type Event struct {
	Kind    EventKind
	JobID   string
	JobType string
	// Attempt is the attempt that started or ended; 0 before the first.
	Attempt int
	// Ended is how the attempt ended: KindCompleted, KindFailed, KindCanceled, KindInterrupted, KindCrashed or
	// KindWaiting. Empty where none did.
	Ended string
	// Error is why, unless it succeeded.
	Error string
	At    time.Time
	// Duration is how long the attempt took that ended. 0 where none did, and where its process died.
	Duration time.Duration
	// NotBefore is when the job that was enqueued, or will run again, is due.
	NotBefore time.Time
	// Missed is how many events were lost before this one, because the subscriber was slow. Usually 0.
	Missed int
}

// An EventFilter selects events; empty fields do not restrict.
type EventFilter struct {
	Kinds  []EventKind
	Types  []string // of jobs
	JobIDs []string
	// Buffer is how many events wait for a slow subscriber; then the oldest are dropped and counted in [Event].Missed.
	// Default 1024; bounds 1 to 1,000,000.
	Buffer int
}

const (
	defaultEventBuffer = 1024
	maxEventBuffer     = 1_000_000
)

func (f *EventFilter) validate() error {
	if f.Buffer < 0 || f.Buffer > maxEventBuffer {
		return fmt.Errorf("queue: subscribe: EventFilter.Buffer is %d; it must be within 1 and %d", f.Buffer,
			maxEventBuffer)
	}
	for _, kind := range f.Kinds {
		if !slices.Contains(eventKinds(), kind) {
			return fmt.Errorf("queue: subscribe: EventFilter.Kinds has %q; it must be one of %q", kind, eventKinds())
		}
	}
	return nil
}

func (f *EventFilter) match(e *Event) bool {
	return (len(f.Kinds) == 0 || slices.Contains(f.Kinds, e.Kind)) &&
		(len(f.Types) == 0 || slices.Contains(f.Types, e.JobType)) &&
		(len(f.JobIDs) == 0 || slices.Contains(f.JobIDs, e.JobID))
}

// ErrSubscriptionClosed is what [Subscription.Next] returns after [Subscription.Close].
var ErrSubscriptionClosed = errors.New("queue: the subscription is closed")

// Subscribe reports the changes that this Queue and its dispatchers make from now on: each event after its transaction
// has committed, the events of one job in order. Nothing waits for a subscriber: a slow one loses the oldest events,
// and [Subscription.Next] returns how many. Not reported are changes by other processes, jobs that expire, and jobs
// that a flow cancels or retries, be it because another job of it has failed; see [Queue.Wait] and [Queue.Jobs] for
// those.
//
// Close the subscription when it is no longer needed.
func (q *Queue) Subscribe(filter EventFilter) (*Subscription, error) {
	if err := filter.validate(); err != nil {
		return nil, err
	}
	if filter.Buffer == 0 {
		filter.Buffer = defaultEventBuffer
	}
	s := &Subscription{bus: &q.events, filter: filter, ready: make(chan struct{}, 1), done: make(chan struct{})}
	q.events.add(s)
	return s, nil
}

// A Subscription keeps events until they are taken. It is safe for use by many goroutines.
type Subscription struct {
	bus    *bus
	filter EventFilter
	ready  chan struct{} // buffered, of size one: there may be events
	done   chan struct{}
	close  sync.Once

	mu     sync.Mutex
	events []Event
	missed int // since the last event that was taken
}

// Next returns the next event, or waits for it. The error is ctx's, or [ErrSubscriptionClosed].
func (s *Subscription) Next(ctx context.Context) (Event, error) {
	if err := validContext(ctx); err != nil {
		return Event{}, wrap("next event", "", err)
	}
	for {
		if e, ok := s.pop(); ok {
			return e, nil
		}
		select {
		case <-ctx.Done():
			return Event{}, ctx.Err()
		case <-s.done:
			return Event{}, ErrSubscriptionClosed
		case <-s.ready:
		}
	}
}

// Close ends the subscription. Events that wait can still be taken; then Next fails. Closing again does nothing.
func (s *Subscription) Close() {
	s.close.Do(func() {
		s.bus.remove(s)
		close(s.done)
	})
}

// push never blocks.
func (s *Subscription) push(e Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.events) == s.filter.Buffer {
		s.events = s.events[1:]
		s.missed++
	}
	s.events = append(s.events, e)
	tell(s.ready)
}

func (s *Subscription) pop() (e Event, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.events) == 0 {
		return e, false
	}
	e, s.events = s.events[0], s.events[1:]
	e.Missed, s.missed = s.missed, 0
	if len(s.events) > 0 {
		tell(s.ready) // another goroutine may wait as well
	}
	return e, true
}
