package joblimit

import (
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
)

// A Usage is the limit of a type or a limit key, and how much of it is used.
type Usage struct {
	Name    string
	Limit   Limit
	Arrival time.Time // the state of the rate
	Running int

	Capacity // of the claim that has read it

	moved bool // the arrival is not what is stored
}

// Usages are the usages of types, or of limit keys, that a claim has read. Nil Standings limit nothing.
type Usages struct {
	kind   driver.TargetKind
	now    time.Time
	byName map[string]*Usage
}

// NewUsages returns empty Standings for a claim at the given time, in whole microseconds.
func NewUsages(kind driver.TargetKind, now time.Time) *Usages {
	return &Usages{kind: kind, now: now, byName: make(map[string]*Usage)}
}

// Kind returns the kind of the limits' targets.
func (s *Usages) Kind() driver.TargetKind { return s.kind }

// Now returns the time of the claim.
func (s *Usages) Now() time.Time { return s.now }

// Len returns the number of usages.
func (s *Usages) Len() int { return len(s.byName) }

// Add adds a usage, and corrects its rate if that is too far ahead.
func (s *Usages) Add(read Usage) *Usage {
	one := &read
	one.arrive(one.Limit.Settle(one.Arrival, s.now))
	one.left, _ = one.Limit.Free(one.Running, one.Arrival, s.now)
	s.byName[one.Name] = one
	return one
}

// Of returns the usage of the name; nil if it was not read.
func (s *Usages) Of(name string) *Usage {
	if s == nil {
		return nil
	}
	return s.byName[name]
}

// All yields each usage, in no order.
func (s *Usages) All(yield func(*Usage) bool) {
	for _, one := range s.byName {
		if !yield(one) {
			return
		}
	}
}

// Start records that n jobs of the name have started. It ignores names that were not read.
func (s *Usages) Start(name string, n int) {
	one := s.Of(name)
	if one == nil {
		return
	}
	one.Running += n
	if one.Limit.Rate > 0 && n > 0 {
		one.arrive(one.Limit.Arrive(one.Arrival, s.now, n))
	}
}

// Again returns when the rate of a usage that permits no start now permits the next. It is zero if a start is permitted
// now, or if something other than a rate forbids it: the end of a job, or a change of the limit, marks the key.
func (s *Usages) Again(one *Usage) time.Time {
	free, again := one.Limit.Free(one.Running, one.Arrival, s.now)
	if free > 0 {
		return time.Time{}
	}
	return again
}

// Moved returns the usages with changed rates that must be stored, by name.
func (s *Usages) Moved() (moved []*Usage) {
	if s == nil {
		return nil
	}
	for _, one := range s.byName {
		if one.moved {
			moved = append(moved, one)
		}
	}
	slices.SortFunc(moved, func(a, b *Usage) int { return strings.Compare(a.Name, b.Name) })
	return moved
}

func (s *Usage) arrive(at time.Time) {
	s.moved = s.moved || !at.Equal(s.Arrival)
	s.Arrival = at
}
