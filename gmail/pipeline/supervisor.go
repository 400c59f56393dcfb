package pipeline

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/queue"
)

// The interval at which setting up an account is retried, and the shorter one at which accounts are looked for that
// another process has added, removed, paused or resumed, or that are signed in to again.
const (
	superviseInterval = 15 * time.Second
	noticeInterval    = time.Second
)

// A supervisor sets up the accounts, also those that are added while it runs. It sets them up side by side: one whose
// mail server does not answer keeps no other waiting.
type supervisor struct {
	*Pipeline

	since     map[string]time.Time // when the states of the accounts began, by id, as they were last looked at
	scheduled []string             // the accounts whose schedules are stored
	// reached are the accounts that this process has access to, by id, when what others have left was taken up.
	reached map[string]bool

	setting  sync.WaitGroup
	ended    chan struct{} // has an element when an account has been set up, or could not be
	mu       sync.Mutex
	accounts map[string]supervised // by id
}

// A supervised is how far an account is set up.
type supervised struct {
	step  superviseStep
	since time.Time // when the account's state began: after a pause or a new sign-in it is set up again
	wants bool      // not all of its labels could be made; see mailstore.Store.WantedLabels
	swept bool      // what was held as its rules were stored has been looked for once more
}

type superviseStep int

const (
	stepWaits superviseStep = iota // to be set up
	stepRuns
	stepFailed // it is tried again after the interval
	stepDone
)

func newSupervisor(p *Pipeline) *supervisor {
	return &supervisor{Pipeline: p, ended: make(chan struct{}, 1), reached: map[string]bool{},
		accounts: map[string]supervised{}}
}

// Supervise sets up the accounts, and those that are added, until ctx is done; see [Pipeline.Run]. It is for a host
// that runs a dispatcher of its own beside it.
func (p *Pipeline) Supervise(ctx context.Context) {
	p.gate.close()
	newSupervisor(p).run(ctx)
}

func (s *supervisor) run(ctx context.Context) {
	defer s.setting.Wait()
	again := time.NewTicker(superviseInterval)
	defer again.Stop()
	notice := time.NewTicker(noticeInterval)
	defer notice.Stop()
	for retry := true; ; {
		if err := s.look(ctx, retry); err != nil && ctx.Err() == nil {
			s.cfg.Logger.Error("the accounts cannot be looked at; trying again", "error", err, "in", superviseInterval)
		}
		for waits := true; waits; {
			waits, retry = false, false
			select {
			case <-ctx.Done():
				return
			case <-again.C:
				retry = true
			case <-notice.C:
				retry = s.changed(ctx)
				waits = !retry
			case <-s.ended:
			case <-s.added:
			}
		}
	}
}

// changed reports whether the accounts or their states are others than when they were last looked at.
func (s *supervisor) changed(ctx context.Context) bool {
	accounts, err := s.Pipeline.accounts(ctx)
	return err == nil && !maps.Equal(sinceOf(accounts), s.since)
}

func sinceOf(accounts []mailstore.Account) map[string]time.Time {
	since := make(map[string]time.Time, len(accounts))
	for i := range accounts {
		since[accounts[i].ID] = accounts[i].Since
	}
	return since
}

// look begins to set up the accounts that are not, those that have failed only to retry.
func (s *supervisor) look(ctx context.Context, retry bool) error {
	accounts, err := s.Pipeline.accounts(ctx)
	if err == nil {
		s.since = sinceOf(accounts)
		err = s.keepSchedules(ctx, accounts, retry)
	}
	s.ready.fails(err)
	if accounts == nil && err != nil {
		return err
	}
	lacks, fault := s.lookAtAccess(ctx, accounts, retry)
	mayChange := s.Ledger.Held(ctx) == nil
	var awaited []string
	for _, a := range accounts {
		if a.State != mailstore.AccountActive && s.stepOf(a.ID) != stepRuns {
			continue
		}
		if lack := lacks[a.Email]; lack != "" && !s.shared() { // and no other process sets it up
			s.ready.awaits(a.Email, ": "+lack, "")
			awaited = append(awaited, a.Email)
			continue
		}
		if s.begins(a, retry, mayChange) {
			s.ready.awaits(a.Email, " is being set up", "")
			s.setting.Go(func() { s.setUp(ctx, a) })
		}
		if s.stepOf(a.ID) != stepDone && lacks[a.Email] == "" {
			awaited = append(awaited, a.Email)
		}
	}
	s.ready.awaitsOnly(awaited)
	if retry {
		fault = errors.Join(fault, s.sweep(ctx))
	}
	return errors.Join(err, fault)
}

// lookAtAccess says of the accounts that this process has no access to what it lacks, by address. What others have
// left of the rest is taken up: all when access is new, and where other processes share the accounts, again and again.
func (s *supervisor) lookAtAccess(ctx context.Context, accounts []mailstore.Account,
	again bool) (lacks map[string]string, err error) {
	lacks = map[string]string{}
	for _, a := range accounts {
		if a.State != mailstore.AccountActive {
			continue
		}
		if lack := s.lack(ctx, a); lack != "" {
			lacks[a.Email], s.reached[a.ID] = lack, false
			continue
		}
		if reached := s.reached[a.ID]; !reached || again && s.shared() {
			fault := s.Backlog.TakeUp(ctx, a.ID, !reached)
			s.reached[a.ID] = fault == nil
			err = errors.Join(err, fault)
		}
	}
	if s.shared() {
		s.ready.lacksCredentials(lacks)
	}
	return lacks, err
}

// keepSchedules stores the schedules of the accounts; also of one that cannot be set up, whose mail comes in
// meanwhile, and is decided about afterwards.
func (s *supervisor) keepSchedules(ctx context.Context, accounts []mailstore.Account, again bool) error {
	ids := make([]string, len(accounts))
	for i := range accounts {
		ids[i] = accounts[i].ID
	}
	if !again && slices.Equal(ids, s.scheduled) {
		return nil
	}
	s.scheduled = ids
	return s.schedule(ctx, accounts)
}

// sweep lets go on, once more, what has waited for rules that are stored since the last time.
func (s *supervisor) sweep(ctx context.Context) error {
	s.mu.Lock()
	var ids []string
	for id, now := range s.accounts {
		if now.step == stepDone && !now.swept {
			ids = append(ids, id)
		}
	}
	s.mu.Unlock()
	for _, id := range ids {
		if s.gate.holds(ctx, id) {
			continue // rules that the host stores by itself
		}
		s.mu.Lock()
		now := s.accounts[id]
		now.swept = true
		s.accounts[id] = now
		s.mu.Unlock()
		if err := s.letDecide(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

func (s *supervisor) stepOf(accountID string) superviseStep {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.accounts[accountID].step
}

// begins reports whether to set up the account now, and notes that this has begun. An account whose labels could not
// all be made is set up again when they can be, and so is one that was paused or signed out meanwhile, when the host's
// rules may have changed.
func (s *supervisor) begins(a mailstore.Account, retry, mayChange bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.accounts[a.ID]
	switch {
	case now.step != stepRuns && !now.since.Equal(a.Since):
	case now.step == stepRuns, now.step == stepFailed && !retry, now.step == stepDone &&
		(!now.wants || !mayChange || !retry):
		return false
	}
	now.step, now.since = stepRuns, a.Since
	s.accounts[a.ID] = now
	return true
}

// setUp sets up one account, and reports why it cannot.
func (s *supervisor) setUp(ctx context.Context, a mailstore.Account) {
	now := supervised{step: stepDone, since: a.Since}
	wants, err := s.startPipeline(ctx, a)
	switch now.wants = wants; {
	case err == nil:
		s.cfg.Logger.Info("the account is set up", "account", a.Email)
	case ctx.Err() == nil && s.lack(ctx, a) != "": // it waits for another process, as was said
		now.step = stepFailed
	case ctx.Err() == nil:
		now.step = stepFailed
		s.ready.awaits(a.Email, ": "+err.Error(), "")
		s.cfg.Logger.Error("an account cannot be set up; trying again", "account", a.Email, "error", err, "in",
			superviseInterval)
	}
	s.mu.Lock()
	s.accounts[a.ID] = now
	s.mu.Unlock()
	select {
	case s.ended <- struct{}{}:
	default: // it will be looked at
	}
}

// startPipeline starts the pipeline of an account. wants reports whether labels are missing that cannot be made now:
// their ids are not known, and this is done again when they can be.
func (s *supervisor) startPipeline(ctx context.Context, a mailstore.Account) (wants bool, err error) {
	up := &setup{Pipeline: s.Pipeline, account: a, start: s.enqueue,
		await: func(ctx context.Context, job queue.NewJob) error { return s.await(ctx, a, job) }}
	err = up.run(ctx)
	if err = errors.Join(err, up.note(ctx, err)); err != nil {
		return false, err
	}
	wanted, err := s.Mail.WantedLabels(ctx, a.ID)
	return len(wanted) > 0, err
}

func (p *Pipeline) enqueue(ctx context.Context, job queue.NewJob) error {
	_, err := p.Queue.Enqueue(ctx, job)
	return err
}

// await returns when the job is done; see awaitJob.
func (s *supervisor) await(ctx context.Context, a mailstore.Account, job queue.NewJob) error {
	return s.awaitJob(ctx, job, func(id string) { s.ready.awaits(a.Email, " is being set up", id) })
}

// awaitJob enqueues a job and returns when it is done, by this process or another. It gives up after a while: the
// account may have been paused meanwhile. enqueued gets the id of the job, unless it is nil.
func (p *Pipeline) awaitJob(ctx context.Context, job queue.NewJob, enqueued func(id string)) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	awaited, err := p.Queue.Enqueue(ctx, job)
	if err != nil {
		return err
	}
	if enqueued != nil {
		enqueued(awaited.ID)
	}
	ended, err := p.Queue.Wait(ctx, awaited.ID)
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("job %s (%s) has not ended yet", awaited.ID, job.Type)
	}
	if err == nil && ended.State != queue.StateCompleted {
		err = fmt.Errorf("job %s (%s) is %s: %s", ended.ID, ended.Type, ended.State, ended.LastError)
	}
	return err
}
