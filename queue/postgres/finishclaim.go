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

// FinishAndClaim implements [driver.FinishClaimer]. It claims what waits for the limit keys that the ends free, and looks for
// nothing else: to look for other jobs would cost more than the claim itself. One of the jobs asked for is left to
// [driver.Claimer], so that jobs that come before those of the keys are not kept waiting, and so is all where the claim would
// wait, for the claims of types that are limited or for who sets a limit.
func (db *engine) FinishAndClaim(
	ctx context.Context, tx *driver.WriteTx, outcomes []driver.Outcome, req driver.ClaimRequest,
) (answers []error, result driver.ClaimResult, err error) {
	answers, after, err := finish(ctx, tx, outcomes)
	if err != nil {
		return nil, result, err
	}
	marked := &after.limited
	switch keys := marked.keys; {
	case len(keys) == 0:
	case len(keys) >= req.Limit || db.typed.Load():
		result.More = true
	default:
		req.Now = dbtime.Truncate(req.Now) // limits reckon in what is stored
		req.Limit--
		c := freedClaim{carefulClaim: carefulClaim{req: req, open: req.Types}, freed: keys}
		if err := c.run(ctx, tx); err != nil {
			return nil, result, err
		}
		result, marked = c.answer(), c.unseen()
	}
	if err := marked.write(ctx, tx); err != nil {
		return nil, result, err
	}
	if after.freed && (result.More || len(marked.keys) > 0 || len(after.limited.keys) == 0) {
		err = db.Notify(ctx, tx)
	}
	return answers, result, err
}

// A freedClaim claims what waits for limit keys of which jobs have ended in the same transaction.
type freedClaim struct {
	carefulClaim

	freed   []string
	refused bool // it would have had to wait
}

func (c *freedClaim) run(ctx context.Context, tx *driver.WriteTx) error {
	var begun []bool
	if err := laterInto(ctx, tx, &begun, scanBegun, tryBeginClaims); err != nil {
		return err
	}
	var found []foundRow
	if err := laterInto(ctx, tx, &found, scanFound, lockFronts, c.req.Now, 0, []string{}, 0, 0, c.freed); err != nil {
		return err
	}
	names, capacities := columns(c.open)
	lanes, err := query(ctx, tx, scanLaneRow, readLanes, c.req.Now, names, capacities, c.req.Limit)
	if err != nil {
		return err
	}
	c.keys = newKeyLooks(found, c.req.Now)
	if c.refused = !begun[0] || c.keys.typed; c.refused {
		return nil
	}
	places := c.keys.have(lanes, c.capacities(), c.req.Limit)
	slices.SortFunc(places, comparePlaces)
	taken := c.take(places)
	if len(taken) > 0 {
		if err := later(ctx, tx, jobsql.EnsureWorker, c.req.WorkerID, c.req.Now); err != nil {
			return err
		}
	}
	if err := c.claim(ctx, tx, taken); err != nil {
		return err
	}
	return flush(ctx, tx)
}

func scanBegun(row jobsql.Scanner) (begun bool, err error) {
	err = row.Scan(&begun)
	return begun, err
}

func (c *freedClaim) answer() driver.ClaimResult {
	order(c.jobs)
	if c.refused || c.more || c.keys.left {
		return driver.ClaimResult{Jobs: c.jobs, More: true}
	}
	return driver.ClaimResult{Jobs: c.jobs, NextDue: c.keys.again}
}

// unseen are the keys that are to be marked. Those of which the claim has locked the fronts are not: what has come to wait for
// one of them meanwhile is behind a front that no other claim looks at before the commit. For the others a job may have come
// that a claim has counted out against those that end here.
func (c *freedClaim) unseen() *marks {
	var m marks
	for _, key := range c.freed {
		if look := c.keys.byName[key]; c.refused || look == nil || look.busy {
			m.add(key, joblimit.AtOnce)
		}
	}
	return &m
}
