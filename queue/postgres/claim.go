package postgres

import (
	"context"
	"slices"
	"time"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/joblimit"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// Claim implements [driver.Claimer].
func (db *engine) Claim(ctx context.Context, req driver.ClaimRequest) (driver.ClaimResult, error) {
	if db.limited.Load() {
		return db.claimLimited(ctx, req)
	}
	return db.claimFreely(ctx, req)
}

// claimLimited does the chores first, respects the limits, and skips jobs that others hold.
func (db *engine) claimLimited(ctx context.Context, req driver.ClaimRequest) (driver.ClaimResult, error) {
	// Limits use the instants that are stored.
	req.Now = dbtime.Truncate(req.Now)
	c := &limitedClaim{db: db, req: req, putBack: db.clock.PutBack(req.Now), typed: db.typed.Load(), depth: 1}
	if db.asksForHeld() {
		if err := c.lookForHeld(ctx, db); err != nil {
			return driver.ClaimResult{}, err
		}
	}
	for {
		if err := db.write(ctx, c.run); err != nil {
			return driver.ClaimResult{}, err
		}
		next, err := c.next(ctx, db)
		if err != nil {
			return driver.ClaimResult{}, err
		}
		if next == nil {
			db.clock.Passed(req.Now)
			return db.answerOf(c), nil
		}
		c = next
	}
}

// next returns the claim to try after one that has found nothing although there is something; nil if there is none.
func (c *limitedClaim) next(ctx context.Context, db *engine) (*limitedClaim, error) {
	next := &limitedClaim{db: db, req: c.req, typed: c.todo.types, depth: c.depth, pastHeld: c.pastHeld, asked: c.asked}
	fruitless := len(c.jobs) == 0 && c.ahead[0].ready > 0
	if fruitless && !c.pastHeld {
		next.pastHeld = true
		return next, nil
	}
	if fruitless && !c.asked {
		if err := next.lookForHeld(ctx, db); err != nil || len(next.held.ids) > 0 {
			return next, err
		}
	}
	if c.heldUp() && c.depth < depthsLimit {
		next.depth = min(c.depth*deeper, depthsLimit)
		return next, nil
	}
	return nil, nil
}

// lookForHeld has the claim ask for the jobs that have looked held for long.
func (c *limitedClaim) lookForHeld(ctx context.Context, db *engine) (err error) {
	c.asked = true
	c.held, err = db.lookForHeld(ctx, c.req)
	return err
}

// answerOf returns the result of a claim within limits.
func (db *engine) answerOf(c *limitedClaim) driver.ClaimResult {
	ahead := &c.ahead[0]
	db.limited.Store(ahead.limits || ahead.heads)
	db.typed.Store(ahead.types)
	result := db.answer(c.req, c.jobs, ahead)
	if result.More = result.More || (c.more && !c.heldUp()); result.More {
		result.NextDue = time.Time{}
	} else {
		result.NextDue = joblimit.Earliest(result.NextDue, c.types.Next(c.req.Types))
	}
	return result
}

// readRemainder returns the chores for the requested types, and the number of ready jobs of those with capacity.
func readRemainder(
	ctx context.Context, tx *driver.WriteTx, ahead *[]remainder, req driver.ClaimRequest, open []driver.TypeCapacity,
	counted int,
) error {
	asked, _ := columns(req.Types)
	names, _ := columns(open)
	return laterInto(ctx, tx, ahead, scanRemainder, selectRemainder, req.Now, asked, counted, names)
}

const (
	// heldUp is how long a claim waits for locked jobs, which may be released unchanged.
	heldUp = time.Second
	// claimedUp is the same for what another claim does, such as to examine a limit key.
	claimedUp = 50 * time.Millisecond
)

func columns(types []driver.TypeCapacity) (names []string, capacities []int) {
	for _, t := range types {
		names, capacities = append(names, t.Type), append(capacities, t.Capacity)
	}
	return names, capacities
}

// A remainder is the state after a claim.
type remainder struct {
	chores
	ready         int  // jobs of the types that are left, not all of them counted
	waiting       bool // jobs of the types may wait for keys that have capacity
	nextDue, mark jobsql.Instant
}

func scanRemainder(row jobsql.Scanner) (o remainder, err error) {
	err = row.Scan(append(o.dest(), &o.ready, &o.waiting, &o.nextDue, &o.mark)...)
	return o, err
}

func (db *engine) answer(req driver.ClaimRequest, jobs []driver.Job, ahead *remainder) driver.ClaimResult {
	order(jobs)
	if !ahead.due {
		db.dueHeld.Store(0)
	}
	// If no job could be claimed although there are some, others hold them: an immediate retry would find the same.
	left := (ahead.ready > 0 && len(req.Types) > 1) || ahead.expired || ahead.due || ahead.marks || ahead.waiting ||
		ahead.tasks || ahead.turns
	if len(jobs) == req.Limit || (len(jobs) > 0 && left) {
		return driver.ClaimResult{Jobs: jobs, More: true}
	}
	next := joblimit.Earliest(ahead.nextDue.Time, ahead.mark.Time)
	if ahead.ready > 0 || left {
		// A holder may release them unchanged, or have let them go after the claim looked, without a notification. Another
		// claim releases keys, or does tasks, soon.
		next = joblimit.Earliest(next, req.Now.Add(db.pause(ahead)))
	}
	return driver.ClaimResult{Jobs: jobs, NextDue: next}
}

// pause is how long a claim waits for what others hold. All machines look when a job falls due, and one takes in what
// is due, so that the others look again soon; less and less often where it is not a claim that holds it.
func (db *engine) pause(ahead *remainder) time.Duration {
	switch {
	case ahead.marks || ahead.waiting || ahead.tasks || ahead.turns:
		return claimedUp
	case ahead.due:
		return min(heldUp, claimedUp<<min(db.dueHeld.Add(1)-1, 5))
	}
	return heldUp
}

// order sorts jobs, which a statement returns in any order, in the order of claims.
func order(jobs []driver.Job) {
	slices.SortFunc(jobs, func(a, b driver.Job) int {
		return (&position{a.Priority, a.NotBefore, a.ID}).compare(&position{b.Priority, b.NotBefore, b.ID})
	})
}

// chores are the tasks of a claim before it claims; nearly always there are none.
type chores struct {
	expired, due  bool
	marks, heads  bool // jobs may wait for limit keys that have capacity
	types, limits bool // limits are set, of types, and any at all: the claim has to count
	tasks, turns  bool // about jobs of flows, and of sequences
}

func (c *chores) dest() []any {
	return []any{&c.expired, &c.due, &c.marks, &c.heads, &c.types, &c.limits, &c.tasks, &c.turns}
}

// change reports whether chores change which jobs are ready.
func (c *chores) change() bool { return c.expired || c.due || c.tasks || c.turns }

func scanChores(row jobsql.Scanner) (c chores, err error) {
	err = row.Scan(c.dest()...)
	return c, err
}

// portionOfChores bounds the rows that one claim expires, and that it promotes; it is that of the statements.
const portionOfChores = 1000

// left reports whether one of the chores has had all that it may do at a time, or may have opened a node, of which a
// process that listens hears.
func (db *engine) left(counts [3][]int) bool {
	if db.pooled && len(counts[0]) > 0 && counts[0][0] > 0 {
		return true
	}
	for i, portion := range [3]int{portionOfChores, portionOfChores, portionOfMarks} {
		if len(counts[i]) > 0 && counts[i][0] == portion {
			return true
		}
	}
	return false
}

// do does tasks, expires and promotes, and reports whether some are left for the next claim.
func (c *chores) do(ctx context.Context, db *engine, tx *driver.WriteTx, now time.Time) (more bool, err error) {
	var counts [3][]int
	switch {
	case c.tasks:
		more, err = db.DoTasks(ctx, tx)
	case c.turns:
		err = giveTurnsLater(ctx, tx, &counts[2])
	}
	if err != nil {
		return false, err
	}
	c.due = c.due || c.tasks || c.turns
	if c.expired {
		if err := laterInto(ctx, tx, &counts[0], scanCount, expireJobs, now); err != nil {
			return false, err
		}
	}
	if c.due {
		if err := laterInto(ctx, tx, &counts[1], scanCount, promoteJobs, now); err != nil {
			return false, err
		}
	}
	err = flush(ctx, tx)
	return more || db.left(counts), err
}
