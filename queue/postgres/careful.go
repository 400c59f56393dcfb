package postgres

import (
	"context"

	"github.com/postroom-go/postroom/queue/driver"
)

// A carefulClaim is one that has chores to do or limits to keep. It takes three round trips where there are limits: what
// there is to see to, and how the limits stand; what may be claimed; the claim.
type carefulClaim struct {
	req     driver.ClaimRequest
	putBack bool // the clock may have been

	todo  chores
	types *typeLimits
	keys  admission
	more  bool // some of the chores are left, or what was dropped has left its place to another

	jobs  []driver.Job
	ahead []outlook
}

func (c *carefulClaim) run(ctx context.Context, tx *driver.WriteTx) error {
	if err := beginClaim(ctx, tx, c.req); err != nil {
		return err
	}
	if err := c.seeTo(ctx, tx); err != nil {
		return err
	}
	var places []place
	if types := c.types.within(c.req.Types); len(types) > 0 {
		var err error
		if places, err = c.find(ctx, tx, types); err != nil {
			return err
		}
	} else if err := flush(ctx, tx); err != nil {
		return err
	}
	if err := c.keys.end(ctx, tx); err != nil {
		return err
	}
	claimed, err := c.claim(ctx, tx, places)
	if err != nil || claimed == c.req.Limit {
		// Who got all that was asked for comes again at once: what lies ahead need not be known.
		c.ahead = []outlook{{chores: chores{limits: c.todo.limits}}}
		return err
	}
	return look(ctx, tx, &c.ahead, c.req, 1)
}

// seeTo does the chores, reads the limits of types and begins to admit what the marked keys have room for.
func (c *carefulClaim) seeTo(ctx context.Context, tx *driver.WriteTx) error {
	var todo []chores
	var marked []markedKey
	var limited []standing
	c.keys.now = c.req.Now
	if c.putBack {
		if err := later(ctx, tx, hastenMarks, atOnce, c.req.Now); err != nil {
			return err
		}
	}
	if err := laterInto(ctx, tx, &todo, scanChores, selectChores, c.req.Now); err != nil {
		return err
	}
	if err := laterInto(ctx, tx, &marked, scanMarked, takeMarks, c.req.Now); err != nil {
		return err
	}
	asked, _ := columns(c.req.Types)
	if err := laterInto(ctx, tx, &limited, scanStanding, selectTypeLimits, asked); err != nil {
		return err
	}
	running, err := query(ctx, tx, scanTypeCount, countRunning)
	if err != nil {
		return err
	}
	c.types = newTypeLimits(limited, running, c.req.Now)
	if c.todo = todo[0]; c.todo.expired || c.todo.due {
		if c.more, err = c.todo.do(ctx, tx, c.req.Now); err != nil {
			return err
		}
		// Both may have marked keys.
		again, err := query(ctx, tx, scanMarked, takeMarks, c.req.Now)
		if err != nil {
			return err
		}
		marked = append(marked, again...)
	}
	return c.keys.begin(ctx, tx, marked)
}

// find locks what may be claimed but for the limits of keys. Where all of that is held by others, it passes over it.
func (c *carefulClaim) find(ctx context.Context, tx *driver.WriteTx, types []driver.TypeCapacity) ([]place, error) {
	names, rooms := columns(types)
	places, err := query(ctx, tx, scanPlace, selectPlaces, c.req.WorkerID, c.req.Now, names, rooms, c.req.Limit)
	if err != nil || len(places) > 0 {
		return places, err
	}
	return query(ctx, tx, scanPlace, selectPlacesPastLocks, c.req.WorkerID, c.req.Now, names, rooms, c.req.Limit)
}

// claim takes what the limits of keys let run of the places, and returns how many that are.
func (c *carefulClaim) claim(ctx context.Context, tx *driver.WriteTx, places []place) (claimed int, err error) {
	keys := newKeyLimits(places, c.req.Now)
	fitting, err := keys.within(ctx, tx, places)
	if err != nil {
		return 0, err
	}
	c.more = c.more || len(fitting) < len(places)
	if len(fitting) > 0 {
		ctids := make([]string, len(fitting))
		for i := range fitting {
			ctids[i] = fitting[i].ctid
		}
		if err := laterJobs(ctx, tx, &c.jobs, claimPlaces, c.req.WorkerID, c.req.Now, ctids); err != nil {
			return 0, err
		}
	}
	var again marks
	if err := keys.spend(ctx, tx, fitting, &again); err != nil {
		return 0, err
	}
	if err := c.types.spend(ctx, tx, fitting); err != nil {
		return 0, err
	}
	return len(fitting), again.writeOnce(ctx, tx)
}
