package queuetest

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// A driver is a database in memory that several processes use, in one program: each call belongs to the process whose
// context it comes with. A call without one goes straight through.
type driver struct {
	*sqlite.DB

	mu sync.Mutex
	// stray is called for each write that comes without a process, while none should.
	stray func()
}

var _ queue.Driver = (*driver)(nil)

type processKey struct{}

func processOf(ctx context.Context) *process {
	p, _ := ctx.Value(processKey{}).(*process)
	return p
}

func (d *driver) onStray(fn func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stray = fn
}

func (d *driver) reportStray() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stray != nil {
		d.stray()
	}
}

func (d *driver) Write(ctx context.Context, fn func(ctx context.Context, tx *queue.Tx) error) error {
	if p := processOf(ctx); p != nil {
		return p.write(ctx, d.DB, fn)
	}
	d.reportStray()
	return d.DB.Write(ctx, fn)
}

func (d *driver) Claim(ctx context.Context, req queue.ClaimRequest) (queue.ClaimResult, error) {
	if p := processOf(ctx); p != nil {
		return p.claim(ctx, d.DB, req)
	}
	return d.DB.Claim(ctx, req)
}

func (d *driver) Counts(ctx context.Context, filter queue.Filter) (map[queue.State]int, error) {
	if p := processOf(ctx); p != nil {
		return p.counts(ctx, d.DB, filter)
	}
	return d.DB.Counts(ctx, filter)
}

func (d *driver) Beat(ctx context.Context, req queue.BeatRequest) (bool, error) {
	processOf(ctx).thaw()
	return d.DB.Beat(ctx, req)
}

func (d *driver) Retire(ctx context.Context, workerID string) error {
	processOf(ctx).thaw()
	return d.DB.Retire(ctx, workerID)
}

// What follows only notes what a transaction does, so that a crash point can be named.

func (d *driver) Insert(ctx context.Context, tx *queue.Tx, jobs []queue.InsertJob) ([]queue.InsertResult, error) {
	for i := range jobs {
		processOf(ctx).note(tx, "enqueues "+jobs[i].Type, false)
	}
	return d.DB.Insert(ctx, tx, jobs)
}

func (d *driver) Finish(ctx context.Context, tx *queue.Tx, outcomes []queue.Outcome) ([]error, error) {
	for i := range outcomes {
		does := "completes the job"
		if outcomes[i].Kind != queue.KindCompleted {
			does = "ends the attempt as " + outcomes[i].Kind
		}
		processOf(ctx).note(tx, does, true)
	}
	return d.DB.Finish(ctx, tx, outcomes)
}

func (d *driver) Check(ctx context.Context, tx *queue.Tx, lease queue.Lease) error {
	processOf(ctx).note(tx, "", true)
	return d.DB.Check(ctx, tx, lease)
}

func (d *driver) StartStep(ctx context.Context, tx *queue.Tx, lease queue.Lease, name string) error {
	processOf(ctx).note(tx, "starts step "+name, true)
	return d.DB.StartStep(ctx, tx, lease, name)
}

func (d *driver) FinishStep(ctx context.Context, tx *queue.Tx, lease queue.Lease, step queue.StepRecord) error {
	processOf(ctx).note(tx, "stores step "+step.Name, true)
	return d.DB.FinishStep(ctx, tx, lease, step)
}

func (d *driver) SaveCursor(ctx context.Context, tx *queue.Tx, lease queue.Lease, name string, value json.RawMessage) error {
	processOf(ctx).note(tx, "saves the cursor of "+name, true)
	return d.DB.SaveCursor(ctx, tx, lease, name, value)
}

func (d *driver) Cancel(ctx context.Context, tx *queue.Tx, jobID string) error {
	processOf(ctx).note(tx, "cancels a job", false)
	return d.DB.Cancel(ctx, tx, jobID)
}

func (d *driver) Retry(ctx context.Context, tx *queue.Tx, jobID string) error {
	processOf(ctx).note(tx, "retries a job", false)
	return d.DB.Retry(ctx, tx, jobID)
}
