package postgres

import (
	"context"
	"slices"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/joblimit"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// A limitedClaim is a claim with chores or limits. It takes two round trips: one reads the candidates and the state of
// the limits, the other claims. Limits of types, and chores, take more.
type limitedClaim struct {
	db       *engine
	req      driver.ClaimRequest
	putBack  bool // the clock may have been
	typed    bool // types are limited, as far as is known
	pastHeld bool // looks at every type, since others hold the first jobs of some
	held     heldColumns
	asked    bool // for what looks held
	depth    int  // the number of examined heads, as a multiple of the requested jobs

	todo  chores
	types joblimit.Types
	open  []driver.TypeCapacity // the types that have capacity
	keys  *examinedKeys
	more  bool // the claim has not examined everything

	jobs  []driver.Job
	ahead []remainder
}

func (c *limitedClaim) run(ctx context.Context, tx *driver.WriteTx) error {
	if err := later(ctx, tx, beginClaims); err != nil {
		return err
	}
	if err := later(ctx, tx, jobsql.EnsureWorker, c.req.WorkerID, c.req.Now); err != nil {
		return err
	}
	places, err := c.choose(ctx, tx)
	if err != nil {
		return err
	}
	taken := c.take(places)
	if err := c.claim(ctx, tx, taken); err != nil {
		return err
	}
	if len(taken) == c.req.Limit {
		// A claim that got everything that it requested is repeated at once, so the next due time is not needed.
		c.ahead = []remainder{{chores: c.todo}}
		return nil
	}
	if c.todo.change() {
		// Another claim may have seen to what this one has found under way. It wakes nobody.
		if err := later(ctx, tx, countReady); err != nil {
			return err
		}
	}
	return readRemainder(ctx, tx, &c.ahead, c.req, c.open, 1)
}

// heldUp reports whether others hold all jobs of the examined keys, and there are more keys.
func (c *limitedClaim) heldUp() bool { return len(c.jobs) == 0 && c.keys.end != nil && !c.keys.changed }

// choose finds the jobs to claim. If there are chores, or limits of types, it chooses again after them.
func (c *limitedClaim) choose(ctx context.Context, tx *driver.WriteTx) (places []place, err error) {
	var todo []chores
	if c.putBack {
		if err := later(ctx, tx, hastenMarks, joblimit.AtOnce, c.req.Now); err != nil {
			return nil, err
		}
	}
	if err := laterInto(ctx, tx, &todo, scanChores, selectChores, c.req.Now); err != nil {
		return nil, err
	}
	c.open, c.types = c.req.Types, joblimit.Types{}
	if c.typed {
		err = flush(ctx, tx)
	} else {
		places, err = c.find(ctx, tx)
	}
	if err != nil {
		return nil, err
	}
	c.todo = todo[0]
	if !c.typed && !c.todo.types && !c.todo.change() {
		return places, nil
	}
	if err := c.seeTo(ctx, tx); err != nil {
		return nil, err
	}
	c.open = c.types.Within(c.req.Types)
	return c.find(ctx, tx)
}

// seeTo does the chores and reads the limits of types.
func (c *limitedClaim) seeTo(ctx context.Context, tx *driver.WriteTx) (err error) {
	if c.todo.change() {
		if c.more, err = c.todo.do(ctx, c.db, tx, c.req.Now); err != nil {
			return err
		}
	}
	if !c.todo.types {
		return nil
	}
	asked, _ := columns(c.req.Types)
	c.types, err = readTypeLimits(ctx, tx, asked, c.req.Now)
	return err
}

// A place is the position of a locked job that a claim may take.
type place struct {
	ctid, jobType string
	at            position
	size          int   // of the payload, in bytes; 0 if it is not known
	lane          *lane // nil of a job that waits for no key
}

func scanPlace(row jobsql.Scanner) (p place, err error) {
	var notBefore jobsql.Instant
	err = row.Scan(&p.ctid, &p.jobType, &p.at.priority, &notBefore, &p.at.id, &p.size)
	p.at.notBefore = notBefore.Time
	return p, err
}

// find locks what is ready, the keys that are marked, the first of those that have something to claim, and what may be
// claimed of them. It returns all that may be claimed, in its order.
func (c *limitedClaim) find(ctx context.Context, tx *driver.WriteTx) ([]place, error) {
	var found []foundRow
	names, capacities := columns(c.open)
	marks, heads := 40+4*c.req.Limit, c.depth*(c.req.Limit+10)
	ofType := max(10, min(heads, 4*heads/max(1, len(names))))
	var places, held []place
	if err := c.findReady(ctx, tx, &places, &held); err != nil {
		return nil, err
	}
	if err := laterInto(ctx, tx, &found, scanFound, lockHeads, c.req.Now, marks, names, ofType, heads); err != nil {
		return nil, err
	}
	lanes, err := query(ctx, tx, scanLaneRow, readLanes, c.req.Now, names, capacities, c.req.Limit)
	if err != nil {
		return nil, err
	}
	if lanes, err = c.pastLanesHeld(ctx, tx, lanes); err != nil {
		return nil, err
	}
	c.keys = newExaminedKeys(found, c.req.Now)
	c.more = c.more || c.keys.marks == marks
	slices.SortFunc(places, comparePlaces)
	if n := len(places); len(names) > 1 && n >= 10 && n < c.req.Limit {
		c.keys.until(places[n-1].at) // of each type the first ten have been read, at least
	}
	open := c.capacities()
	// What looks held is sought before the limits of types are known.
	held = slices.DeleteFunc(held, func(p place) bool { return open[p.jobType] == 0 })
	places = slices.Concat(places, held, c.keys.have(lanes, open, c.req.Limit))
	slices.SortFunc(places, comparePlaces)
	return places, nil
}

// findReady locks what is ready, and then what only looks held: by then those that it had locked would look free.
func (c *limitedClaim) findReady(ctx context.Context, tx *driver.WriteTx, ready, held *[]place) error {
	text := selectPlaces
	if c.pastHeld {
		text = selectPlacesPastHeld
	}
	names, capacities := columns(c.open)
	err := laterInto(ctx, tx, ready, scanPlace, text, c.req.WorkerID, c.req.Now, names, capacities, c.req.Limit)
	if err != nil || len(c.held.ids) == 0 {
		return err
	}
	return laterInto(ctx, tx, held, scanPlace, selectPlacesHeld, c.req.WorkerID, c.req.Now, c.held.ids, c.held.holders)
}

// pastLanesHeld returns the lanes as they are past the jobs that other transactions hold.
func (c *limitedClaim) pastLanesHeld(ctx context.Context, tx *driver.WriteTx, lanes []laneRow) ([]laneRow, error) {
	for i := range lanes {
		if lanes[i].held() {
			names, capacities := columns(c.open)
			return query(ctx, tx, scanLaneRow, readLanesPastLocks, c.req.Now, names, capacities, c.req.Limit)
		}
	}
	return lanes, nil
}

func comparePlaces(p, q place) int { return p.at.compare(&q.at) }

// capacities are those of the open types.
func (c *limitedClaim) capacities() map[string]int {
	of := make(map[string]int, len(c.open))
	for _, t := range c.open {
		of[t.Type] = t.Capacity
	}
	return of
}

// take selects the jobs that the limits permit, in order.
func (c *limitedClaim) take(places []place) (taken []place) {
	left := make(map[string]*joblimit.Capacity, len(c.open))
	for _, t := range c.open {
		left[t.Type] = joblimit.NewCapacity(t.Capacity)
	}
	size := 0
	for _, p := range places {
		if len(taken) == c.req.Limit {
			break
		}
		if c.req.Bytes > 0 && size >= c.req.Bytes {
			c.more = true
			break
		}
		if c.keys.end != nil && p.at.compare(c.keys.end) > 0 {
			break
		}
		bounds := joblimit.Bounds{Type: left[p.jobType]}
		if p.lane != nil {
			bounds.Key = &p.lane.key.usage.Capacity
		}
		if !bounds.Take() {
			continue
		}
		if p.lane != nil {
			p.lane.taken++
		}
		taken, size = append(taken, p), size+p.size
	}
	c.more = c.more || c.keys.end != nil
	return taken
}

// claim claims the places, and stores the new state of the limits.
func (c *limitedClaim) claim(ctx context.Context, tx *driver.WriteTx, taken []place) error {
	if len(taken) > 0 {
		ctids := make([]string, len(taken))
		for i := range taken {
			ctids[i] = taken[i].ctid
		}
		if err := laterJobs(ctx, tx, &c.jobs, claimPlaces, c.req.WorkerID, c.req.Now, ctids); err != nil {
			return err
		}
	}
	if err := c.keys.settle(ctx, tx); err != nil {
		return err
	}
	return spendTypes(ctx, tx, c.types, taken)
}
