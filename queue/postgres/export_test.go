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
	"claimOfTypes": claimOfTypes, "claimOfTypesAfter": claimOfTypesAfter, "lookAhead": lookAhead,
	"promoteJobs": promoteJobs, "expireJobs": expireJobs, "takeMarks": takeMarks, "admitJobs": admitJobs, "finishJobs": finishJobs,
	"lockLease": lockLease, "cancelJob": cancelJob, "retryJob": retryJob, "deleteKeys": deleteKeys,
	"selectTypeLimits": selectTypeLimits, "countRunning": countRunning, "selectPlaces": selectPlaces, "selectPlacesPastLocks": selectPlacesPastLocks,
}

// BeginClaim and Flush are how a claim begins.
var (
	BeginClaim = beginClaim
	Flush      = flush
)

// ClaimWithin claims without limits in a transaction that goes on.
func ClaimWithin(ctx context.Context, tx *driver.WriteTx, req driver.ClaimRequest, glances bool) ([]driver.Job, error) {
	c := freeClaim{req: req, depth: firstDepth, glances: glances}
	if err := c.run(ctx, tx); err != nil {
		return nil, err
	}
	err := flush(ctx, tx)
	return c.jobs, err
}

// SetMachine has db belong to a machine with a clock of its own.
func SetMachine(ctx context.Context, db *DB, clock func() time.Time) error {
	db.server.mu.Lock()
	db.server.machine, db.server.local = clock, time.Time{}
	db.server.mu.Unlock()
	return db.setClock(ctx)
}
