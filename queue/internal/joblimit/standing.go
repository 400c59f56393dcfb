package joblimit

import (
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
)

// A Standing is the limit of a type or a limit key, and how much of it is used.
type Standing struct {
	Name    string
	Limit   Limit
	Arrival time.Time // where the rate stands
	Running int

	Capacity // of the claim that has read it

	moved bool // the arrival is not what is stored
}

// Standings are those that a claim has read of types, or of limit keys. Nil ones limit nothing.
type Standings struct {
	kind   driver.TargetKind
	now    time.Time
	byName map[string]*Standing
}

// NewStandings returns none, for a claim at the given time, in whole microseconds.
func NewStandings(kind driver.TargetKind, now time.Time) *Standings {
	return &Standings{kind: kind, now: now, byName: make(map[string]*Standing)}
}

// Kind is what the limits are of.
func (s *Standings) Kind() driver.TargetKind { return s.kind }

// Now is the time of the claim.
func (s *Standings) Now() time.Time { return s.now }

// Len returns how many there are.
func (s *Standings) Len() int { return len(s.byName) }

// Add adds what has been read, and puts its rate where it can be, when it is further ahead.
func (s *Standings) Add(read Standing) *Standing {
	one := &read
	one.arrive(one.Limit.Settle(one.Arrival, s.now))
	one.left, _ = one.Limit.Free(one.Running, one.Arrival, s.now)
	s.byName[one.Name] = one
	return one
}

// Of returns that of the name; nil where it has not been read.
func (s *Standings) Of(name string) *Standing {
	if s == nil {
		return nil
	}
	return s.byName[name]
}

// All calls yield with each, in no order.
func (s *Standings) All(yield func(*Standing) bool) {
	for _, one := range s.byName {
		if !yield(one) {
			return
		}
	}
}

// Start notes that n jobs of the name have started. It is nothing for names that have not been read.
func (s *Standings) Start(name string, n int) {
	one := s.Of(name)
	if one == nil {
		return
	}
	one.Running += n
	if one.Limit.Rate > 0 && n > 0 {
		one.arrive(one.Limit.Arrive(one.Arrival, s.now, n))
	}
}

// Again returns, of what allows no start now, when its rate allows the next; zero where it does now, or where something else
// than a rate forbids it: what ends, or changes the limit, has the key looked at by itself.
func (s *Standings) Again(one *Standing) time.Time {
	free, again := one.Limit.Free(one.Running, one.Arrival, s.now)
	if free > 0 {
		return time.Time{}
	}
	return again
}

// Moved returns those whose rates have moved and are to be stored, by name.
func (s *Standings) Moved() (moved []*Standing) {
	if s == nil {
		return nil
	}
	for _, one := range s.byName {
		if one.moved {
			moved = append(moved, one)
		}
	}
	slices.SortFunc(moved, func(a, b *Standing) int { return strings.Compare(a.Name, b.Name) })
	return moved
}

func (s *Standing) arrive(at time.Time) {
	s.moved = s.moved || !at.Equal(s.Arrival)
	s.Arrival = at
}
