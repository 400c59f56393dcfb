package postgres

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/joblimit"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// Finish implements [driver.Finisher]. It uses one statement for all outcomes, and one each for freed keys, marked
// limit keys and attempt records if there are any, which are sent with the commit.
func (db *engine) Finish(ctx context.Context, tx *driver.WriteTx, outcomes []driver.Outcome) ([]error, error) {
	f, err := end(ctx, tx, outcomes)
	if err != nil {
		return nil, err
	}
	if err := flush(ctx, tx); err != nil {
		return nil, err
	}
	answers, after, err := f.finish(ctx, tx)
	if err != nil {
		return nil, err
	}
	db.wakeForNodes(tx, &after)
	if err := after.limited.write(ctx, tx); err != nil || !after.freed {
		return answers, err
	}
	if after.opened {
		db.expectTurns(tx)
	}
	return answers, db.Notify(ctx, tx)
}

// A finishing is the outcomes that a transaction writes.
type finishing struct {
	outcomes []driver.Outcome
	ended    []endedJob // of the leases that were held
}

// finish frees what the jobs have held, once it is known which have ended. It marks none of the limit keys that may
// have capacity by that.
func (f *finishing) finish(ctx context.Context, tx *driver.WriteTx) (answers []error, after aftermath, err error) {
	// By lease: a batch may hold two attempts of one job, of which the earlier is refused.
	done := make(map[driver.Lease]*endedJob, len(f.ended))
	for i := range f.ended {
		done[driver.Lease{JobID: f.ended[i].id, Attempt: f.ended[i].attempt}] = &f.ended[i]
	}
	var records attemptRows
	refused := false
	for i := range f.outcomes {
		out := &f.outcomes[i]
		job, ok := done[out.Lease]
		if !ok {
			refused = true
			continue
		}
		after.add(job, out.State.Finished())
		if out.Kind != driver.KindCompleted && out.Kind != driver.KindReleased {
			records.add(out, job)
		}
	}
	if err := after.write(ctx, tx); err != nil {
		return nil, after, err
	}
	if err := records.insert(ctx, tx); err != nil {
		return nil, after, err
	}
	answers = make([]error, len(f.outcomes))
	if refused {
		err = refusals(ctx, tx, f.outcomes, done, answers)
	}
	return answers, after, err
}

func refusals(
	ctx context.Context, tx *driver.WriteTx, outcomes []driver.Outcome, done map[driver.Lease]*endedJob,
	answers []error,
) error {
	var leases []driver.Lease
	var at []int
	for i := range outcomes {
		if _, ok := done[outcomes[i].Lease]; !ok {
			leases, at = append(leases, outcomes[i].Lease), append(at, i)
		}
	}
	held, err := query(ctx, tx, jobsql.ScanHeldJob, selectLeases, jobsql.LeaseIDs(leases))
	for i, answer := range jobsql.LeaseErrors(leases, held) {
		answers[at[i]] = answer
	}
	return err
}

// An endedJob is a job that no longer runs, and everything that it held.
type endedJob struct {
	id       string
	attempt  int
	worker   string
	started  time.Time
	key      string
	scope    driver.KeyScope
	limitKey string
	opens    bool // another may begin by its end, without a limit key
	ofNode   bool
}

func scanEnded(row jobsql.Scanner) (e endedJob, err error) {
	var worker, key, scope, limitKey sql.NullString
	var started jobsql.Instant
	err = row.Scan(&e.id, &e.attempt, &worker, &started, &key, &scope, &limitKey, &e.opens, &e.ofNode)
	e.worker, e.key, e.scope, e.limitKey, e.started = worker.String, key.String, driver.KeyScope(scope.String),
		limitKey.String, started.Time
	return e, err
}

// end writes the jobs' own rows; which of them have ended is known when what comes after it has run. Rows are locked in
// the order of ids, so that two transactions that end the same jobs do not wait for each other.
func end(ctx context.Context, tx *driver.WriteTx, outcomes []driver.Outcome) (*finishing, error) {
	if err := driver.CheckOutcomes(outcomes); err != nil {
		return nil, err
	}
	f := &finishing{outcomes: outcomes}
	order := make([]*driver.Outcome, len(outcomes))
	for i := range outcomes {
		order[i] = &outcomes[i]
	}
	slices.SortFunc(order, func(a, b *driver.Outcome) int { return cmp.Compare(a.Lease.JobID, b.Lease.JobID) })
	var r outcomeRows
	completed, plain := true, true
	for _, out := range order {
		r.add(out, tx.Now())
		completed, plain = completed && out.Kind == driver.KindCompleted, plain && out.Plain
	}
	switch {
	case completed && plain:
		return f, laterInto(ctx, tx, &f.ended, scanEnded, completePlain, r.ids, r.attempts, r.results, r.at)
	case completed:
		return f, laterInto(ctx, tx, &f.ended, scanEnded, completeHolding, r.ids, r.attempts, r.results, r.at)
	}
	return f, laterInto(ctx, tx, &f.ended, scanEnded, finishJobs, r.ids, r.attempts, r.states, r.kinds, r.holds,
		r.notBefore, r.results, r.failures, r.at, r.finished)
}

// outcomeRows are outcomes as the columns of one statement.
type outcomeRows struct {
	ids, states, kinds, failures []string
	attempts, holds              []int
	results                      []*string
	notBefore, finished          []*time.Time
	at                           []time.Time
}

func (r *outcomeRows) add(out *driver.Outcome, now time.Time) {
	hold, finished := driver.HoldNone, (*time.Time)(nil)
	if out.State.Finished() {
		finished = &out.At
	} else {
		hold = jobsql.HoldFor(out.NotBefore, now, "")
	}
	r.ids = append(r.ids, out.Lease.JobID)
	r.attempts = append(r.attempts, out.Lease.Attempt)
	r.states = append(r.states, string(out.State))
	r.kinds = append(r.kinds, out.Kind)
	r.holds = append(r.holds, int(hold))
	r.notBefore = append(r.notBefore, nullTime(out.NotBefore))
	r.results = append(r.results, nullText(string(out.Result)))
	r.failures = append(r.failures, out.Error)
	r.at = append(r.at, out.At)
	r.finished = append(r.finished, finished)
}

// An aftermath is everything that is freed and marked when jobs end.
type aftermath struct {
	keys, holders []string
	// Jobs that coalesce and are queued again, and their keys.
	again, againKeys []string
	limited          marks
	waiting          []string // jobs that may wait for limit keys again
	freed            bool     // there may be capacity under a limit now, or
	opened           bool     // for what waits for no limit key
	nodes            bool     // may open
}

// wakeForNodes wakes the process where nobody hears the notification that comes with the opening of a node.
func (db *engine) wakeForNodes(tx *driver.WriteTx, after *aftermath) {
	if db.pooled && after.nodes {
		tx.OnCommit(db.news.wake)
	}
}

func (a *aftermath) add(job *endedJob, finished bool) {
	switch {
	case finished && (job.scope == driver.KeyUnfinished || job.scope == driver.KeyCoalesce):
		a.keys = append(a.keys, job.key)
		a.holders = append(a.holders, job.id)
	case !finished && job.scope == driver.KeyCoalesce:
		a.again = append(a.again, job.id)
		a.againKeys = append(a.againKeys, job.key)
	}
	a.limited.add(job.limitKey, joblimit.AtOnce)
	if !finished && job.limitKey != "" {
		a.waiting = append(a.waiting, job.id)
	}
	a.opened = a.opened || job.opens
	a.nodes = a.nodes || job.ofNode
	a.freed = a.freed || job.opens || job.limitKey != ""
}

// write writes all but the marks.
func (a *aftermath) write(ctx context.Context, tx *driver.WriteTx) error {
	if len(a.keys) > 0 {
		if err := later(ctx, tx, deleteKeys, a.keys, a.holders); err != nil {
			return err
		}
	}
	if len(a.again) > 0 {
		if err := takeKeysAgain(ctx, tx, a.again, a.againKeys); err != nil {
			return err
		}
	}
	if len(a.waiting) > 0 {
		if err := later(ctx, tx, insertHeadsOf, a.waiting); err != nil {
			return err
		}
	}
	return nil
}

type attemptRows struct {
	ids, workers, kinds, failures, stacks []string
	attempts                              []int
	started, finished                     []time.Time
}

func (r *attemptRows) add(out *driver.Outcome, job *endedJob) {
	r.ids = append(r.ids, out.Lease.JobID)
	r.attempts = append(r.attempts, out.Lease.Attempt)
	r.workers = append(r.workers, job.worker)
	r.kinds = append(r.kinds, out.Kind)
	r.failures = append(r.failures, out.Error)
	r.stacks = append(r.stacks, out.Stack)
	started := job.started
	if started.IsZero() { // somebody has altered the row
		started = out.At
	}
	r.started = append(r.started, started)
	r.finished = append(r.finished, out.At)
}

func (r *attemptRows) insert(ctx context.Context, tx *driver.WriteTx) error {
	if len(r.ids) == 0 {
		return nil
	}
	return store(ctx, tx, insertAttempts, r.ids, r.attempts, r.workers, r.kinds, r.failures, r.stacks, r.started,
		r.finished)
}
