package postgres

import (
	"context"
	"time"
)

// PlanOurs and Planned are what is planned without regard to statistics, for tests.
const PlanOurs = planOurs

// Planned are the statements that look for jobs while jobs are run.
var Planned = map[string]string{
	"claimOfType": claimOfType, "claimOfTypes": claimOfTypes, "lookAhead": lookAhead,
	"promoteJobs": promoteJobs, "expireJobs": expireJobs, "takeMarks": takeMarks, "admitJobs": admitJobs, "finishJobs": finishJobs,
	"lockLease": lockLease, "cancelJob": cancelJob, "retryJob": retryJob, "deleteKeys": deleteKeys,
	"selectTypeLimits": selectTypeLimits, "countRunning": countRunning, "selectPlaces": selectPlaces, "selectPlacesPastLocks": selectPlacesPastLocks,
}

// BeginClaim and Flush are how a claim begins.
var (
	BeginClaim = beginClaim
	Flush      = flush
)

// SetMachine has db belong to a machine with a clock of its own.
func SetMachine(ctx context.Context, db *DB, clock func() time.Time) error {
	db.server.mu.Lock()
	db.server.machine, db.server.local = clock, time.Time{}
	db.server.mu.Unlock()
	return db.setClock(ctx)
}
