package queue

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// WithPool has the jobs of the type run in the slots of a pool of [DispatcherConfig].Pools, which its types share,
// instead of those of Workers.
func WithPool(name string) HandlerOption {
	return HandlerOption{func(h *handler) error {
		if name == "" {
			return errors.New("WithPool: the name is empty")
		}
		h.pool = name
		return nil
	}}
}

// A pool is a number of slots and the jobs of its types that this process has claimed. Without [DispatcherConfig].Pools
// there is none; with them, the types without a pool have one without a name.
type pool struct {
	size     int
	active   int      // claimed, and the handler has not returned
	admitted int      // in the backlog, apart, or running
	waiting  []*entry // for a slot of the pool
}

// pools returns the pools of a configuration, and the number of all slots.
func poolsOf(cfg *DispatcherConfig) (pools map[string]*pool, slots int) {
	if slots = cfg.Workers; len(cfg.Pools) == 0 {
		return nil, slots
	}
	pools = map[string]*pool{"": {size: cfg.Workers}}
	for name, size := range cfg.Pools {
		pools[name] = &pool{size: size}
		slots += size
	}
	return pools, slots
}

func validPools(pools map[string]int) error {
	for _, name := range slices.Sorted(maps.Keys(pools)) {
		if name == "" || pools[name] < 1 {
			return fmt.Errorf("queue: DispatcherConfig.Pools[%q] is %d; a pool has a name and at least 1 slot", name,
				pools[name])
		}
	}
	return nil
}

// unknownPools returns the errors of handlers whose pools are not configured.
func (d *Dispatcher) unknownPools() error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(d.handlers)) {
		if h := d.handlers[name]; h.pool != "" && d.cfg.Pools[h.pool] == 0 {
			errs = append(errs, fmt.Errorf("queue: handler %q: WithPool(%q): DispatcherConfig.Pools has no such pool", name,
				h.pool))
		}
	}
	return errors.Join(errs...)
}

// room is how many more jobs of the pool the process may claim, some of them ahead.
func (s *runningSet) room(name string, ahead int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pools[name]
	if p == nil {
		return maxCapacity
	}
	return p.size - p.active + ahead
}

// queue puts a claimed job into the backlog, or has it wait for a slot of its pool.
func (s *runningSet) queue(e *entry) {
	if e.pool != nil && e.pool.admitted >= e.pool.size {
		e.pool.waiting = append(e.pool.waiting, e)
		return
	}
	e.enter()
	s.backlog = append(s.backlog, e)
}

// enter takes a slot of the entry's pool.
func (e *entry) enter() {
	if e.pool != nil {
		e.pool.admitted++
		e.admitted = true
	}
}

// exit frees the slot of the entry's pool for the next that waits.
func (s *runningSet) exit(e *entry) {
	if !e.admitted {
		return
	}
	p := e.pool
	e.admitted = false
	p.admitted--
	for len(p.waiting) > 0 && p.admitted < p.size {
		next := p.waiting[0]
		p.waiting[0] = nil
		p.waiting = p.waiting[1:]
		s.queue(next)
	}
}

// unclaimWaiting takes out the jobs that wait for slots of their pools, of those pools where the first has waited since
// before the given time.
func (s *runningSet) unclaimWaiting(before time.Time) (left []*Attempt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.pools {
		if len(p.waiting) > 0 && p.waiting[0].claimed.Before(before) {
			left = append(left, s.dismiss(p)...)
		}
	}
	return left
}

// dismiss takes out all that wait for a slot of the pool.
func (s *runningSet) dismiss(p *pool) (left []*Attempt) {
	waiting := p.waiting
	p.waiting = nil
	for _, e := range waiting {
		left = append(left, s.release(e))
	}
	return left
}

// capacityOf is how many more jobs of a type the process may claim.
func (c *claimer) capacityOf(name string, h *handler, ahead int) int {
	own := maxCapacity
	if h.concurrency > 0 {
		own = h.concurrency - c.running.activeOf(name)
	}
	return min(own, c.running.room(h.pool, ahead))
}

// poolWait is how long a job waits in this process for a slot of its pool before it is given back.
const poolWait = time.Second

// bounded reports whether an end of a job may make room for a type that had none.
func (c *claimer) bounded() bool { return c.running.pools != nil || c.handlers.bounded() }

// count adds to the number of jobs of the entry's type, and of its pool, that are claimed and have not returned.
func (s *runningSet) count(e *entry, more int) {
	s.active[e.attempt.job.Type] += more
	if e.pool != nil {
		e.pool.active += more
	}
}

// poolFor is the pool of a handler; nil without pools.
func (s *runningSet) poolFor(h *handler) *pool { return cmp.Or(s.pools[h.pool], s.pools[""]) }
