package queuetest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

// A process works like a separate program, one job after the other, each with its own dispatcher. It can stop at a
// crash point. Then its writes do not reach the database until it is woken, as a zombie.
type process struct {
	// ahead: a job that waits for its time is claimed if no other is left.
	ahead bool
	// target is the crash point where the process stops; nil if there is none.
	target *point
	frozen chan struct{} // closed at the target
	wake   chan struct{} // closed to let the zombie continue

	claiming sync.Mutex

	mu      sync.Mutex
	job     *driver.Job // of this dispatcher
	jobs    int         // claimed by all dispatchers so far
	zombie  bool
	points  []point // passed
	commits map[*driver.WriteTx]*commit
	faults  []string
}

// A point is a crash point of a scenario. The same place has the same point in each run.
type point struct {
	job     int // counted in the order in which they are run
	jobType string
	attempt int
	where   string
	nth     int // the index among otherwise equal points
}

// A commit records the writes of one transaction.
type commit struct {
	does   []string
	leased bool
}

func newProcess() *process {
	return &process{frozen: make(chan struct{}), wake: make(chan struct{}), commits: make(map[*driver.WriteTx]*commit)}
}

// workAll runs jobs until none is left, or until the process has been stopped and woken.
func (p *process) workAll(ctx context.Context, q *queue.Queue, register func(d *queue.Dispatcher)) error {
	for {
		ran, err := p.workOne(ctx, q, register)
		if err != nil || !ran || p.undead() {
			return err
		}
	}
}

// workOne runs one attempt of one job. It returns false if there was none to run.
func (p *process) workOne(ctx context.Context, q *queue.Queue, register func(d *queue.Dispatcher)) (bool, error) {
	p.setJob(nil)
	// Exclusive: a process that runs ahead comes after the death of all others.
	d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{
		Workers: 1, PollInterval: time.Minute, Lease: time.Hour, Exclusive: p.ahead,
	})
	if err != nil {
		return false, err
	}
	register(d)
	err = d.RunUntilIdle(context.WithValue(ctx, processKey{}, p))
	return p.claimed() != nil, err
}

// claim claims only one job.
func (p *process) claim(ctx context.Context, db driver.Driver, req driver.ClaimRequest) (driver.ClaimResult, error) {
	p.thaw()
	p.claiming.Lock()
	defer p.claiming.Unlock()
	if p.claimed() != nil {
		return driver.ClaimResult{}, nil
	}
	req.Limit = 1
	result, err := db.Claim(ctx, req)
	for err == nil && len(result.Jobs) == 0 && p.ahead && !result.NextDue.IsZero() && result.NextDue.Before(driver.Never) {
		req.Now = result.NextDue
		result, err = db.Claim(ctx, req)
	}
	if err != nil {
		return driver.ClaimResult{}, err
	}
	result.NextDue = time.Time{}
	if len(result.Jobs) > 0 {
		p.setJob(&result.Jobs[0])
		return driver.ClaimResult{Jobs: result.Jobs}, nil
	}
	return result, nil
}

// counts reports no jobs once the attempt is over: the process is done.
func (p *process) counts(ctx context.Context, db driver.Driver, filter driver.Filter) (map[driver.State]int, error) {
	job := p.claimed()
	if job == nil {
		return map[driver.State]int{}, nil
	}
	now, err := db.Job(ctx, job.ID)
	switch {
	case errors.Is(err, driver.ErrJobNotFound):
		return map[driver.State]int{}, nil
	case err != nil:
		return nil, err
	case now.State != driver.StateRunning || now.Attempt != job.Attempt:
		return map[driver.State]int{}, nil
	}
	return db.Counts(ctx, filter)
}

// write has a crash point on each side of the commit. A process that is stopped before the commit has not begun the
// transaction: the function runs once to record its writes, is rolled back, and runs again when the zombie continues.
func (p *process) write(
	ctx context.Context, db driver.Driver, fn func(ctx context.Context, tx *driver.WriteTx) error,
) error {
	p.thaw()
	c := &commit{}
	stop := false
	err := driver.Write(ctx, db, func(ctx context.Context, tx *driver.WriteTx) error {
		p.open(tx, c)
		defer p.shut(tx)
		if err := fn(ctx, tx); err != nil {
			return err
		}
		if stop = p.passes("before the commit that " + c.String()); stop {
			return errStopped
		}
		return nil
	})
	if stop {
		p.freeze()
		return driver.Write(ctx, db, fn)
	}
	if err == nil {
		p.reach("after the commit that " + c.String())
	}
	return err
}

var errStopped = errors.New("queuetest: stopped at a crash point")

func (p *process) outside(name string, call func() error) error {
	p.thaw()
	if p.writing() {
		p.fault("the outside call " + name + " is made inside a write transaction, which does database work only")
		return call()
	}
	p.reach("before the outside call " + name)
	if p.undead() {
		return &zombieError{call: name}
	}
	err := call()
	p.reach("after the outside call " + name + ", before its answer is seen")
	return err
}

// A zombieError is the error of a call under a canceled context.
type zombieError struct{ call string }

func (e *zombieError) Error() string {
	return "queuetest: outside call " + e.call + ": this process has been taken for dead"
}

func (e *zombieError) Unwrap() error { return driver.ErrLeaseLost }

func (p *process) reach(where string) {
	if p.passes(where) {
		p.freeze()
	}
}

// passes records a crash point and reports whether the process must stop there.
func (p *process) passes(where string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.job == nil || p.zombie {
		return false
	}
	pt := point{job: p.jobs, jobType: p.job.Type, attempt: p.job.Attempt, where: mask(where)}
	for slices.Contains(p.points, pt) {
		pt.nth++
	}
	p.points = append(p.points, pt)
	return p.target != nil && *p.target == pt
}

func (p *process) freeze() {
	close(p.frozen)
	<-p.wake
}

// thaw waits while the process is frozen. A nil process is never frozen.
func (p *process) thaw() {
	if p == nil {
		return
	}
	select {
	case <-p.frozen:
		<-p.wake
	default:
	}
}

// rise lets the zombie continue.
func (p *process) rise() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.zombie {
		p.zombie = true
		close(p.wake)
	}
}

func (p *process) undead() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.zombie
}

func (p *process) setJob(job *driver.Job) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.job = job
	if job != nil {
		p.jobs++
	}
}

func (p *process) claimed() *driver.Job {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.job
}

func (p *process) open(tx *driver.WriteTx, c *commit) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.commits[tx] = c
}

func (p *process) shut(tx *driver.WriteTx) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.commits, tx)
}

func (p *process) writing() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.commits) > 0
}

func (p *process) fault(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = append(p.faults, what)
}

// note records a write of a transaction. leased: only while the attempt holds its job.
func (p *process) note(tx *driver.WriteTx, does string, leased bool) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.commits[tx]
	if c == nil {
		return
	}
	c.leased = c.leased || leased
	if does != "" && !slices.Contains(c.does, does) {
		c.does = append(c.does, does)
	}
}

func (c *commit) String() string {
	does := c.does
	if len(does) == 0 {
		does = []string{"writes"}
	}
	if !c.leased {
		does = append(slices.Clone(does), "names no lease")
	}
	return strings.Join(does, " and ")
}
