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

// Claim implements [driver.Claimer]. It is one round trip: the statement that claims does nothing when it finds that there
// is something to see to first, such as jobs that have become due; only then the long way is gone.
func (db *DB) Claim(ctx context.Context, req driver.ClaimRequest) (driver.ClaimResult, error) {
	if db.limited.Load() {
		return db.claimCarefully(ctx, req)
	}
	var jobs []driver.Job
	var ahead []outlook
	err := db.write(ctx, func(ctx context.Context, tx *driver.WriteTx) error {
		if err := beginClaim(ctx, tx, req); err != nil {
			return err
		}
		return claimInto(ctx, tx, &jobs, &ahead, req)
	})
	if err != nil {
		return driver.ClaimResult{}, err
	}
	if len(jobs) == 0 && (ahead[0].any() || (ahead[0].ready && len(req.Types) > 1)) {
		return db.claimCarefully(ctx, req)
	}
	return answer(req, jobs, &ahead[0]), nil
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
	ahead.ready = ahead.ready && len(c.types.within(req.Types)) > 0
	result := answer(req, c.jobs, ahead)
	if result.More = result.More || c.more || c.keys.more; result.More {
		result.NextDue = time.Time{}
	} else {
		result.NextDue = earliest(result.NextDue, c.types.next(req.Types))
	}
	return result, nil
}

// claimInto has the jobs, and what lies ahead, when the transaction has been flushed or has committed.
func claimInto(ctx context.Context, tx *driver.WriteTx, jobs *[]driver.Job, ahead *[]outlook, req driver.ClaimRequest) error {
	var err error
	if names, rooms := columns(req.Types); len(names) == 1 {
		err = laterJobs(ctx, tx, jobs, claimOfType, req.WorkerID, req.Now, names[0], min(rooms[0], req.Limit))
	} else {
		err = laterJobs(ctx, tx, jobs, claimOfTypes, req.WorkerID, req.Now, names, rooms, req.Limit)
	}
	if err != nil {
		return err
	}
	return look(ctx, tx, ahead, req)
}

func look(ctx context.Context, tx *driver.WriteTx, ahead *[]outlook, req driver.ClaimRequest) error {
	asked, _ := columns(req.Types)
	return laterInto(ctx, tx, ahead, scanOutlook, lookAhead, req.Now, asked)
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
	ready         bool // some jobs of the types are left
	nextDue, mark dbtime.Time
}

func scanOutlook(row jobsql.Scanner) (o outlook, err error) {
	err = row.Scan(append(o.dest(), &o.ready, &o.nextDue, &o.mark)...)
	return o, err
}

func answer(req driver.ClaimRequest, jobs []driver.Job, ahead *outlook) driver.ClaimResult {
	slices.SortFunc(jobs, func(a, b driver.Job) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), a.NotBefore.Compare(b.NotBefore), cmp.Compare(a.ID, b.ID))
	})
	// Where nothing could be claimed of what is there, somebody holds it: looking again at once would find the same.
	left := (ahead.ready && len(req.Types) > 1) || ahead.expired || ahead.due || ahead.marks
	if len(jobs) == req.Limit || (len(jobs) > 0 && left) {
		return driver.ClaimResult{Jobs: jobs, More: true}
	}
	next := earliest(ahead.nextDue.Time, ahead.mark.Time)
	if len(jobs) == 0 && (ahead.ready || left) {
		// Who holds it may let go of it unchanged, and tells nobody then.
		next = earliest(next, req.Now.Add(heldUp))
	}
	return driver.ClaimResult{Jobs: jobs, NextDue: next}
}

func earliest(times ...time.Time) (first time.Time) {
	for _, t := range times {
		if !t.IsZero() && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	return first
}
