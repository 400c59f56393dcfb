package sqlite

import (
	"context"
	"database/sql"
	"sync/atomic"
	"time"
)

// ClaimStatements are those that look for jobs to claim.
var ClaimStatements = map[string]string{
	"of one type": selectClaimable, "of several types": readReady, "of limit keys": readWaiting, "of heads": readHeads,
}

// JobStatements are those that are executed for each job, claim or heartbeat.
var JobStatements = map[string]string{
	"insertKey": insertKey, "selectKey": selectKey, "deleteKey": deleteKey, "supersedeJob": supersedeJob,
	"selectChores": selectChores, "expireJobs": expireJobs, "promoteJobs": promoteJobs, "claimJobs": claimJobs,
	"claimFresh": claimFresh, "selectNextDue": selectNextDue, "beatWorker": beatWorker, "markBegun": markBegun,
	"completeJobs": completeJobs + "(?1, ?2, ?3, ?4)" + ofHeldLeases + returningEnded, "completeJob": completeJob,
	"completeAlike": completeAlike, "finishJobs": finishJobs, "selectLease": selectLease, "selectLeases": selectLeases,
	"cancelJobs": cancelJobs, "retryJob": retryJob, "hastenJob": hastenJob, "selectForRetry": selectForRetry,
	"selectClaimableRows": selectClaimableRows, "countRunning": countRunning, "selectWorkers": selectWorkers,
}

// CheckVersion is for the tests.
var CheckVersion = checkVersion

// ExecOnWriter executes what cannot be executed in a transaction. Nothing else may be written meanwhile.
func ExecOnWriter(db *DB, statement string) (sql.Result, error) {
	return db.engine.writer.conn.ExecContext(context.Background(), statement)
}

// CountPrepares returns how many times SQLite has asked since whether the writer may do something: it does so when it
// prepares a statement, for the first time or again. Nothing else may be written meanwhile.
func CountPrepares(db *DB) (asked *atomic.Int64, err error) {
	asked = new(atomic.Int64)
	err = db.engine.writer.conn.Raw(func(dc any) error {
		watchPrepares(dc, func() { asked.Add(1) })
		return nil
	})
	return asked, err
}

// SetMachine has db belong to a machine with clocks of its own: what the clock shows, how much time has passed, and how
// long it has been up.
func SetMachine(db *DB, now func() (time.Time, time.Duration), uptime func() (time.Duration, bool)) {
	db.engine.steady = newSteadyClock(machine{now: now, uptime: uptime})
}
