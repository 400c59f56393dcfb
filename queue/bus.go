package queue

import (
	"slices"
	"sync"
	"sync/atomic"
)

// The bus delivers events to subscriptions and waits.
type bus struct {
	listeners atomic.Int32 // subscriptions and waits

	mu    sync.Mutex
	subs  map[*Subscription]struct{}
	waits map[string]map[chan struct{}]struct{} // by job id: until it ends
	// staged are the events, by job id, of transactions that may not have committed.
	staged map[string][]*stagedEvent
}

// A stagedEvent belongs to a transaction. Others may see its commit before its author can report it. When an event is reported
// that can only have happened later, the staged event has committed as well and is reported first.
type stagedEvent struct {
	Event
	ended bool // delivered, or its transaction was rolled back
}

func (b *bus) add(s *Subscription) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.subs == nil {
		b.subs = make(map[*Subscription]struct{})
	}
	b.subs[s] = struct{}{}
	b.listeners.Add(1)
}

func (b *bus) remove(s *Subscription) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, ok := b.subs[s]; ok {
		delete(b.subs, s)
		b.left()
	}
}

// left is called when a listener ends.
func (b *bus) left() {
	if b.listeners.Add(-1) == 0 {
		b.staged = nil
	}
}

// await returns a channel that is sent to when the job has ended here.
func (b *bus) await(jobID string) (ended <-chan struct{}, stop func()) {
	c := make(chan struct{}, 1)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waits == nil {
		b.waits = make(map[string]map[chan struct{}]struct{})
	}
	if b.waits[jobID] == nil {
		b.waits[jobID] = make(map[chan struct{}]struct{})
	}
	b.waits[jobID][c] = struct{}{}
	b.listeners.Add(1)
	return c, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if delete(b.waits[jobID], c); len(b.waits[jobID]) == 0 {
			delete(b.waits, jobID)
		}
		b.left()
	}
}

func (b *bus) stage(events []Event) []*stagedEvent {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.staged == nil {
		b.staged = make(map[string][]*stagedEvent)
	}
	staged := make([]*stagedEvent, len(events))
	for i := range events {
		staged[i] = &stagedEvent{Event: events[i]}
		b.staged[events[i].JobID] = append(b.staged[events[i].JobID], staged[i])
	}
	return staged
}

// tell is called when the events' transaction has committed.
func (b *bus) tell(staged []*stagedEvent) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range staged {
		b.flush(e.JobID, e)
		b.deliver(e)
		b.forget(e.JobID)
	}
}

// flush reports the events staged for the job before the given event, or all of them.
func (b *bus) flush(jobID string, before *stagedEvent) {
	for _, e := range b.staged[jobID] {
		if e == before {
			break
		}
		b.deliver(e)
	}
	b.forget(jobID)
}

// forget removes the staged events of the job that have been delivered or dropped.
func (b *bus) forget(jobID string) {
	left := slices.DeleteFunc(b.staged[jobID], func(e *stagedEvent) bool { return e.ended })
	if len(left) == 0 {
		delete(b.staged, jobID)
		return
	}
	b.staged[jobID] = left
}

// drop is called when the events' transaction is rolled back.
func (b *bus) drop(staged []*stagedEvent) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range staged {
		e.ended = true
		b.forget(e.JobID)
	}
}

// started reports something that belongs to no transaction of ours.
func (b *bus) started(e Event) {
	if b.listeners.Load() == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.flush(e.JobID, nil)
	b.deliver(&stagedEvent{Event: e})
}

func (b *bus) deliver(e *stagedEvent) {
	if e.ended {
		return
	}
	e.ended = true
	for s := range b.subs {
		if s.filter.match(&e.Event) {
			s.push(e.Event)
		}
	}
	switch e.Kind {
	case EventCompleted, EventFailed, EventCanceled:
		for c := range b.waits[e.JobID] {
			tell(c)
		}
	}
}
