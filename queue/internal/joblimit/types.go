package joblimit

import (
	"time"

	"github.com/postroom-go/postroom/queue/driver"
)

// Types are the limits of types over all machines. Nil ones limit nothing.
type Types struct{ *Standings }

// Within returns the types with the capacities that their limits leave of those asked for, without those that have none.
func (t Types) Within(asked []driver.TypeCapacity) (open []driver.TypeCapacity) {
	switch {
	case t.Standings == nil || t.Len() == 0:
		return asked
	case t.allPaused():
		return nil
	}
	for _, one := range asked {
		if s := t.Of(one.Type); s != nil {
			one.Capacity = min(one.Capacity, s.Left())
		}
		if one.Capacity > 0 {
			open = append(open, one)
		}
	}
	return open
}

// Next returns when the first of the types that a rate keeps back is allowed again; zero if there is none. What the rates allow
// has been claimed.
func (t Types) Next(asked []driver.TypeCapacity) (first time.Time) {
	if t.allPaused() {
		return first
	}
	for _, one := range asked {
		if s := t.Of(one.Type); s != nil {
			first = Earliest(first, t.Again(s))
		}
	}
	return first
}

func (t Types) allPaused() bool {
	all := t.Of(driver.AllTypes)
	return all != nil && all.Limit.Paused
}
