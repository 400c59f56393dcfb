package postgres

import (
	"context"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
)

// PlanOurs and Planned are what is planned without regard to statistics, for tests.
const PlanOurs = planOurs

// Planned are the statements that look for jobs while jobs are run.
var Planned = map[string]string{
	"claimOfType": claimOfType, "claimOfTypeAfter": claimOfTypeAfter,
	"claimOfTypes": claimOfTypes, "claimOfTypesAfter": claimOfTypesAfter, "lookAhead": selectRemainder,
	"lockMarks": lockMarks, "giveTurns": giveTurns, "promoteJobs": promoteJobs, "expireJobs": expireJobs, "lockHeads": lockHeads, "lockFreedHeads": lockFreedHeads,
	"readLanes": readLanes, "readLanesPastLocks": readLanesPastLocks, "insertFrontsOf": insertHeadsOf,
	"insertFrontsOfKeys": insertHeadsOfKeys, "finishJobs": finishJobs, "completeHolding": completeHolding,
	"lockLease": lockLease, "cancelJobs": cancelJobs, "retryJob": retryJob, "hastenJob": hastenJob,
	"deleteKeys":     deleteKeys,
	"lockTypeLimits": lockTypeLimits, "selectTypeLimits": selectTypeLimits, "countRunning": countRunning,
	"selectPlaces": selectPlaces, "selectPlacesHeld": selectPlacesHeld,
	"insertKeys": insertKeys, "selectKeys": selectKeys, "beatWorker": beatWorker,
	"markBegun": markBegun, "completePlain": completePlain, "completeLease": completeLease, "selectLeases": selectLeases,
	"selectForRetry": selectForRetry, "lockFlowOf": lockFlowOf,
	"selectPlacesPastHeld": selectPlacesPastHeld, "selectHeld": selectHeld, "claimHeldJobs": claimHeldJobs,
}

// ChooseWithin is what a claim within limits does before it takes the jobs, in a transaction that goes on.
func ChooseWithin(ctx context.Context, tx *driver.WriteTx, req driver.ClaimRequest) error {
	c := limitedClaim{req: req, depth: 1}
	if err := later(ctx, tx, beginClaims); err != nil {
		return err
	}
	_, err := c.choose(ctx, tx)
	return err
}

// ClaimCarefullyWithin claims within limits in a transaction that goes on.
func ClaimCarefullyWithin(ctx context.Context, tx *driver.WriteTx, req driver.ClaimRequest) ([]driver.Job, error) {
	c := limitedClaim{req: req, depth: 1}
	if err := c.run(ctx, tx); err != nil {
		return nil, err
	}
	err := flush(ctx, tx)
	return c.jobs, err
}

// ClaimWithin claims without limits in a transaction that goes on.
func ClaimWithin(ctx context.Context, tx *driver.WriteTx, req driver.ClaimRequest) ([]driver.Job, error) {
	c := freeClaim{req: req, depth: firstDepth}
	if err := c.run(ctx, tx); err != nil {
		return nil, err
	}
	err := flush(ctx, tx)
	return c.jobs, err
}

// SetPatience sets how long a write waits for a connection while others have them all.
func SetPatience(db *DB, patience time.Duration) { db.engine.writes.patience = patience }

// SetMachine has db belong to a machine with a clock of its own.
func SetMachine(ctx context.Context, db *DB, clock func() time.Time) error {
	db.engine.server.mu.Lock()
	db.engine.server.machine, db.engine.server.local = clock, time.Time{}
	db.engine.server.mu.Unlock()
	return db.engine.setClock(ctx)
}

// StartClock is what [Open] does, on a machine with a clock of its own, and returns by how much the clock may be wrong
// then.
func StartClock(ctx context.Context, db *DB, clock func() time.Time) (time.Duration, error) {
	e := &engine{pool: db.engine.pool, server: serverClock{machine: clock}, writes: writes{patience: patience}}
	err := e.startClock(ctx)
	return e.server.doubt, err
}

// SetAnswerTimeout bounds how long the server may take to answer.
func SetAnswerTimeout(db *DB, timeout time.Duration) { db.engine.patience = timeout }

// SetListenProbe sets how often a listening connection is asked.
func SetListenProbe(db *DB, every time.Duration) { db.engine.probe = every }

// ClaimHeld claims jobs that looked held by the given holders.
func ClaimHeld(
	ctx context.Context, db *DB, req driver.ClaimRequest, ids, holders []string,
) ([]driver.Job, error) {
	return db.engine.takeHeld(ctx, req, heldColumns{ids, holders})
}
