package queuetest

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/postroom-go/postroom/queue/driver"
)

// A database is an in-memory database of several simulated processes. Each call belongs to the process of its context.
// A call without a process is passed through.
type database struct {
	driver.Driver
	driver.FlowStore // the driver's

	mu sync.Mutex
	// stray is called for each write without a process while there must be none.
	stray func()
}

var (
	_ driver.GroupInserter = (*database)(nil)
	_ driver.Private       = (*database)(nil)
	_ driver.FlowStore     = (*database)(nil)
	_ driver.Unwrapper     = (*database)(nil)
)

// Unwrap implements [driver.Unwrapper].
func (d *database) Unwrap() driver.Driver { return d.Driver }

// Private implements [driver.Private].
func (d *database) Private() bool { return true }

type processKey struct{}

func processOf(ctx context.Context) *process {
	p, _ := ctx.Value(processKey{}).(*process)
	return p
}

// TasksLeft reports none once the attempt is over: the next process does what is left.
func (d *database) TasksLeft(ctx context.Context) (bool, error) {
	if p := processOf(ctx); p != nil && p.claimed() != nil {
		return false, nil
	}
	return d.FlowStore.TasksLeft(ctx)
}

func (d *database) onStray(fn func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stray = fn
}

func (d *database) reportStray() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stray != nil {
		d.stray()
	}
}

func (d *database) Write(ctx context.Context, fn func(ctx context.Context, tx driver.Tx) error) error {
	if p := processOf(ctx); p != nil {
		return p.write(ctx, d.Driver, func(ctx context.Context, tx *driver.WriteTx) error { return fn(ctx, tx) })
	}
	d.reportStray()
	return d.Driver.Write(ctx, fn)
}

func (d *database) Claim(ctx context.Context, req driver.ClaimRequest) (driver.ClaimResult, error) {
	if p := processOf(ctx); p != nil {
		return p.claim(ctx, d.Driver, req)
	}
	return d.Driver.Claim(ctx, req)
}

func (d *database) Counts(ctx context.Context, filter driver.Filter) (map[driver.State]int, error) {
	if p := processOf(ctx); p != nil {
		return p.counts(ctx, d.Driver, filter)
	}
	return d.Driver.Counts(ctx, filter)
}

func (d *database) Heartbeat(ctx context.Context, req driver.HeartbeatRequest) (bool, error) {
	processOf(ctx).thaw()
	return d.Driver.Heartbeat(ctx, req)
}

func (d *database) RemoveWorker(ctx context.Context, workerID string) error {
	processOf(ctx).thaw()
	return d.Driver.RemoveWorker(ctx, workerID)
}

// The following methods only record the writes of a transaction, to name a crash point.

func (d *database) Insert(
	ctx context.Context, tx *driver.WriteTx, jobs []driver.InsertJob,
) ([]driver.InsertResult, error) {
	for i := range jobs {
		processOf(ctx).note(tx, "enqueues "+jobs[i].Type, false)
	}
	return d.Driver.Insert(ctx, tx, jobs)
}

// InsertGroup uses one transaction for each caller: a group would hide the caller of its commit.
func (d *database) InsertGroup(ctx context.Context, jobs []driver.InsertJob) error {
	return driver.Write(ctx, d, func(ctx context.Context, tx *driver.WriteTx) error {
		if _, err := d.Insert(ctx, tx, jobs); err != nil {
			return err
		}
		return d.Notify(ctx, tx)
	})
}

func (d *database) Finish(ctx context.Context, tx *driver.WriteTx, outcomes []driver.Outcome) ([]error, error) {
	for i := range outcomes {
		does := "completes the job"
		if outcomes[i].Kind != driver.KindCompleted {
			does = "ends the attempt as " + outcomes[i].Kind
		}
		processOf(ctx).note(tx, does, true)
	}
	return d.Driver.Finish(ctx, tx, outcomes)
}

func (d *database) LockLease(ctx context.Context, tx *driver.WriteTx, lease driver.Lease) error {
	processOf(ctx).note(tx, "", true)
	return d.Driver.LockLease(ctx, tx, lease)
}

func (d *database) StartStep(ctx context.Context, tx *driver.WriteTx, lease driver.Lease, name string) error {
	processOf(ctx).note(tx, "starts step "+name, true)
	return d.Driver.StartStep(ctx, tx, lease, name)
}

func (d *database) FinishStep(
	ctx context.Context, tx *driver.WriteTx, lease driver.Lease, step driver.StepRecord,
) error {
	processOf(ctx).note(tx, "stores step "+step.Name, true)
	return d.Driver.FinishStep(ctx, tx, lease, step)
}

func (d *database) SaveCursor(
	ctx context.Context, tx *driver.WriteTx, lease driver.Lease, name string, value json.RawMessage,
) error {
	processOf(ctx).note(tx, "saves the cursor of "+name, true)
	return d.Driver.SaveCursor(ctx, tx, lease, name, value)
}

func (d *database) AwaitSignal(
	ctx context.Context, tx *driver.WriteTx, lease driver.Lease, want driver.Signal,
) (driver.Signal, error) {
	processOf(ctx).note(tx, "awaits the signal "+want.Name, true)
	return d.Driver.AwaitSignal(ctx, tx, lease, want)
}

func (d *database) AddSignal(ctx context.Context, tx *driver.WriteTx, s driver.Signal) (bool, error) {
	processOf(ctx).note(tx, "sends the signal "+s.Name, false)
	return d.Driver.AddSignal(ctx, tx, s)
}

func (d *database) Cancel(ctx context.Context, tx *driver.WriteTx, jobID string) error {
	processOf(ctx).note(tx, "cancels a job", false)
	return d.Driver.Cancel(ctx, tx, jobID)
}

func (d *database) CancelJobs(
	ctx context.Context, tx *driver.WriteTx, req driver.CancelRequest,
) ([]string, error) {
	processOf(ctx).note(tx, "cancels jobs", false)
	return d.Driver.CancelJobs(ctx, tx, req)
}

func (d *database) Hasten(ctx context.Context, tx *driver.WriteTx, jobID string) error {
	processOf(ctx).note(tx, "hastens a job", false)
	return d.Driver.Hasten(ctx, tx, jobID)
}

func (d *database) Retry(ctx context.Context, tx *driver.WriteTx, jobID string) error {
	processOf(ctx).note(tx, "retries a job", false)
	return d.Driver.Retry(ctx, tx, jobID)
}
