package queue

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
)

// The bus delivers events to subscriptions and waits.
type bus struct {
	listeners atomic.Int32 // subscriptions and waits

	mu    sync.Mutex
	subs  map[*Subscription]struct{}
	waits map[string]map[chan struct{}]struct{} // by job id: until it ends
	// staged are the events, by job id, of transactions that may not have committed.
	staged map[string][]*stagedEvent
}

// A stagedEvent belongs to a transaction. Others may see its commit before its author can report it. When an event is
// reported that can only have happened later, the staged event has committed as well and is reported first.
type stagedEvent struct {
	Event
	ended bool // delivered, or its transaction was rolled back
}

func (b *bus) add(s *Subscription) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.subs == nil {
		b.subs = make(map[*Subscription]struct{})
	}
	b.subs[s] = struct{}{}
	b.listeners.Add(1)
}

func (b *bus) remove(s *Subscription) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, ok := b.subs[s]; ok {
		delete(b.subs, s)
		b.left()
	}
}

// left is called when a listener ends.
func (b *bus) left() {
	if b.listeners.Add(-1) == 0 {
		b.staged = nil
	}
}

// await returns a channel that is sent to when the job has ended here.
func (b *bus) await(jobID string) (ended <-chan struct{}, stop func()) {
	c := make(chan struct{}, 1)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waits == nil {
		b.waits = make(map[string]map[chan struct{}]struct{})
	}
	if b.waits[jobID] == nil {
		b.waits[jobID] = make(map[chan struct{}]struct{})
	}
	b.waits[jobID][c] = struct{}{}
	b.listeners.Add(1)
	return c, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if delete(b.waits[jobID], c); len(b.waits[jobID]) == 0 {
			delete(b.waits, jobID)
		}
		b.left()
	}
}

func (b *bus) stage(events []Event) []*stagedEvent {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.staged == nil {
		b.staged = make(map[string][]*stagedEvent)
	}
	staged := make([]*stagedEvent, len(events))
	for i := range events {
		staged[i] = &stagedEvent{Event: events[i]}
		b.staged[events[i].JobID] = append(b.staged[events[i].JobID], staged[i])
	}
	return staged
}

// tell is called when the events' transaction has committed.
func (b *bus) tell(staged []*stagedEvent) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range staged {
		b.flush(e.JobID, e)
		b.deliver(e)
		b.forget(e.JobID)
	}
}

// flush reports the events staged for the job before the given event, or all of them.
func (b *bus) flush(jobID string, before *stagedEvent) {
	for _, e := range b.staged[jobID] {
		if e == before {
			break
		}
		b.deliver(e)
	}
	b.forget(jobID)
}

// forget removes the staged events of the job that have been delivered or dropped.
func (b *bus) forget(jobID string) {
	left := slices.DeleteFunc(b.staged[jobID], func(e *stagedEvent) bool { return e.ended })
	if len(left) == 0 {
		delete(b.staged, jobID)
		return
	}
	b.staged[jobID] = left
}

// drop is called when the events' transaction is rolled back.
func (b *bus) drop(staged []*stagedEvent) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range staged {
		e.ended = true
		b.forget(e.JobID)
	}
}

// started reports something that belongs to no transaction of ours.
func (b *bus) started(e Event) {
	if b.listeners.Load() == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.flush(e.JobID, nil)
	b.deliver(&stagedEvent{Event: e})
}

func (b *bus) deliver(e *stagedEvent) {
	if e.ended {
		return
	}
	e.ended = true
	for s := range b.subs {
		if s.filter.match(&e.Event) {
			s.push(e.Event)
		}
	}
	switch e.Kind {
	case EventCompleted, EventFailed, EventCanceled:
		for c := range b.waits[e.JobID] {
			tell(c)
		}
	}
}

// observed reports whether there is a subscriber or a meter. Without one, events cost only this check.
func (q *Queue) observed(ctx context.Context) bool {
	return q.events.listeners.Load() > 0 || q.telemetry.counts(ctx)
}

// record reports events once tx has committed.
func (q *Queue) record(ctx context.Context, tx *driver.WriteTx, events ...Event) error {
	for i := range events {
		if err := q.describe(ctx, tx, &events[i]); err != nil {
			return err
		}
	}
	if tx.Adopted() {
		// Nobody reports whether it commits, except for the end of a handler's job; see completer.settle.
		tx.OnCommit(func() {
			q.telemetry.count(events)
			q.events.tell(q.events.stage(events))
		})
		return nil
	}
	tx.OnCommit(func() { q.telemetry.count(events) })
	if q.events.listeners.Load() > 0 {
		staged := q.events.stage(events)
		tx.OnCommit(func() { q.events.tell(staged) })
		tx.OnRollback(func() { q.events.drop(staged) })
	}
	return nil
}

// recordEnd is record for the end of an attempt.
func (q *Queue) recordEnd(ctx context.Context, tx *driver.WriteTx, out *driver.Outcome, a *Attempt) error {
	if !q.observed(ctx) {
		return nil
	}
	return q.record(ctx, tx, endEvent(out, a.job, a.began))
}

// recordFailure is record for an attempt that the program itself has ended.
func (q *Queue) recordFailure(ctx context.Context, tx *driver.WriteTx, job *Job, out *driver.Outcome) error {
	if !q.observed(ctx) {
		return nil
	}
	superseded, err := q.superseded(ctx, tx, coalescing(job, out, nil))
	if err != nil {
		return err
	}
	return q.record(ctx, tx, endEvent(out, job, job.StartedAt).unless(superseded[job.ID]))
}

// describe completes an event of which only the job's id is known.
func (q *Queue) describe(ctx context.Context, tx *driver.WriteTx, e *Event) error {
	if e.At.IsZero() {
		e.At = tx.Now()
	}
	if e.JobType != "" {
		return nil
	}
	jobs, err := q.driver.ReadJobs(ctx, tx, []string{e.JobID})
	if err != nil || len(jobs) == 0 {
		return err
	}
	e.JobType, e.Attempt = jobs[0].Type, jobs[0].Attempt
	return nil
}

// endEvent returns the event of an attempt's end. A job that is given back before it began has none.
func endEvent(out *driver.Outcome, job *Job, began time.Time) Event {
	e := Event{
		Kind: EventRetried, JobID: job.ID, JobType: job.Type, Attempt: job.Attempt,
		Ended: out.Kind, Error: out.Error, At: out.At, NotBefore: out.NotBefore,
	}
	switch out.State {
	case StateCompleted:
		e.Kind = EventCompleted
	case StateFailed:
		e.Kind, e.NotBefore = EventFailed, time.Time{}
	case StateCanceled:
		e.Kind, e.NotBefore = EventCanceled, time.Time{}
	}
	if !began.IsZero() {
		e.Duration = max(0, out.At.Sub(began))
	}
	return e
}

func enqueuedEvents(tx *driver.WriteTx, rows []driver.InsertJob, results []EnqueueResult) []Event {
	events := make([]Event, 0, len(rows))
	for i := range rows {
		if results[i].Duplicate {
			continue
		}
		due := rows[i].NotBefore
		if due.Before(tx.Now()) {
			due = tx.Now()
		}
		events = append(events, Event{Kind: EventEnqueued, JobID: rows[i].ID, JobType: rows[i].Type, At: tx.Now(),
			NotBefore: due})
	}
	return events
}

// recordCompletions is record for the completions of a completer whose answers are nil; superseded are its jobs that
// were superseded.
func (q *Queue) recordCompletions(
	ctx context.Context, tx *driver.WriteTx, batch []*completion, answers []error, superseded map[string]string,
) error {
	if !q.observed(ctx) {
		return nil
	}
	events := make([]Event, 0, len(batch))
	for i, e := range batch {
		job := e.attempt.job
		why := superseded[job.ID]
		if answers[i] == nil && (e.outcome.Kind != driver.KindReleased || why != "") {
			events = append(events, endEvent(&e.outcome, job, e.attempt.began).unless(why))
		}
	}
	return q.record(ctx, tx, events...)
}

// recordCrashes is record for the jobs of a dead worker. Their run time is unknown.
func (q *Queue) recordCrashes(
	ctx context.Context, tx *driver.WriteTx, jobs []Job, outcomes []driver.Outcome, answers []error,
) error {
	if !q.observed(ctx) {
		return nil
	}
	var ids []string
	for i := range jobs {
		ids = append(ids, coalescing(&jobs[i], &outcomes[i], answers[i])...)
	}
	superseded, err := q.superseded(ctx, tx, ids)
	if err != nil {
		return err
	}
	events := make([]Event, 0, len(jobs))
	for i := range jobs {
		why := superseded[jobs[i].ID]
		if answers[i] == nil && (outcomes[i].Kind != driver.KindReleased || why != "") {
			events = append(events, endEvent(&outcomes[i], &jobs[i], time.Time{}).unless(why))
		}
	}
	return q.record(ctx, tx, events...)
}

// claimed reports jobs that a claim has returned to the program itself.
func (q *Queue) claimed(ctx context.Context, jobs []Job) {
	q.telemetry.countClaimed(ctx, jobs)
	if q.events.listeners.Load() == 0 {
		return
	}
	for i := range jobs {
		j := &jobs[i]
		q.events.started(Event{Kind: EventStarted, JobID: j.ID, JobType: j.Type, Attempt: j.Attempt, At: j.StartedAt})
	}
}

// begin is called when a handler is; its context is the handler's.
func (q *Queue) begin(e *entry) context.Context {
	a, job := e.attempt, e.attempt.job
	ctx, span := q.telemetry.begin(e.ctx, job, a.began)
	a.span = span
	if sc := span.SpanContext(); sc.IsValid() {
		a.spanContext.Store(&sc)
	}
	if q.events.listeners.Load() > 0 {
		q.events.started(Event{Kind: EventStarted, JobID: job.ID, JobType: job.Type, Attempt: job.Attempt, At: a.began})
	}
	return ctx
}
