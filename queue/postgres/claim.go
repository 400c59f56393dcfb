package postgres

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// Claim implements [driver.Claimer].
func (db *DB) Claim(ctx context.Context, req driver.ClaimRequest) (driver.ClaimResult, error) {
	if db.limited.Load() {
		return db.claimCarefully(ctx, req)
	}
	return db.claimFreely(ctx, req)
}

func beginClaim(ctx context.Context, tx *driver.WriteTx, req driver.ClaimRequest) error {
	if err := later(ctx, tx, beginClaims); err != nil {
		return err
	}
	return later(ctx, tx, ensureWorker, req.WorkerID, req.Now)
}

// claimCarefully sees to the chores first, keeps the limits, and passes over jobs that others hold.
func (db *DB) claimCarefully(ctx context.Context, req driver.ClaimRequest) (driver.ClaimResult, error) {
	// Limits reckon in what is stored.
	req.Now = dbtime.Truncate(req.Now)
	c := carefulClaim{req: req, putBack: db.clock.PutBack(req.Now)}
	if err := db.write(ctx, c.run); err != nil {
		return driver.ClaimResult{}, err
	}
	db.clock.Passed(req.Now)
	ahead := &c.ahead[0]
	db.limited.Store(ahead.limits)
	// What stands ready of types that have no room is held up by that, and looked at when there is room.
	if len(c.types.within(req.Types)) == 0 {
		ahead.ready = 0
	}
	result := answer(req, c.jobs, ahead)
	if result.More = result.More || c.more || c.keys.more; result.More {
		result.NextDue = time.Time{}
	} else {
		result.NextDue = earliest(result.NextDue, c.types.next(req.Types))
	}
	return result, nil
}

func look(ctx context.Context, tx *driver.WriteTx, ahead *[]outlook, req driver.ClaimRequest, counted int) error {
	asked, _ := columns(req.Types)
	return laterInto(ctx, tx, ahead, scanOutlook, lookAhead, req.Now, asked, counted)
}

func columns(types []driver.TypeCapacity) (names []string, rooms []int) {
	for _, t := range types {
		names, rooms = append(names, t.Type), append(rooms, t.Capacity)
	}
	return names, rooms
}

// An outlook is what there is to do after a claim.
type outlook struct {
	chores
	ready         int // jobs of the types that are left, not all of them counted
	nextDue, mark dbtime.Time
}

func scanOutlook(row jobsql.Scanner) (o outlook, err error) {
	err = row.Scan(append(o.dest(), &o.ready, &o.nextDue, &o.mark)...)
	return o, err
}

func answer(req driver.ClaimRequest, jobs []driver.Job, ahead *outlook) driver.ClaimResult {
	order(jobs)
	// Where nothing could be claimed of what is there, somebody holds it: looking again at once would find the same.
	left := (ahead.ready > 0 && len(req.Types) > 1) || ahead.expired || ahead.due || ahead.marks
	if len(jobs) == req.Limit || (len(jobs) > 0 && left) {
		return driver.ClaimResult{Jobs: jobs, More: true}
	}
	next := earliest(ahead.nextDue.Time, ahead.mark.Time)
	if len(jobs) == 0 && (ahead.ready > 0 || left) {
		// Who holds it may let go of it unchanged, and tells nobody then.
		next = earliest(next, req.Now.Add(heldUp))
	}
	return driver.ClaimResult{Jobs: jobs, NextDue: next}
}

// order puts jobs, which a statement returns in any order, into that of claims.
func order(jobs []driver.Job) {
	slices.SortFunc(jobs, func(a, b driver.Job) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), a.NotBefore.Compare(b.NotBefore), cmp.Compare(a.ID, b.ID))
	})
}

func earliest(times ...time.Time) (first time.Time) {
	for _, t := range times {
		if !t.IsZero() && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	return first
}
