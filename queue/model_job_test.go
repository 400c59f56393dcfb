package queue_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

// enqueue takes all of a batch in, or nothing.
func (m *model) enqueue(batch []queue.NewJob) ([]queue.EnqueueResult, error) {
	first := m.ids + 1
	m.ids += len(batch)
	results := make([]queue.EnqueueResult, len(batch))
	for i := range batch {
		results[i].ID = modelID(first + i)
		payload, err := json.Marshal(batch[i].Payload)
		if err != nil {
			return nil, err
		}
		job := m.newJob(results[i].ID, string(payload), &batch[i])
		if job.Key.Name != "" {
			if holder := m.take(job, batch[i].Key.Period); holder.JobID != job.ID {
				results[i] = queue.EnqueueResult{ID: holder.JobID, Duplicate: true}
				switch {
				case holder.jobType != job.Type:
					return nil, queue.ErrKeyConflict
				case holder.payload != string(payload):
					results[i].Difference = "some"
				}
				continue
			}
		}
		m.jobs[job.ID] = job
	}
	return results, nil
}

func (m *model) newJob(id, payload string, n *queue.NewJob) *modelJob {
	j := &modelJob{steps: map[string]queue.StepRecord{}, Job: queue.Job{
		ID: id, Type: n.Type, Payload: json.RawMessage(payload), Options: driver.Options(n.Options),
		State: queue.StateQueued, CreatedAt: m.now, UpdatedAt: m.now,
	}}
	j.Key.Period = 0
	if j.due = !n.NotBefore.After(m.now); j.due {
		j.NotBefore = m.now
	}
	if j.MaxAttempts == 0 {
		j.MaxAttempts = 5
	}
	if j.Key.Scope == driver.KeyCoalesce {
		j.LimitKey = "coalesce:" + j.Key.Name
	}
	return j
}

// take takes the job's key if it is free, and returns who has it then.
func (m *model) take(j *modelJob, period time.Duration) modelKey {
	if holder, taken := m.keys[j.Key.Name]; taken && holder.JobID != j.ID && !m.free(holder) {
		return holder
	}
	k := modelKey{Key: j.Key.Name, JobID: j.ID, Scope: j.Key.Scope, jobType: j.Type, payload: string(j.Payload)}
	if k.Scope == driver.KeyPeriod {
		k.Expires = m.now.Add(period)
	}
	m.keys[j.Key.Name] = k
	return k
}

// free reports whether a key may be taken over: its time is over, or its job waits no more, and others may wait
// meanwhile.
func (m *model) free(k modelKey) bool {
	if k.Scope == driver.KeyCoalesce {
		return m.jobs[k.JobID].State != queue.StateQueued
	}
	return !k.Expires.IsZero() && !k.Expires.After(m.now)
}

// end is the end of a job, which frees its key.
func (m *model) end(j *modelJob, state queue.State) {
	j.State, j.FinishedAt = state, m.now
	if k := m.keys[j.Key.Name]; k.JobID == j.ID && (k.Scope == driver.KeyUnfinished || k.Scope == driver.KeyCoalesce) {
		delete(m.keys, j.Key.Name)
	}
}

// held answers what a write under the lease must.
func (m *model) held(lease queue.Lease) (*modelJob, error) {
	j := m.jobs[lease.JobID]
	switch {
	case j == nil:
		return nil, queue.ErrJobNotFound
	case j.State != queue.StateRunning:
		return nil, queue.ErrNotRunning
	case j.Attempt != lease.Attempt:
		return nil, queue.ErrLeaseLost
	}
	return j, nil
}

// finish writes the end of an attempt.
func (m *model) finish(out driver.Outcome) error {
	j, err := m.held(out.Lease)
	if err != nil {
		return err
	}
	j.UpdatedAt, j.Result = m.now, out.Result
	switch {
	case out.Kind == queue.KindCompleted:
		j.LastError = ""
	case out.Error != "":
		j.LastError = out.Error
	}
	switch out.Kind {
	case queue.KindFailed:
		j.Failures++
	case queue.KindInterrupted:
		j.Interruptions++
	case queue.KindCrashed:
		j.Crashes++
	}
	if out.Kind != queue.KindCompleted && out.Kind != driver.KindReleased {
		j.record(out.Kind, out.Error, m.now)
	}
	if !out.NotBefore.IsZero() {
		j.NotBefore = out.NotBefore
	}
	if out.State.Finished() {
		m.end(j, out.State)
		return nil
	}
	m.again(j, out.NotBefore)
	return nil
}

// finishAll answers those that are refused by what there is then: another end may be of a later attempt of the same
// job.
func (m *model) finishAll(ends []driver.Outcome) []error {
	answers := make([]error, len(ends))
	for i := range ends {
		answers[i] = m.finish(ends[i])
	}
	for i := range ends {
		if answers[i] != nil {
			_, answers[i] = m.held(ends[i].Lease)
		}
	}
	return answers
}

func (j *modelJob) record(kind, text string, at time.Time) {
	j.records = append(j.records, queue.AttemptRecord{
		JobID: j.ID, Attempt: j.Attempt, WorkerID: j.WorkerID, Kind: kind, Error: text, StartedAt: j.StartedAt,
		FinishedAt: at,
	})
}

// again queues a job that was running, unless another waits under its key for the same.
func (m *model) again(j *modelJob, until time.Time) {
	if j.Key.Scope == driver.KeyCoalesce {
		if k, taken := m.keys[j.Key.Name]; taken && k.JobID != j.ID && k.Scope == driver.KeyCoalesce {
			j.State, j.LastError, j.FinishedAt = queue.StateCanceled, "superseded by "+k.JobID, m.now
			return
		}
		m.take(j, 0)
	}
	j.State, j.due = queue.StateQueued, !until.After(m.now)
}

// fail judges an error as the queue does.
func (m *model) fail(claimed *queue.Job, kind string) error {
	out := driver.Outcome{Lease: claimed.Lease(), State: queue.StateQueued, Kind: queue.KindFailed,
		Error: errBroken.Error()}
	switch kind {
	case "plain", "retry after":
		out.NotBefore = m.now.Add(modelRetry.Base << claimed.Failures)
		if kind == "retry after" {
			out.NotBefore = m.now.Add(time.Minute)
		}
		if claimed.Failures+1 >= claimed.MaxAttempts {
			out.State, out.NotBefore = queue.StateFailed, time.Time{}
		}
	case "fatal":
		out.State = queue.StateFailed
	case "defer", "defer for long":
		out.Kind, out.NotBefore = queue.KindInterrupted, m.now
		if kind == "defer for long" {
			out.NotBefore = m.now.Add(time.Hour)
		}
		if claimed.Interruptions+1 > modelBudget.Interruptions {
			out.State = queue.StateFailed
			out.Error += fmt.Sprintf(" (gave up after %d interruptions)", claimed.Interruptions+1)
		}
	}
	return m.finish(out)
}

// failures are what the kinds of fail stand for.
var failures = map[string]error{
	"plain": errBroken, "retry after": queue.RetryAfter(errBroken, time.Minute), "fatal": queue.Fatal(errBroken),
	"defer": queue.Defer(errBroken, 0), "defer for long": queue.Defer(errBroken, time.Hour),
}

// crash lets another process take over the jobs of all workers. Of one that is not registered it is not known whether
// it had begun several.
func (m *model) crash() {
	held := make(map[string]int)
	for _, j := range m.inState(queue.StateRunning) {
		held[j.WorkerID]++
	}
	for _, j := range m.inState(queue.StateRunning) {
		out := driver.Outcome{Lease: j.Lease(), State: queue.StateQueued, Kind: queue.KindCrashed, NotBefore: m.now,
			Error: "worker " + j.WorkerID + " died"}
		if _, registered := m.workers[j.WorkerID]; !registered && held[j.WorkerID] > 1 {
			out.Kind = driver.KindReleased
		} else if j.Crashes+1 > modelBudget.Crashes {
			out.State = queue.StateFailed
			out.Error += fmt.Sprintf(" (gave up after %d crashes: the job may be what kills its workers)", j.Crashes+1)
		}
		if err := m.finish(out); err != nil {
			panic(err)
		}
	}
	clear(m.workers)
	m.chores() // to claim
}

func (m *model) cancel(id string) error {
	j := m.jobs[id]
	switch {
	case j == nil:
		return queue.ErrJobNotFound
	case j.State.Finished():
		return queue.ErrFinished
	case j.State == queue.StateRunning:
		j.record(queue.KindCanceled, "job was canceled", m.now)
	}
	j.UpdatedAt = m.now
	m.end(j, queue.StateCanceled)
	return nil
}

func (m *model) retry(id string) error {
	j := m.jobs[id]
	switch {
	case j == nil:
		return queue.ErrJobNotFound
	case j.State == queue.StateCompleted:
		return queue.ErrFinished
	case !j.State.Finished():
		return queue.ErrNotFinished
	}
	if j.Key.Scope == driver.KeyUnfinished || j.Key.Scope == driver.KeyCoalesce {
		if m.take(j, 0).JobID != j.ID {
			return queue.ErrKeyConflict
		}
	}
	j.Failures, j.Interruptions, j.Crashes = 0, 0, 0
	j.State, j.NotBefore, j.due, j.UpdatedAt, j.FinishedAt = queue.StateQueued, m.now, true, m.now, time.Time{}
	return nil
}

// redrive retries what matches, as far as keys are free.
func (m *model) redrive(f queue.Filter) (done queue.RedriveResult) {
	for _, j := range m.find(f) {
		if err := m.retry(j.ID); errors.Is(err, queue.ErrKeyConflict) {
			done.KeyTaken++
		} else {
			done.Queued++
		}
	}
	return done
}

// step starts a step, saves how far it has come, or finishes it.
func (m *model) step(lease queue.Lease, name, does string, value json.RawMessage) error {
	j, err := m.held(lease)
	if err != nil {
		return err
	}
	step, begun := j.steps[name]
	finished := !step.FinishedAt.IsZero()
	if !begun {
		step = queue.StepRecord{JobID: j.ID, Name: name, StartedAt: m.now}
	}
	switch does {
	case "start":
		if finished {
			return nil
		}
		step.StartedAt = m.now
	case "save cursor":
		if finished {
			return queue.ErrStepFinished
		}
		step.Cursor = value
	case "finish":
		step.FinishedAt, step.Result, step.Cursor = m.now, value, nil
	}
	step.Attempt = lease.Attempt
	j.steps[name] = step
	return nil
}

// prune forgets jobs that have been finished for long; their keys stay.
func (m *model) prune(req driver.PruneRequest) (n int) {
	for _, j := range m.inState(req.State) {
		if j.Type == req.Type && j.FinishedAt.Before(req.FinishedBefore) {
			delete(m.jobs, j.ID)
			n++
		}
	}
	return n
}

// pruneKeys forgets keys whose time is over.
func (m *model) pruneKeys() (n int) {
	for name, k := range m.keys {
		if !k.Expires.IsZero() && !k.Expires.After(m.now) {
			delete(m.keys, name)
			n++
		}
	}
	return n
}

// pruneRates forgets rates that have passed.
func (m *model) pruneRates(before time.Time) (n int) {
	for of, at := range m.arrivals {
		if at.Before(before) {
			delete(m.arrivals, of)
			n++
		}
	}
	return n
}

// firstKeyExpiry is when the first key is free again; zero when there is none.
func (m *model) firstKeyExpiry() time.Time {
	var times []time.Time
	for _, k := range m.keys {
		times = append(times, k.Expires)
	}
	return earliest(times...)
}

// earliest is the first of the times that are not zero.
func earliest(times ...time.Time) (first time.Time) {
	for _, t := range times {
		if !t.IsZero() && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	return first
}

// finished are the types that have jobs in the state, and when the first of them finished.
func (m *model) finished(state queue.State) (types []driver.FinishedType) {
	for _, name := range modelTypes {
		var times []time.Time
		for _, j := range m.inState(state) {
			if j.Type == name {
				times = append(times, j.FinishedAt)
			}
		}
		first := earliest(times...)
		if !first.IsZero() {
			types = append(types, driver.FinishedType{Type: name, First: first})
		}
	}
	return types
}
