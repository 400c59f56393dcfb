package sqlite

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
	"github.com/postroom-go/postroom/queue/internal/naming"
)

// Only one connection writes, so its time bounds the throughput of claims and completions. If there are many jobs, a
// claim reads them on another connection before its turn, concurrently with the writer. Its turn is then one UPDATE
// that checks that they are unchanged.

// Candidates are jobs that a claim has read before its turn. They are fresh: none of them has changed since it was
// inserted.
type candidates struct {
	jobs    []driver.Job
	numbers []int64 // of their rows
}

const (
	// manyJobs is the number of jobs that a claim must have got for the next one to read ahead: for few jobs it does
	// not pay.
	manyJobs = 64
	// claimsInTurn is the number of claims that read in their turn after one has read ahead in vain: there are
	// competing claims.
	claimsInTurn = 32
)

// errStale reports that other claims or changes were faster than a claim that has read ahead.
var errStale = errors.New("sqlite: what was read before the turn has changed")

// A candidateReader reads candidates on a connection of its own.
type candidateReader struct {
	conn  *connection // nil in memory, where readers and the writer wait for each other
	names *naming.Filler

	mu         sync.Mutex
	statements *statements  // nil until candidates are wanted
	lastClaim  atomic.Int64 // number of its jobs
	inTurn     atomic.Int64 // number of claims that still read in their turn
}

// claimed notes how many jobs a claim got.
func (r *candidateReader) claimed(jobs int) { r.lastClaim.Store(int64(jobs)) }

func (r *candidateReader) stale() { r.inTurn.Store(claimsInTurn) }

// read returns nil if the claim should read in its turn. Errors are ignored: the turn gets them again.
func (r *candidateReader) read(ctx context.Context, req driver.ClaimRequest) *candidates {
	if r.conn == nil || req.Limit < manyJobs || r.lastClaim.Load() < manyJobs || r.inTurn.Add(-1) >= 0 ||
		!r.mu.TryLock() {
		return nil
	}
	defer r.mu.Unlock()
	if r.statements == nil {
		r.statements = newStatements(r.conn.Conn, r.names)
	}
	jobs, numbers, err := selectReady(ctx, r.statements, req)
	if err != nil || len(jobs) < manyJobs {
		return nil
	}
	for i := range jobs {
		if jobs[i].Attempt > 0 {
			return nil
		}
	}
	return &candidates{jobs: jobs, numbers: numbers}
}

func (r *candidateReader) close() error {
	if r.conn == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var err error
	if r.statements != nil {
		err = r.statements.close()
	}
	return errors.Join(err, r.conn.release())
}

// selectReady selects the first jobs of the types that no limit key holds back.
func selectReady(ctx context.Context, q queryer, req driver.ClaimRequest) ([]driver.Job, []int64, error) {
	if len(req.Types) == 1 {
		wanted := min(req.Types[0].Capacity, req.Limit)
		rows, err := q.QueryContext(ctx, selectClaimable, req.Types[0].Type, dbtime.Of(req.Now), wanted)
		return jobsql.ScanClaimed(rows, err, wanted, req.Bytes)
	}
	m, err := newMerge(ctx, nil, req.Types, &txClaim{req: req})
	if err != nil {
		return nil, nil, err
	}
	m.reader = q
	places, err := m.run(ctx)
	if err != nil {
		return nil, nil, err
	}
	rows, err := q.QueryContext(ctx, selectClaimableRows, list(rowsOf(places)), dbtime.Of(req.Now))
	return jobsql.ScanClaimed(rows, err, len(places), req.Bytes)
}

// start makes all candidates running. If it returns [errStale], the transaction must be undone.
func (c *candidates) start(ctx context.Context, tx *driver.WriteTx, req driver.ClaimRequest) ([]driver.Job, error) {
	// A number is given to another row only when all that follow are gone as well: it is enough to know the last one
	// again.
	last := 0
	for i, n := range c.numbers {
		if n > c.numbers[last] {
			last = i
		}
	}
	res, err := tx.ExecContext(ctx, claimFresh, req.WorkerID, dbtime.Of(req.Now), list(c.numbers), c.numbers[last],
		c.jobs[last].ID)
	if err != nil {
		return nil, err
	}
	if n, err := res.RowsAffected(); err != nil || n != int64(len(c.jobs)) {
		return nil, errors.Join(errStale, err)
	}
	markStarted(c.jobs, req)
	return c.jobs, nil
}
