package queue

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
)

// The claimer keeps the slots busy. It claims when a job may have come, when one becomes due, when a slot becomes free,
// and in any case after the poll interval. It claims ahead as many jobs as the slots can run in
// [DispatcherConfig].Prefetch, or until the next claim is answered, so that short jobs do not wait for one claim each,
// and long jobs are left to other processes with free slots.
type claimer struct {
	driver        driver.Claimer
	finishClaimer driver.FinishClaimer // nil where the engine has none
	log           *slog.Logger
	now           func() time.Time
	telemetry     *telemetry
	identity      *identity
	running       *runningSet
	runner        *runner
	leases        *leaseChecker
	handlers      handlers
	prefetch      time.Duration
	bytes         int // of payloads that are claimed ahead
	poll          time.Duration
	lease         time.Duration
	private       bool // see [driver.Private]
	// idle reports whether there is nothing to wait for, once nothing runs; nil: claim until ctx is done.
	idle func(ctx context.Context, nextDue time.Time) bool

	woken chan struct{}
	quiet time.Time // since when nothing has come; zero: something just has

	// mu is held during a claim: two concurrent claims would both use the capacity of the process.
	mu        sync.Mutex
	asking    atomic.Bool // the database
	estimator prefetchEstimator
	due       time.Time // when the latest claim said that there may be more
	stopped   bool      // and no claim may be made
}

func (c *claimer) wake() { tell(c.woken) }

// claimAgain is how soon a claim that has failed is tried again, also with a longer PollInterval: the wake-up that led
// to it is not repeated.
const claimAgain = time.Second

func (c *claimer) run(ctx context.Context) {
	defer c.stop()
	for ctx.Err() == nil {
		changed := c.changed() // before the claim, so that no end is missed meanwhile
		d, result, err := c.claim(ctx)
		switch {
		case len(d.capacities) == 0:
			c.waitForCapacity(ctx, changed, nil)
			continue
		case d.limit == 0:
			c.waitForCapacity(ctx, changed, c.running.hungryBelow(d.ahead/2))
			continue
		case err != nil:
			c.log.ErrorContext(ctx, "claiming jobs failed; trying again", logError, err)
			sleep(ctx, min(c.poll, claimAgain))
			continue
		case result.More:
			continue
		}
		if len(result.Jobs) == 0 && c.idle != nil && c.running.empty() && c.idle(ctx, result.NextDue) {
			return
		}
		// A slot that becomes free is no reason to claim again: there was nothing more to claim.
		c.wait(ctx, changed, c.pause(result.NextDue))
	}
}

// stop returns when no claim is under way, and none will be.
func (c *claimer) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = true
}

// A demand is what a process claims now. It claims nothing without capacities, or with a limit of 0.
type demand struct {
	capacities []driver.TypeCapacity
	limit      int
	bytes      int // the payloads of the jobs may have
	ahead      int // how many are to be claimed ahead
}

func (c *claimer) demand() demand {
	load := c.running.load()
	d := demand{ahead: c.estimator.ahead(load, c.running.slots, c.estimator.reach(c.prefetch)),
		bytes: max(1, c.bytes-load.bytes)}
	d.capacities = c.capacities(d.ahead)
	if load.backlog > 0 { // no more than fit, if those to come are like those that wait
		fit := float64(load.backlog) * float64(c.bytes) / float64(max(1, load.bytes))
		d.ahead = int(min(float64(d.ahead), fit))
	}
	if load.idle > 0 || load.backlog <= d.ahead/2 {
		d.limit = load.idle + max(0, d.ahead-load.backlog)
	}
	return d
}

// claim claims jobs and starts them. It runs under a context that outlives a stop: claimed jobs must be known, to be
// run or given back.
func (c *claimer) claim(ctx context.Context) (d demand, result driver.ClaimResult, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d = c.demand()
	if len(d.capacities) == 0 || d.limit == 0 {
		return d, result, nil
	}
	req, began := c.request(d), time.Now()
	answered, cancel := answeredIn(ctx, answeredWithin(c.lease))
	defer cancel()
	c.asking.Store(true)
	result, err = c.driver.Claim(driver.Begun(answered), req)
	c.asking.Store(false)
	c.estimator.waited(time.Since(began))
	if err != nil {
		return d, result, err
	}
	c.due = result.NextDue
	c.start(ctx, req.WorkerID, result.Jobs)
	if len(result.Jobs) > 0 {
		c.quiet = time.Time{}
	}
	return d, result, nil
}

// request is of a claim that begins now.
func (c *claimer) request(d demand) driver.ClaimRequest {
	worker := c.identity.get()
	c.running.expect()
	return driver.ClaimRequest{WorkerID: worker, Types: d.capacities, Limit: d.limit, Bytes: d.bytes, Now: c.now()}
}

// start starts the claimed jobs under the worker's name.
func (c *claimer) start(ctx context.Context, worker string, jobs []driver.Job) {
	if c.telemetry.claimed.Enabled(ctx) {
		c.telemetry.countClaimed(ctx, jobsOf(jobs))
	}
	c.runner.start(ctx, jobs)
	answered, cancel := answered(ctx)
	defer cancel()
	c.leases.verify(driver.Begun(answered), c.running.missed(jobs))
	if c.identity.get() != worker {
		// The process was declared dead meanwhile, and the leases under the old name are no longer renewed.
		c.running.cancelAll(ErrLeaseLost)
	}
}

// capacities are the types that this process may take more jobs of.
func (c *claimer) capacities(ahead int) []driver.TypeCapacity {
	capacities := make([]driver.TypeCapacity, 0, len(c.handlers))
	for name, h := range c.handlers {
		if capacity := c.capacityOf(name, h, ahead); capacity > 0 {
			capacities = append(capacities, driver.TypeCapacity{Type: name, Capacity: capacity})
		}
	}
	return capacities
}

// maxCapacity is the capacity of a type without a bound in this process.
const maxCapacity = 1 << 20

func (c *claimer) pause(nextDue time.Time) time.Duration {
	poll := c.poll
	if c.private {
		poll = max(poll, min(c.quietFor(), maxQuietPoll))
	}
	if nextDue.IsZero() {
		return poll
	}
	// Due times are cut to the microsecond; the wait must not end before.
	return min(poll, nextDue.Sub(c.now())+time.Microsecond)
}

// maxQuietPoll bounds how rarely a dispatcher claims where no other process can enqueue.
const maxQuietPoll = time.Minute

// quietFor is how long nothing has come.
func (c *claimer) quietFor() time.Duration {
	if c.quiet.IsZero() {
		c.quiet = time.Now()
	}
	return time.Since(c.quiet)
}

// changed closes when a job has ended and that is a reason to claim again: a type that was full has capacity, or a
// dispatcher that runs until it is idle has become idle.
func (c *claimer) changed() <-chan struct{} {
	if c.idle != nil || c.bounded() {
		return c.running.watch()
	}
	return nil
}

// wait returns when woken, when a job has ended and that matters, or after the pause.
func (c *claimer) wait(ctx context.Context, changed <-chan struct{}, pause time.Duration) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-c.woken:
		c.quiet = time.Time{}
	case <-changed:
		c.quiet = time.Time{}
	case <-timer.C:
	}
}

// waitForCapacity returns when hungry reports that a slot is idle or the backlog short, or when a type has capacity
// again. When neither happens for long, the jobs that were claimed ahead are given back, so that other processes can
// run them.
func (c *claimer) waitForCapacity(ctx context.Context, changed, hungry <-chan struct{}) {
	if !c.bounded() {
		changed = nil // an end that leaves no slot idle changes nothing
	}
	patience := max(10*c.prefetch, 4*c.estimator.reach(c.prefetch), 100*time.Millisecond)
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-hungry:
	case <-changed:
	case <-timer.C:
		c.runner.giveBack(time.Now().Add(-patience))
	}
}

// A prefetchEstimator measures how fast the process can run jobs and how long it waits for a claim. From both follows
// how many jobs to claim ahead: as many as keep the slots busy until the next claim is answered, so that machines that
// crowd the database claim more seldom, and not less each time.
type prefetchEstimator struct {
	last load
	// ended and spent count the jobs whose handlers have returned and the time that handlers have run, recent ones
	// weighted most.
	ended float64
	spent time.Duration
	wait  time.Duration // for a claim
	depth int           // how many jobs were last claimed ahead
}

// maxPrefetch bounds the jobs of one claim, and so those that a dying process holds for a lease.
const maxPrefetch = 1000

// Claims that take longer than a quarter of the time claimed ahead stretch it so that they do not, but no further than
// this many times: what one process has claimed, others cannot run.
const maxStretch = 10

// reach is the time for which jobs are claimed ahead where that is configured as ahead. The next claim is made when
// half of them have begun, and may take twice as long as claims usually do.
func (p *prefetchEstimator) reach(ahead time.Duration) time.Duration {
	return min(max(ahead, 4*p.wait), maxStretch*ahead)
}

// waited notes how long a claim took. It follows claims that become slow sooner than those that become quick.
func (p *prefetchEstimator) waited(d time.Duration) {
	if d > p.wait {
		p.wait += (d - p.wait) / 2
		return
	}
	p.wait -= (p.wait - d) / 8
}

// ahead returns how many jobs the slots can run within the given time, according to recent run times. A process that
// was short of jobs has not become slow by that. The result at most doubles, since a few quick jobs say little about
// the next.
func (p *prefetchEstimator) ahead(now load, slots int, within time.Duration) int {
	p.ended = p.ended/2 + float64(now.ended-p.last.ended)
	p.spent = p.spent/2 + (now.spent - p.last.spent)
	p.last = now
	if p.ended < 1 || within <= 0 {
		p.depth = 0
		return 0
	}
	fits := float64(slots) * p.ended * within.Seconds() / max(p.spent, 1).Seconds()
	p.depth = int(min(fits, float64(max(slots, 2*p.depth)), maxPrefetch))
	return p.depth
}

// If one job waits for the end of another, as under a limit of one at a time, most of the cost is a transaction for
// each claim and the way from the completer to the claimer. A claimOnComplete is a claim that the completer makes in
// the transaction that ends jobs. The claimer makes none meanwhile.
type claimOnComplete struct {
	driver  driver.FinishClaimer
	claimer *claimer
	request driver.ClaimRequest
	claimed func() driver.ClaimResult
}

// claimOnComplete returns nil if the completer must not claim: no job of the batch has a limit key, the engine cannot,
// or the claimer claims itself or wants nothing. The result must be closed.
func (c *claimer) claimOnComplete(batch []*completion) *claimOnComplete {
	if c.finishClaimer == nil || c.asking.Load() ||
		!slices.ContainsFunc(batch, func(e *completion) bool { return e.attempt.job.LimitKey != "" }) {
		return nil
	}
	c.mu.Lock()
	if demand := c.demand(); !c.stopped && len(demand.capacities) > 0 && demand.limit > 0 {
		return &claimOnComplete{driver: c.finishClaimer, claimer: c, request: c.request(demand)}
	}
	c.mu.Unlock()
	return nil
}

// finish writes the outcomes, by the driver alone if the completer does not claim.
func (h *claimOnComplete) finish(
	ctx context.Context, d driver.Finisher, tx *driver.WriteTx, outcomes []driver.Outcome,
) (answers []error, err error) {
	if h == nil {
		return d.Finish(ctx, tx, outcomes)
	}
	answers, h.claimed, err = h.driver.FinishAndClaim(ctx, tx, outcomes, h.request)
	return answers, err
}

// start starts the claimed jobs, once the transaction has committed.
func (h *claimOnComplete) start(ctx context.Context) {
	if h == nil {
		return
	}
	c, result := h.claimer, h.claimed()
	next := result.NextDue
	c.start(ctx, h.request.WorkerID, result.Jobs)
	sooner := !next.IsZero() && (c.due.IsZero() || next.Before(c.due))
	if sooner {
		c.due = next
	}
	if sooner || result.More {
		c.wake()
	}
}

func (h *claimOnComplete) close() {
	if h != nil {
		h.claimer.mu.Unlock()
	}
}
