package queue

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue/driver"
)

// maxCompletions bounds what the completer writes in one transaction.
const maxCompletions = 1024

// maxCompleted bounds the bytes of the results in it: the completion that reaches it is the last.
const maxCompleted = maxMaxPayload

// A completion is an attempt whose handler has returned, or was given up, with the outcome of its job.
type completion struct {
	attempt *Attempt
	outcome driver.Outcome
	stored  *driver.Outcome // the same, encoded
	lines   []LogLine       // that its handler has logged
	settled bool            // completed by the transaction of CompleteTx
	tried   bool            // to be written: perhaps it has been, and the answer was lost
	at      time.Time       // that is stored; see completer.align
	level   slog.Level      // of the line about an interruption
}

// levelOf is the level of the line about an interruption.
func levelOf(cause error) slog.Level {
	if its := slog.Leveler(nil); errors.As(cause, &its) {
		return its.Level()
	}
	return slog.LevelInfo
}

func newCompletion(a *Attempt, out driver.Outcome) *completion {
	out.LimitKey = a.job.LimitKey
	e := &completion{attempt: a, outcome: out, lines: a.logLines()}
	e.stored = a.q.stored(&e.outcome)
	return e
}

// The completer writes how attempts ended: all that are ready, in one transaction. It does not give up while the
// dispatcher lives: a job whose end is not written would stay running under a live worker.
type completer struct {
	q       *Queue
	log     *slog.Logger
	running *runningSet
	claimer *claimer // that it may claim for
	lease   time.Duration
	woken   chan struct{}

	mu          sync.Mutex
	completions []*completion
	spare       []*completion // written completions, for reuse

	outcomes []driver.Outcome // of the batch that is written; filled again for the next one
}

// add never blocks.
func (c *completer) add(e *completion) {
	c.mu.Lock()
	c.completions = append(c.completions, e)
	c.mu.Unlock()
	tell(c.woken)
}

// take returns the completions that are ready, up to a bound, since others wait for the transaction.
func (c *completer) take() (batch []*completion) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := c.within(); n < len(c.completions) {
		batch, c.completions = c.completions[:n:n], c.completions[n:]
		return batch
	}
	batch, c.completions, c.spare = c.completions, c.spare[:0], nil
	return batch
}

// within returns how many of the completions keep to the bounds.
func (c *completer) within() int {
	bytes := 0
	for i, e := range c.completions {
		if i == maxCompletions || bytes >= maxCompleted {
			return i
		}
		bytes += len(e.stored.Result)
	}
	return len(c.completions)
}

// reuse keeps the memory of a batch that is written.
func (c *completer) reuse(batch []*completion) {
	clear(batch)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spare = batch
}

func (c *completer) putBack(left []*completion) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.completions = append(c.completions, left...)
}

func (c *completer) run(ctx context.Context) {
	for failures := 0; ; {
		batch := c.take()
		if len(batch) == 0 {
			select {
			case <-ctx.Done():
				return
			case <-c.woken:
			}
			continue
		}
		left := c.write(ctx, batch)
		if len(left) == 0 {
			failures = 0
			c.reuse(batch)
			continue
		}
		failures++
		c.putBack(left)
		if !sleep(ctx, min(DefaultRetry.after(failures), c.lease/10)) {
			return
		}
	}
}

// write returns the completions that could not be written. When the batch fails as a whole, its completions are tried
// apart, so that one that the database refuses delays no other. Those that fail come last the next time.
func (c *completer) write(ctx context.Context, batch []*completion) (left []*completion) {
	err := c.try(ctx, batch)
	if errors.Is(err, driver.ErrDeadlock) {
		// On a busy server even the wait for more room in a file is given up. What keeps one job locked lasts longer.
		batch = tried(batch)
		err = c.try(ctx, batch)
	}
	if err == nil {
		return nil
	}
	if errors.Is(err, driver.ErrClosed) {
		c.running.setUnwritable()
	}
	c.log.ErrorContext(ctx, "writing the ends of jobs failed; trying again", "jobs", len(batch), logError, err)
	if batch = tried(batch); len(batch) == 1 {
		return batch
	}
	// As many parts as a part has completions: one that is refused costs the fewest transactions so.
	return c.writeApart(ctx, batch, int(math.Sqrt(float64(len(batch)))))
}

func tried(batch []*completion) []*completion {
	for i := range batch {
		batch[i].tried = true
	}
	return batch
}

// writeApart is write for parts of the batch, and then for the completions of a part that fails.
func (c *completer) writeApart(ctx context.Context, batch []*completion, size int) (left []*completion) {
	for end := 0; end < len(batch); {
		begin := end
		end = min(begin+size, len(batch))
		part := batch[begin:end:end]
		if c.try(ctx, part) == nil {
			continue
		}
		if len(part) > 1 {
			part = c.writeApart(ctx, part, 1)
		}
		left = append(left, part...)
		if len(left) == end && end > 1 { // nothing succeeds: the database is away
			return append(batch[end:len(batch):len(batch)], left...)
		}
	}
	return left
}

func (c *completer) try(ctx context.Context, batch []*completion) error {
	outcomes := c.outcomesOf(batch)
	defer clear(outcomes)
	again := slices.ContainsFunc(batch, func(e *completion) bool { return e.outcome.State == StateQueued })
	var answers []error
	var superseded map[string]string
	// The jobs that this claims outlive the call.
	writing, cancel := answeredIn(ctx, answeredWithin(c.lease))
	defer cancel()
	next := c.claimer.claimOnComplete(batch)
	defer next.close()
	err := c.q.writeSoon(writing, func(ctx context.Context, tx *driver.WriteTx) (err error) {
		if answers, err = next.finish(ctx, c.q.driver, tx, outcomes); err != nil {
			return err
		}
		lines := logsOf(batch, answers)
		if err := c.recognize(ctx, tx, batch, answers); err != nil {
			return err
		}
		if err := c.settle(ctx, tx, batch, answers); err != nil {
			return err
		}
		if superseded, err = c.q.superseded(ctx, tx, coalescingOf(batch, answers)); err != nil {
			return err
		}
		if err := c.q.recordCompletions(ctx, tx, batch, answers, superseded); err != nil {
			return err
		}
		if err := c.q.addLogs(ctx, tx, lines); err != nil || !again {
			return err
		}
		return c.q.driver.Notify(ctx, tx)
	})
	if err != nil {
		return err
	}
	next.start(ctx)
	ended := make([]*Attempt, len(batch))
	for i, e := range batch {
		e.reportAdopted(answers[i])
		c.report(e.attempt.traced(ctx), e, answers[i], superseded[e.attempt.job.ID])
		ended[i] = e.attempt
	}
	c.running.forget(ended...)
	return nil
}

// outcomesOf returns the outcomes of the batch to write. The result is valid until the next call.
func (c *completer) outcomesOf(batch []*completion) []driver.Outcome {
	c.outcomes = c.outcomes[:0]
	align(batch)
	for _, e := range batch {
		c.outcomes = append(c.outcomes, *e.stored)
		c.outcomes[len(c.outcomes)-1].At = e.at
	}
	return c.outcomes
}

// alignment is how far from the instant at which a job completed the stored one may be.
const alignment = time.Millisecond

// align gives jobs that completed in short succession one common instant, that of the last of them, because an engine
// can then write their ends with few arguments. A completion that was tried keeps its instant, because it may have been
// stored.
func align(batch []*completion) {
	var last time.Time
	for _, e := range slices.Backward(batch) {
		if !e.at.IsZero() {
			continue
		}
		e.at = e.outcome.At
		if e.outcome.State != StateCompleted {
			continue
		}
		if before := last.Sub(e.at); before >= 0 && before <= alignment {
			e.at = last
		}
		last = e.at
	}
}

// recognize removes the refusal of a completion that an earlier try has written although it failed: the connection was
// lost with the answer to its commit. It has not been reported yet.
func (c *completer) recognize(ctx context.Context, tx *driver.WriteTx, batch []*completion, answers []error) error {
	for i := range batch {
		if !batch[i].tried || !errors.Is(answers[i], ErrNotRunning) {
			continue
		}
		out := batch[i].stored
		jobs, err := c.q.driver.ReadJobs(ctx, tx, []string{out.Lease.JobID})
		if err != nil {
			return err
		}
		for _, job := range jobs {
			if job.State == out.State && job.Attempt == out.Lease.Attempt &&
				job.UpdatedAt.Equal(dbtime.Truncate(batch[i].at)) {
				answers[i] = nil
			}
		}
	}
	return nil
}

// logsOf returns the log lines of the attempts whose ends were accepted; the lines of a lost lease are dropped.
func logsOf(batch []*completion, answers []error) (lines []LogLine) {
	for i := range batch {
		if answers[i] == nil {
			lines = append(lines, batch[i].lines...)
		}
	}
	return lines
}

func coalescingOf(batch []*completion, answers []error) (ids []string) {
	for i := range batch {
		ids = append(ids, coalescing(batch[i].attempt.job, &batch[i].outcome, answers[i])...)
	}
	return ids
}

func (c *completer) report(ctx context.Context, e *completion, answer error, superseded string) {
	job, out := e.attempt.job, &e.outcome
	about := func(more ...any) []any {
		return append([]any{logJobID, job.ID, logJobType, job.Type, logAttempt, job.Attempt}, more...)
	}
	switch {
	case e.settled && out.Error == errUncommitted.Error():
	case e.settled:
		c.log.WarnContext(ctx, "handler returned an error after it had completed its job",
			about(logError, out.Error)...)
	case errors.Is(answer, ErrNotRunning), errors.Is(answer, ErrLeaseLost), errors.Is(answer, ErrJobNotFound):
		c.log.WarnContext(ctx, "what a handler reported is ignored", about(logError, answer)...)
	case out.State == StateFailed:
		c.log.ErrorContext(ctx, "job failed", about(logError, out.Error)...)
		sayStopped(ctx, c.log, job)
	case out.State == StateCanceled:
		c.log.InfoContext(ctx, "job is canceled: its handler has found it pointless", about("reason", out.Error)...)
	case superseded != "":
		c.log.InfoContext(ctx, "job is canceled: another waits that does the same",
			about(logError, out.Error, "reason", superseded)...)
	case out.Kind == KindInterrupted:
		c.log.Log(ctx, e.level, "job will run again", about(logError, out.Error, "not_before", out.NotBefore)...)
	case out.Kind != KindCompleted && out.Kind != driver.KindReleased:
		c.log.WarnContext(ctx, "job will run again", about(logError, out.Error, "not_before", out.NotBefore)...)
	}
}

// sayStopped is the alarm of a failed job that stops its sequence.
func sayStopped(ctx context.Context, log *slog.Logger, job *Job) {
	if job.Sequence != "" && !job.SequenceGoesOn {
		log.ErrorContext(ctx, "sequence is stopped: retry or delete the job that has failed", logJobID, job.ID,
			logJobType, job.Type, logAttempt, job.Attempt, "sequence", job.Sequence)
	}
}

// sleep returns false when ctx is done first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// settle finds the attempts whose failures were refused because their transactions have committed.
func (c *completer) settle(ctx context.Context, tx *driver.WriteTx, batch []*completion, answers []error) error {
	for i := range batch {
		if batch[i].attempt.adopted.Load() == nil || !errors.Is(answers[i], ErrNotRunning) {
			continue
		}
		lease := batch[i].stored.Lease
		jobs, err := c.q.driver.ReadJobs(ctx, tx, []string{lease.JobID})
		if err != nil {
			return err
		}
		batch[i].settled = len(jobs) == 1 && jobs[0].State == StateCompleted && jobs[0].Attempt == lease.Attempt
	}
	return nil
}

// reportAdopted reports the end of the job, once the transaction of CompleteTx has ended.
func (e *completion) reportAdopted(answer error) {
	switch tx := e.attempt.adopted.Load(); {
	case tx == nil:
	case e.settled:
		tx.Committed()
	case answer == nil:
		tx.RolledBack()
	}
}
