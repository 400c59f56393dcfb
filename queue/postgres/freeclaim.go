package postgres

import (
	"context"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// A freeClaim is a claim without limits: it waits for no other claim, and takes one round trip. Its statement does
// nothing if it finds chores, such as jobs that have become due.
type freeClaim struct {
	db             *engine
	req            driver.ClaimRequest
	depth          int
	readsRemainder bool // at what there is to do after it
	tidy           bool // what is due and expired is seen to first
	turns          bool // of sequences are likely to be given, as far as is known before the claim
	asked          bool // for what looks held

	tasks  bool     // of flows are left
	counts [3][]int // of what has expired, and has become due, and of the marks of sequences
	jobs   []driver.Job
	ahead  []remainder
}

// Jobs of many types are looked for among so many times as many as are asked for, each time that others hold all of
// them: first past the claims of a few other machines, then of many, then past whatever a program's own transaction
// holds.
const (
	firstDepth  = 2
	deeper      = 64
	depthsLimit = 1 << 14
)

// claimFreely claims, and retries if one claim does not show the whole state. A claim that got everything that it
// requested does not need the next due time, and expects that after the last one did.
func (db *engine) claimFreely(ctx context.Context, req driver.ClaimRequest) (driver.ClaimResult, error) {
	busy := db.busy.Load()
	c := freeClaim{db: db, req: req, depth: firstDepth, readsRemainder: !busy, turns: db.turns.Swap(false)}
	c.tidy = c.turns
	if db.asksForHeld() {
		c.asked = true
		if jobs, err := db.claimHeld(ctx, req); err != nil || len(jobs) > 0 {
			return driver.ClaimResult{Jobs: jobs, More: true}, err
		}
	}
	for {
		if err := db.write(ctx, c.run); err != nil {
			return driver.ClaimResult{}, err
		}
		full := len(c.jobs) == c.req.Limit || c.req.Reached(c.jobs)
		db.busy.Store(full)
		switch {
		case full:
			order(c.jobs)
			return driver.ClaimResult{Jobs: c.jobs, More: true}, nil
		case len(c.jobs) > 0 && !c.readsRemainder:
			order(c.jobs)
			return driver.ClaimResult{Jobs: c.jobs, More: true}, nil
		case len(c.jobs) > 0:
			return c.answer(), nil
		case !c.readsRemainder:
			c.readsRemainder = true
		case c.ahead[0].limits || c.ahead[0].marks || c.ahead[0].heads:
			return db.claimLimited(ctx, req)
		case !c.tidy && c.ahead[0].change() || c.turns && c.ahead[0].tasks:
			c.tidy, c.turns = true, false
		case !c.asked && c.ahead[0].ready > 0:
			c.asked = true
			if jobs, err := db.claimHeld(ctx, req); err != nil || len(jobs) > 0 {
				return driver.ClaimResult{Jobs: jobs, More: true}, err
			}
		case c.heldUp() && c.depth < depthsLimit:
			c.depth = min(c.depth*deeper, depthsLimit)
		default:
			return c.answer(), nil
		}
	}
}

func (c *freeClaim) run(ctx context.Context, tx *driver.WriteTx) error {
	if err := later(ctx, tx, shareClaims); err != nil {
		return err
	}
	if err := later(ctx, tx, jobsql.EnsureWorker, c.req.WorkerID, c.req.Now); err != nil {
		return err
	}
	if err := c.tidyUp(ctx, tx); err != nil {
		return err
	}
	if err := c.claim(ctx, tx); err != nil || !c.readsRemainder {
		return err
	}
	return readRemainder(ctx, tx, &c.ahead, c.req, c.req.Types, c.portion()+1)
}

// tidyUp does what a claim has to see to before it claims, if there is anything.
func (c *freeClaim) tidyUp(ctx context.Context, tx *driver.WriteTx) (err error) {
	if !c.tidy {
		return nil
	}
	switch {
	case c.turns || c.ahead[0].turns && !c.ahead[0].tasks:
		err = giveTurnsLater(ctx, tx, &c.counts[2])
	case c.ahead[0].tasks:
		c.tasks, err = c.db.DoTasks(ctx, tx)
	}
	if err != nil {
		return err
	}
	if err := laterInto(ctx, tx, &c.counts[0], scanCount, expireJobs, c.req.Now); err != nil {
		return err
	}
	return laterInto(ctx, tx, &c.counts[1], scanCount, promoteJobs, c.req.Now)
}

func (c *freeClaim) claim(ctx context.Context, tx *driver.WriteTx) error {
	ofType, ofTypes := claimOfType, claimOfTypes
	if c.tidy {
		ofType, ofTypes = claimOfTypeAfter, claimOfTypesAfter
	}
	names, capacities := columns(c.req.Types)
	if len(names) == 1 {
		return laterJobs(ctx, tx, &c.jobs, ofType, c.req.WorkerID, c.req.Now, names[0], min(capacities[0], c.req.Limit),
			c.req.Bytes)
	}
	return laterJobs(ctx, tx, &c.jobs, ofTypes, c.req.WorkerID, c.req.Now, names, capacities, c.req.Limit, c.depth,
		c.req.Bytes)
}

// portion is the minimum number of jobs of each type that a claim of many types examines.
func (c *freeClaim) portion() int {
	if len(c.req.Types) == 1 {
		return 0
	}
	return max(10, c.depth*c.req.Limit/len(c.req.Types))
}

// heldUp reports whether others hold all examined jobs, and there are more.
func (c *freeClaim) heldUp() bool { return len(c.req.Types) > 1 && c.ahead[0].ready > c.portion() }

func (c *freeClaim) answer() driver.ClaimResult {
	result := c.db.answer(c.req, c.jobs, &c.ahead[0])
	if c.tasks || c.db.left(c.counts) {
		return driver.ClaimResult{Jobs: result.Jobs, More: true}
	}
	return result
}
