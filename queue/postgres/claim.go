package postgres

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/jobrow"
	"github.com/postroom-go/postroom/queue"
)

// Claim implements [queue.Claimer].
func (db *DB) Claim(ctx context.Context, req queue.ClaimRequest) (queue.ClaimResult, error) {
	if db.limited.Load() {
		return db.claimCarefully(ctx, req)
	}
	return db.claimFreely(ctx, req)
}

func beginClaim(ctx context.Context, tx *queue.Tx, req queue.ClaimRequest) error {
	if err := later(ctx, tx, beginClaims); err != nil {
		return err
	}
	return later(ctx, tx, ensureWorker, req.WorkerID, req.Now)
}

// claimCarefully sees to the chores first, keeps the limits, and passes over jobs that others hold.
func (db *DB) claimCarefully(ctx context.Context, req queue.ClaimRequest) (queue.ClaimResult, error) {
	// Limits reckon in what is stored.
	req.Now = dbtime.Truncate(req.Now)
	c := carefulClaim{req: req, putBack: db.clock.PutBack(req.Now)}
	if err := db.Write(ctx, c.run); err != nil {
		return queue.ClaimResult{}, err
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

func look(ctx context.Context, tx *queue.Tx, ahead *[]outlook, req queue.ClaimRequest, counted int) error {
	asked, _ := columns(req.Types)
	return laterInto(ctx, tx, ahead, scanOutlook, lookAhead, req.Now, asked, counted)
}

func columns(types []queue.TypeRoom) (names []string, rooms []int) {
	for _, t := range types {
		names, rooms = append(names, t.Type), append(rooms, t.Room)
	}
	return names, rooms
}

// An outlook is what there is to do after a claim.
type outlook struct {
	chores
	ready         int // jobs of the types that are left, not all of them counted
	nextDue, mark dbtime.Time
}

func scanOutlook(row jobrow.Scanner) (o outlook, err error) {
	err = row.Scan(append(o.dest(), &o.ready, &o.nextDue, &o.mark)...)
	return o, err
}

func answer(req queue.ClaimRequest, jobs []queue.Job, ahead *outlook) queue.ClaimResult {
	order(jobs)
	// Where nothing could be claimed of what is there, somebody holds it: looking again at once would find the same.
	left := (ahead.ready > 0 && len(req.Types) > 1) || ahead.expired || ahead.due || ahead.marks
	if len(jobs) == req.Limit || (len(jobs) > 0 && left) {
		return queue.ClaimResult{Jobs: jobs, More: true}
	}
	next := earliest(ahead.nextDue.Time, ahead.mark.Time)
	if len(jobs) == 0 && (ahead.ready > 0 || left) {
		// Who holds it may let go of it unchanged, and tells nobody then.
		next = earliest(next, req.Now.Add(heldUp))
	}
	return queue.ClaimResult{Jobs: jobs, NextDue: next}
}

// order puts jobs, which a statement returns in any order, into that of claims.
func order(jobs []queue.Job) {
	slices.SortFunc(jobs, func(a, b queue.Job) int {
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
