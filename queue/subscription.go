package queue

import (
	"context"
	"sync"
)

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
