package postgres

import (
	"context"
	"slices"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/joblimit"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

var _ driver.FinishClaimer = (*engine)(nil)

// FinishAndClaim implements [driver.FinishClaimer]. It claims only jobs that wait for the limit keys that the ends
// free: looking for others would cost more than the claim itself. It leaves one of the requested jobs to
// [driver.Claimer], so that jobs that come before those of the keys are not delayed. It leaves all of them if the claim
// would have to wait for claims of limited types or for the setting of a limit.
//
// If the keys are known before the jobs have ended, it takes two round trips: the ends, with the candidates after them;
// and the claim with the commit.
func (db *engine) FinishAndClaim(
	ctx context.Context, tx *driver.WriteTx, outcomes []driver.Outcome, req driver.ClaimRequest,
) (answers []error, claimed func() driver.ClaimResult, err error) {
	f, err := end(ctx, tx, outcomes)
	if err != nil {
		return nil, nil, err
	}
	req.Now = dbtime.Truncate(req.Now) // limits reckon in what is stored
	req.Limit--
	c := &freedClaim{limitedClaim: limitedClaim{db: db, req: req, open: req.Types, typed: db.typed.Load()}}
	keys, known := limitKeysOf(outcomes)
	if known {
		err = c.find(ctx, tx, keys)
	}
	if err == nil {
		err = flush(ctx, tx)
	}
	if err != nil {
		return nil, nil, err
	}
	answers, after, err := f.finish(ctx, tx)
	if err == nil && !known {
		err = c.find(ctx, tx, after.limited.keys)
	}
	if err == nil {
		err = c.run(ctx, tx)
	}
	if err != nil {
		return nil, nil, err
	}
	db.wakeForNodes(tx, &after)
	marked := c.unseen()
	if err := marked.write(ctx, tx); err != nil {
		return nil, nil, err
	}
	if after.opened {
		db.expectTurns(tx)
	}
	if after.opened || after.freed && (c.left() || len(marked.keys) > 0 || len(after.limited.keys) == 0) {
		err = db.Notify(ctx, tx)
	}
	return answers, c.answer, err
}

// limitKeysOf returns the limit keys that the ends free. They are unknown if a job may be queued again, since it may
// then wait for its key.
func limitKeysOf(outcomes []driver.Outcome) (keys []string, known bool) {
	var freed marks
	for i := range outcomes {
		out := &outcomes[i]
		if !out.State.Finished() || (out.LimitKey == "" && !out.Plain) {
			return nil, false
		}
		freed.add(out.LimitKey, joblimit.AtOnce)
	}
	return freed.keys, true
}

// A freedClaim claims jobs that wait for limit keys whose jobs have ended in the same transaction.
type freedClaim struct {
	limitedClaim

	freed   []string
	refused bool // it would have to wait, or there is no place for it
	begun   []bool
	found   []foundRow
	lanes   []laneRow
}

// find locks the keys, and what may be claimed of them. What it finds is known when what comes after it has run.
func (c *freedClaim) find(ctx context.Context, tx *driver.WriteTx, keys []string) error {
	c.freed = keys
	if c.refused = len(keys) > c.req.Limit || c.typed; c.refused || len(keys) == 0 {
		return nil
	}
	if err := laterInto(ctx, tx, &c.begun, scanBegun, tryBeginClaims); err != nil {
		return err
	}
	if err := laterInto(ctx, tx, &c.found, scanFound, lockFreedHeads, c.freed); err != nil {
		return err
	}
	names, capacities := columns(c.open)
	return laterInto(ctx, tx, &c.lanes, scanLaneRow, readLanes, c.req.Now, names, capacities, c.req.Limit)
}

// run claims the jobs that find has found.
func (c *freedClaim) run(ctx context.Context, tx *driver.WriteTx) error {
	if c.refused || len(c.freed) == 0 {
		return nil
	}
	if c.begun == nil { // it waits yet
		if err := flush(ctx, tx); err != nil {
			return err
		}
	}
	c.keys = newExaminedKeys(c.found, c.req.Now)
	if c.refused = !c.begun[0] || c.keys.typed; c.refused {
		return nil
	}
	lanes, err := c.pastLanesHeld(ctx, tx, c.lanes)
	if err != nil {
		return err
	}
	places := c.keys.have(lanes, c.capacities(), c.req.Limit)
	slices.SortFunc(places, comparePlaces)
	taken := c.take(places)
	if len(taken) > 0 {
		if err := later(ctx, tx, jobsql.EnsureWorker, c.req.WorkerID, c.req.Now); err != nil {
			return err
		}
	}
	return c.claim(ctx, tx, taken)
}

func scanBegun(row jobsql.Scanner) (begun bool, err error) {
	err = row.Scan(&begun)
	return begun, err
}

// left reports whether another claim must search for jobs for which the ends have made capacity.
func (c *freedClaim) left() bool {
	return c.refused || c.keys != nil && (c.more || c.keys.left)
}

func (c *freedClaim) answer() driver.ClaimResult {
	order(c.jobs)
	if c.left() || c.keys == nil {
		return driver.ClaimResult{Jobs: c.jobs, More: c.left()}
	}
	return driver.ClaimResult{Jobs: c.jobs, NextDue: c.keys.again}
}

// unseen are the keys that are to be marked. Those of which the claim has locked the heads are not: what has come to
// wait for one of them meanwhile is behind a head that no other claim examines before the commit. For the others a job
// may have come that a claim has counted out against those that end here.
func (c *freedClaim) unseen() *marks {
	var m marks
	for _, key := range c.freed {
		if c.refused || c.keys.byName[key] == nil || c.keys.byName[key].busy {
			m.add(key, joblimit.AtOnce)
		}
	}
	return &m
}
