package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/queue"
)

// The interval at which the daemon looks for new accounts, and retries setting one up.
const superviseInterval = 15 * time.Second

// A Supervisor sets up the accounts of a daemon, also those that are added while it runs. It sets them up side by side: one whose mail
// server does not answer keeps no other waiting.
type Supervisor struct {
	app   *App
	ready *Readiness

	opened    bool     // the mailbox of the configuration
	lonely    bool     // it was said that there are none
	scheduled []string // the accounts whose schedules are stored

	reached map[string]bool // the accounts that this machine has access to, by id, when what others have left was taken up

	setting sync.WaitGroup
	ended   chan struct{} // has an element when an account has been set up, or could not be
	mu      sync.Mutex
	Tended  map[string]supervised // by the id of the account
}

// A tended is how far an account is set up.
type supervised struct {
	Step  superviseStep
	wants bool // not all of its labels could be made; see mailstore.Store.WantedLabels
	swept bool // What was held as its rules were stored has been looked for once more
}

type superviseStep int

const (
	stepWaits superviseStep = iota // to be set up
	stepRuns
	stepFailed // it is tried again after the interval
	StepDone
)

// NewSupervisor makes a Supervisor, which reports to ready how far the accounts are.
func NewSupervisor(h *App, ready *Readiness) *Supervisor {
	return &Supervisor{app: h, ready: ready, ended: make(chan struct{}, 1), reached: map[string]bool{}, Tended: map[string]supervised{}}
}

// Run works until ctx is done.
func (t *Supervisor) Run(ctx context.Context) {
	defer t.setting.Wait()
	again := time.NewTicker(superviseInterval)
	defer again.Stop()
	for retry := true; ; {
		if err := t.look(ctx, retry); err != nil && ctx.Err() == nil {
			t.app.Log.Error("the accounts cannot be looked at; trying again", "error", err, "in", superviseInterval)
		}
		select {
		case <-ctx.Done():
			return
		case <-again.C:
			retry = true
		case <-t.ended:
			retry = false
		}
	}
}

// WithReader begins to set up the accounts that are not, those that have failed only to retry.
func (t *Supervisor) look(ctx context.Context, retry bool) error {
	accounts, err := t.Accounts(ctx)
	if err == nil {
		err = t.keepSchedules(ctx, accounts, retry)
	}
	t.ready.fails(err)
	if accounts == nil && err != nil {
		return err
	}
	lacks, fault := t.lookAtAccess(ctx, accounts, retry)
	mayChange := t.app.Ledger.Held(ctx) == nil
	var awaited []string
	for _, a := range accounts {
		if a.State != mailstore.AccountActive && t.stepOf(a.ID) != stepRuns {
			continue
		}
		if lack := lacks[a.Email]; lack != "" && !t.app.Env.Shared() { // and no other machine sets it up
			t.ready.awaits(a.Email, ": "+lack, "")
			awaited = append(awaited, a.Email)
			continue
		}
		if t.begins(a, retry, mayChange) {
			t.ready.awaits(a.Email, " is being set up", "")
			t.setting.Go(func() { t.setUp(ctx, a) })
		}
		if t.stepOf(a.ID) != StepDone && lacks[a.Email] == "" {
			awaited = append(awaited, a.Email)
		}
	}
	t.ready.awaitsOnly(awaited)
	if retry {
		fault = errors.Join(fault, t.Sweep(ctx))
	}
	if len(accounts) == 0 && !t.lonely {
		t.lonely = true
		t.app.Log.Warn("there is no mailbox to work on yet; 'postroomd auth login' adds one")
	}
	return errors.Join(err, fault)
}

// lookAtAccess says of the accounts that this machine has no access to what it lacks, by address. What others have left of the rest
// is taken up: all when access is new, and where other machines share the accounts, again and again.
func (t *Supervisor) lookAtAccess(ctx context.Context, accounts []mailstore.Account, again bool) (lacks map[string]string, err error) {
	lacks = map[string]string{}
	for _, a := range accounts {
		if a.State != mailstore.AccountActive {
			continue
		}
		if lack := t.app.Env.MissingCredentials(ctx, a); lack != "" {
			lacks[a.Email], t.reached[a.ID] = lack, false
			continue
		}
		if reached := t.reached[a.ID]; !reached || again && t.app.Env.Shared() {
			fault := t.app.Backlog.TakeUp(ctx, a.ID, !reached)
			t.reached[a.ID] = fault == nil
			err = errors.Join(err, fault)
		}
	}
	if t.app.Env.Shared() {
		t.ready.lacksCredentials(lacks)
	}
	return lacks, err
}

// Accounts lists those that are not being removed. The mailbox of the configuration is added once: if somebody removes it while the
// daemon runs, it stays removed.
func (t *Supervisor) Accounts(ctx context.Context) ([]mailstore.Account, error) {
	if t.app.Env.Config.Gmail.Token != "" && !t.opened {
		if _, err := t.app.OpenConfiguredAccount(ctx); err != nil {
			return nil, err
		}
		t.opened = true
	}
	accounts, err := t.app.Mail.Accounts(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(accounts, func(a mailstore.Account) bool { return a.State == mailstore.AccountRemoving }), nil
}

// keepSchedules stores the schedules of the accounts; also of one that cannot be set up, whose mail comes in meanwhile, and is
// decided about afterwards.
func (t *Supervisor) keepSchedules(ctx context.Context, accounts []mailstore.Account, again bool) error {
	ids := make([]string, len(accounts))
	for i := range accounts {
		ids[i] = accounts[i].ID
	}
	if !again && slices.Equal(ids, t.scheduled) {
		return nil
	}
	t.scheduled = ids
	return t.app.schedule(ctx, ids)
}

// Sweep lets go on, once more, what has waited for rules that are stored since the last time.
func (t *Supervisor) Sweep(ctx context.Context) error {
	t.mu.Lock()
	var ids []string
	for id, now := range t.Tended {
		if now.Step == StepDone && !now.swept {
			now.swept = true
			t.Tended[id] = now
			ids = append(ids, id)
		}
	}
	t.mu.Unlock()
	for _, id := range ids {
		if err := t.app.LetDecide(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

func (t *Supervisor) stepOf(accountID string) superviseStep {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.Tended[accountID].Step
}

// begins reports whether to set up the account now, and notes that this has begun. An account whose labels could not all be made
// is set up again when they can be.
func (t *Supervisor) begins(a mailstore.Account, retry, mayChange bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.Tended[a.ID]
	switch {
	case now.Step == stepRuns, now.Step == stepFailed && !retry, now.Step == StepDone && (!now.wants || !mayChange || !retry):
		return false
	}
	now.Step = stepRuns
	t.Tended[a.ID] = now
	return true
}

// setUp sets up one account, and reports why it cannot.
func (t *Supervisor) setUp(ctx context.Context, a mailstore.Account) {
	now := supervised{Step: StepDone}
	wants, err := t.startPipeline(ctx, a)
	switch now.wants = wants; {
	case err == nil:
		t.app.Log.Info("the account is set up", "account", a.Email)
	case ctx.Err() == nil && t.app.Env.MissingCredentials(ctx, a) != "": // it waits for another machine, as was said
		now.Step = stepFailed
	case ctx.Err() == nil:
		now.Step = stepFailed
		t.ready.awaits(a.Email, ": "+err.Error(), "")
		t.app.Log.Error("an account cannot be set up; trying again", "account", a.Email, "error", err, "in", superviseInterval)
	}
	t.mu.Lock()
	t.Tended[a.ID] = now
	t.mu.Unlock()
	select {
	case t.ended <- struct{}{}:
	default: // it will be looked at
	}
}

// startPipeline starts the pipeline of an account. It reads the rules for each account, whose labels have their own ids. wants
// reports whether labels are missing that cannot be made now: their ids are not known, and this is done again when they can be.
func (t *Supervisor) startPipeline(ctx context.Context, a mailstore.Account) (wants bool, err error) {
	file, err := t.app.Env.ReadRules()
	if err != nil {
		return false, err
	}
	p := &Pipeline{App: t.app, Rules: file, AccountID: a.ID}
	await := func(ctx context.Context, job queue.NewJob) error { return t.await(ctx, a, job) }
	if err := p.Sort(ctx, await, t.app.enqueue); err != nil {
		return false, err
	}
	wanted, err := t.app.Mail.WantedLabels(ctx, a.ID)
	return len(wanted) > 0, err
}

func (h *App) enqueue(ctx context.Context, job queue.NewJob) error {
	_, err := h.Queue.Enqueue(ctx, job)
	return err
}

// await returns when the job is done, by this process or another. It gives up after a while: the account may have been paused
// meanwhile.
func (t *Supervisor) await(ctx context.Context, a mailstore.Account, job queue.NewJob) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	enqueued, err := t.app.Queue.Enqueue(ctx, job)
	if err != nil {
		return err
	}
	t.ready.awaits(a.Email, " is being set up", enqueued.ID)
	ended, err := t.app.Queue.Wait(ctx, enqueued.ID)
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("job %s (%s) has not ended yet; 'postroomd jobs explain %s' says why", enqueued.ID, job.Type, enqueued.ID)
	}
	if err == nil && ended.State != queue.StateCompleted {
		err = fmt.Errorf("job %s (%s) is %s: %s", ended.ID, ended.Type, ended.State, ended.LastError)
	}
	return err
}
