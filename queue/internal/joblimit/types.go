package joblimit

import (
	"time"

	"github.com/postroom-go/postroom/queue/driver"
)

// Types are the limits of types over all machines. Nil Types limit nothing.
type Types struct{ *Usages }

// Within returns the requested types with the capacities that their limits permit, without those that have none.
func (t Types) Within(asked []driver.TypeCapacity) (open []driver.TypeCapacity) {
	switch {
	case t.Usages == nil || t.Len() == 0:
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

// Next returns when a rate next permits one of the types that it holds back; zero if there is none. All starts that the
// rates permit now have been claimed.
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
