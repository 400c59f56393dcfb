package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/queue"
)

// setUpAttempts is how often it is tried to read the labels of an account by a run that is to end.
const setUpAttempts = 3

// RunUntilIdle sets up the accounts with the ids, or all without ids, takes in their mail, and runs jobs until nothing
// is left to do except jobs for later. All accounts are set up before mail is taken in of any: until then nothing is
// decided.
//
// It returns by account id why accounts could not be set up; that is no error. The other accounts are worked on.
func (p *Pipeline) RunUntilIdle(ctx context.Context, accountIDs ...string) (faults map[string]error, err error) {
	end, err := p.begin()
	if err != nil {
		return nil, err
	}
	defer end()
	if err := p.limitJobs(ctx); err != nil {
		return nil, err
	}
	p.gate.close()
	accounts, err := p.accounts(ctx)
	if err != nil {
		return nil, err
	}
	if len(accountIDs) > 0 {
		accounts = slices.DeleteFunc(accounts, func(a mailstore.Account) bool { return !slices.Contains(accountIDs, a.ID) })
	}
	faults, p.givenUp = map[string]error{}, map[string]bool{}
	setups := make([]*setup, len(accounts))
	for i, a := range accounts {
		setups[i] = &setup{Pipeline: p, account: a, start: p.process}
		setups[i].await = setups[i].awaitHere
		err := setups[i].reach(ctx)
		if err == nil {
			err = setups[i].takeRules(ctx)
			if noted := setups[i].note(ctx, err); noted != nil {
				return faults, noted
			}
		}
		if ctx.Err() != nil {
			return faults, ctx.Err()
		}
		if err != nil {
			faults[a.ID] = err
			p.givenUp[mailstore.LimitKey(a.ID)] = true
		}
	}
	if len(faults) == len(accounts) {
		return faults, p.runJobs(ctx) // what is left to do elsewhere than in mailboxes
	}
	for _, s := range setups {
		if faults[s.account.ID] != nil {
			continue
		}
		if err := s.begin(ctx); err != nil {
			return faults, err
		}
	}
	return faults, nil
}

// process enqueues a job and runs jobs until nothing is left to do.
func (p *Pipeline) process(ctx context.Context, job queue.NewJob) error {
	if err := p.enqueue(ctx, job); err != nil {
		return err
	}
	return p.runJobs(ctx)
}

// reach returns an error if this process has no access to the account, and takes up what others have left otherwise.
func (s *setup) reach(ctx context.Context) error {
	if lack := s.lack(ctx, s.account); lack != "" {
		return errors.New(lack)
	}
	return s.Backlog.TakeUp(ctx, s.account.ID, true)
}

// awaitHere works until the job has ended that sets up the account, or until to wait for it longer is in vain.
func (s *setup) awaitHere(ctx context.Context, job queue.NewJob) error {
	enqueued, err := s.Queue.Enqueue(ctx, job)
	if err != nil {
		return err
	}
	before, err := s.Queue.Job(ctx, enqueued.ID) // it may have been there already
	if err != nil {
		return err
	}
	d, err := s.NewDispatcher()
	if err != nil {
		return err
	}
	working, stop := context.WithCancel(ctx)
	defer stop()
	var beside sync.WaitGroup
	beside.Go(func() { s.remember(working) })
	beside.Go(func() {
		defer stop()
		_, _ = s.Queue.Wait(working, before.ID) // the dispatcher reports a database that fails
	})
	beside.Go(func() {
		defer stop()
		again := time.NewTicker(laterInterval)
		defer again.Stop()
		for vain := false; !vain && working.Err() == nil; {
			select {
			case <-working.Done():
			case <-again.C:
				vain, _ = s.waitsInVain(working, before)
			}
		}
	})
	err = d.Run(working)
	stop()
	beside.Wait()
	if err := errors.Join(err, ctx.Err()); err != nil {
		return err
	}
	return s.fault(ctx, before)
}

// waitsInVain reports whether a job that sets up the account has not ended, and will not soon.
func (s *setup) waitsInVain(ctx context.Context, before *queue.Job) (bool, error) {
	account, err := s.Mail.Account(ctx, s.account.ID)
	if err != nil || account.State != mailstore.AccountActive {
		return true, err
	}
	job, err := s.Queue.Job(ctx, before.ID)
	if err != nil || job.State != queue.StateQueued {
		return false, err
	}
	limits, err := s.Queue.Limits(ctx)
	return job.Failures-before.Failures >= setUpAttempts || time.Until(job.NotBefore) > retryPatience ||
		IsPaused(job, limits), err
}

// fault returns why the account is not set up, and what to do; nil if it is.
func (s *setup) fault(ctx context.Context, before *queue.Job) error {
	job, err := s.Queue.Job(ctx, before.ID)
	if err != nil || job.State == queue.StateCompleted {
		return err
	}
	if job.State.Finished() {
		return fmt.Errorf("its labels could not be read: %s", job.LastError)
	}
	if tried := job.Failures - before.Failures; tried > 0 {
		return fmt.Errorf("its labels could not be read in %d attempts: %s; when its server answers, run this again: "+
			"the jobs stay in the queue", tried, job.LastError)
	}
	return &WaitingError{JobID: job.ID, Type: string(gmail.JobLabelsSync)}
}

// A WaitingError reports that an account is not set up because the job that reads its labels waits. The queue explains
// what a job waits for; see queueadmin.Explain.
type WaitingError struct{ JobID, Type string }

// Error implements error.
func (e *WaitingError) Error() string {
	return fmt.Sprintf("its labels are not read, since job %s (%s) waits", e.JobID, e.Type)
}
