package queue

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue/driver"
)

// When a process dies, one of its jobs may be the cause, and nobody knows which. Only jobs that are known to have begun
// are charged. All of them are suspects until an attempt ends otherwise: a process runs one suspect at a time, and one
// that has crashed twice alone, so that the guilty job dies without company.

// judgeCrash returns the outcome of a job whose worker died. A job that is not known to have begun is not charged.
func judgeCrash(job *Job, now time.Time, budget Budget, begun bool) driver.Outcome {
	out := driver.Outcome{
		Lease: job.lease(), State: StateQueued, Kind: KindCrashed, NotBefore: now, At: now,
		Error: fmt.Sprintf("worker %s died", job.WorkerID),
	}
	switch {
	case !begun:
		out.Kind = driver.KindReleased
	case job.Crashes >= budget.Crashes:
		out.State = StateFailed
		out.Error = fmt.Sprintf("%s (gave up after %d crashes: the job may be what kills its workers)", out.Error,
			job.Crashes+1)
	case job.Crashes > 0:
		out.NotBefore = now.Add(suspectRetry.after(job.Crashes))
	}
	return out
}

// suspectRetry is how long a suspect waits for its turn, by the number of its crashes.
var suspectRetry = RetryPolicy{Base: time.Second, Factor: 2, Cap: 5 * time.Minute, Jitter: 0.5}

// suspected reports whether the latest attempt of the job ended with the death of its worker.
func (j *Job) suspected() bool {
	return strings.HasPrefix(j.LastError, "worker ") && strings.Contains(j.LastError, " died")
}

// mustBeAlone reports whether nothing may run beside the entry in its process.
func (e *entry) mustBeAlone() bool { return e.suspect && e.attempt.job.Crashes > 1 }

// closed reports whether only suspects may begin: one runs alone, or waits for the others to end so that it can.
func (s *runningSet) closed() bool {
	if s.turn != nil {
		return s.turn.mustBeAlone()
	}
	return len(s.apart) > 0 && s.apart[0].mustBeAlone()
}

// suspectMayBegin reports whether it is the turn of the first suspect that waits.
func (s *runningSet) suspectMayBegin() bool {
	return s.turn == nil && len(s.apart) > 0 && (!s.closed() || s.inside == len(s.stuck))
}

// startable is how many jobs may begin now.
func (s *runningSet) startable() (n int) {
	if s.suspectMayBegin() {
		n++
	}
	if !s.closed() {
		n += len(s.backlog)
	}
	return n
}

// pick takes out the job that begins next; nil if none may.
func (s *runningSet) pick() (e *entry) {
	if s.suspectMayBegin() {
		e, s.apart = s.apart[0], s.apart[1:]
		s.turn, e.turnBegan, e.marked = e, time.Now(), true
		return e
	}
	if s.closed() || len(s.backlog) == 0 {
		return nil
	}
	e = s.backlog[0]
	s.backlog[0] = nil
	s.backlog = s.backlog[1:]
	return e
}

// endTurn lets the next suspect begin, and returns how many goroutines to start.
func (s *runningSet) endTurn() int {
	s.turn = nil
	s.tellIfHungry()
	return s.occupy()
}

const (
	// suspectTurn is how long a suspect keeps others from beginning. What has run so long is no longer likely to be
	// the cause; if it is, it crashes again, and then runs alone.
	suspectTurn = time.Minute
	// aloneTurn is how long a suspect runs alone that has crashed again: a long job must not hold up the rest for good.
	aloneTurn = 5 * time.Minute
	// suspectPatience is how long a suspect waits in this process before it is given back, and alonePatience how long
	// one that must be alone does, while nothing else begins.
	suspectPatience = time.Second
	alonePatience   = 30 * time.Second
	// isolationInterval is how often the isolator looks.
	isolationInterval = time.Second
)

// passTurn ends a turn that has lasted long. It returns how long the present one has, and how many goroutines to start.
func (s *runningSet) passTurn() (lasted time.Duration, goroutines int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turn == nil {
		return 0, 0
	}
	most := suspectTurn
	if s.turn.mustBeAlone() {
		most = aloneTurn
	}
	if lasted = time.Since(s.turn.turnBegan); lasted > most {
		goroutines = s.endTurn()
	}
	return lasted, goroutines
}

// unclaimSuspects takes out the suspects that have waited too long at the given time, and returns how many goroutines
// to start.
func (s *runningSet) unclaimSuspects(now time.Time) (left []*Attempt, goroutines int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.apart) > 0 {
		e, patience := s.apart[0], suspectPatience
		if e.mustBeAlone() {
			patience = alonePatience
		}
		if now.Sub(e.claimed) < patience {
			break
		}
		left, s.apart = append(left, s.release(e)), s.apart[1:]
	}
	if len(left) > 0 {
		goroutines = s.occupy()
		s.tellIfHungry()
	}
	return left, goroutines
}

// release marks an entry that has not begun as given back.
func (s *runningSet) release(e *entry) *Attempt {
	e.given = true
	s.count(e, -1)
	s.exit(e)
	return e.attempt
}

// unmarked returns the attempts that run without a mark of it.
func (s *runningSet) unmarked() (attempts []*Attempt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.attempts {
		if e.inside && !e.marked && !e.given {
			e.marked = true
			attempts = append(attempts, e.attempt)
		}
	}
	return attempts
}

// markBegun stores that the attempts have begun.
func (q *Queue) markBegun(ctx context.Context, attempts ...*Attempt) error {
	now := dbtime.Truncate(q.now())
	leases := make([]driver.Lease, len(attempts))
	for i, a := range attempts {
		leases[i] = a.job.lease()
		if first := a.job.StartedAt.Add(time.Microsecond); now.Before(first) {
			now = first
		}
	}
	ctx, cancel := answered(ctx)
	defer cancel()
	return q.driver.MarkBegun(ctx, leases, now)
}

// The isolator marks attempts that have run for a while as begun, and gives back suspects that wait too long.
type isolator struct {
	q       *Queue
	log     *slog.Logger
	running *runningSet
	runner  *runner
}

func (i *isolator) run(ctx context.Context) {
	ticker := time.NewTicker(isolationInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if begun := i.running.unmarked(); len(begun) > 0 {
			if err := i.q.markBegun(ctx, begun...); err != nil && ctx.Err() == nil {
				i.log.WarnContext(ctx, "marking jobs as begun failed", logError, err)
			}
		}
		i.pass()
	}
}

// pass ends the wait of suspects. Those that are given back wait the longer, the longer the one that runs has run.
func (i *isolator) pass() {
	lasted, passed := i.running.passTurn()
	left, goroutines := i.running.unclaimSuspects(time.Now())
	for range passed + goroutines {
		go i.runner.work()
	}
	for _, a := range i.running.unclaimWaiting(time.Now().Add(-poolWait)) {
		i.runner.release(a, time.Time{})
	}
	for _, a := range left {
		wait := suspectRetry.after(a.job.Crashes + 1)
		if lasted > wait {
			wait = RetryPolicy{Base: lasted, Factor: 1, Cap: lasted, Jitter: suspectRetry.Jitter}.after(1)
		}
		i.runner.release(a, a.q.now().Add(wait))
	}
}
