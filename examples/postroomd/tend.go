package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/queue"
)

// The interval at which the daemon looks for new accounts, and retries setting one up.
const tendInterval = 15 * time.Second

// A tender sets up the accounts of a daemon, also those that are added while it runs. It sets them up side by side: one whose mail
// server does not answer keeps no other waiting.
type tender struct {
	app   *host
	ready *readiness

	opened    bool     // the mailbox of the configuration
	lonely    bool     // it was said that there are none
	scheduled []string // the accounts whose schedules are stored

	reached map[string]bool // the accounts that this machine has access to, by id, when what others have left was taken up

	setting sync.WaitGroup
	ended   chan struct{} // has an element when an account has been set up, or could not be
	mu      sync.Mutex
	tended  map[string]tended // by the id of the account
}

// A tended is how far an account is set up.
type tended struct {
	step  tendStep
	wants bool // not all of its labels could be made; see gmail.Store.WantedLabels
	swept bool // what was held as its rules were stored has been looked for once more
}

type tendStep int

const (
	tendWaits tendStep = iota // to be set up
	tendRuns
	tendFailed // it is tried again after the interval
	tendDone
)

func newTender(h *host, ready *readiness) *tender {
	return &tender{app: h, ready: ready, ended: make(chan struct{}, 1), reached: map[string]bool{}, tended: map[string]tended{}}
}

// tend works until ctx is done.
func (t *tender) tend(ctx context.Context) {
	defer t.setting.Wait()
	again := time.NewTicker(tendInterval)
	defer again.Stop()
	for retry := true; ; {
		if err := t.look(ctx, retry); err != nil && ctx.Err() == nil {
			t.app.log.Error("the accounts cannot be looked at; trying again", "error", err, "in", tendInterval)
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

// look begins to set up the accounts that are not, those that have failed only to retry.
func (t *tender) look(ctx context.Context, retry bool) error {
	accounts, err := t.accounts(ctx)
	if err == nil {
		err = t.keepSchedules(ctx, accounts, retry)
	}
	t.ready.fails(err)
	if accounts == nil && err != nil {
		return err
	}
	lacks, fault := t.lookAtAccess(ctx, accounts, retry)
	mayChange := t.app.ledger.Held(ctx) == nil
	var awaited []string
	for _, a := range accounts {
		if a.State != gmail.AccountActive && t.stepOf(a.ID) != tendRuns {
			continue
		}
		if lack := lacks[a.Email]; lack != "" && !t.app.env.Shared() { // and no other machine sets it up
			t.ready.awaits(a.Email, ": "+lack, "")
			awaited = append(awaited, a.Email)
			continue
		}
		if t.begins(a, retry, mayChange) {
			t.ready.awaits(a.Email, " is being set up", "")
			t.setting.Go(func() { t.setUp(ctx, a) })
		}
		if t.stepOf(a.ID) != tendDone && lacks[a.Email] == "" {
			awaited = append(awaited, a.Email)
		}
	}
	t.ready.awaitsOnly(awaited)
	if retry {
		fault = errors.Join(fault, t.sweep(ctx))
	}
	if len(accounts) == 0 && !t.lonely {
		t.lonely = true
		t.app.log.Warn("there is no mailbox to work on yet; 'postroomd auth login' adds one")
	}
	return errors.Join(err, fault)
}

// lookAtAccess says of the accounts that this machine has no access to what it lacks, by address. What others have left of the rest
// is taken up: all when access is new, and where other machines share the accounts, again and again.
func (t *tender) lookAtAccess(ctx context.Context, accounts []gmail.Account, again bool) (lacks map[string]string, err error) {
	lacks = map[string]string{}
	for _, a := range accounts {
		if a.State != gmail.AccountActive {
			continue
		}
		if lack := t.app.env.MissingCredentials(ctx, a); lack != "" {
			lacks[a.Email], t.reached[a.ID] = lack, false
			continue
		}
		if reached := t.reached[a.ID]; !reached || again && t.app.env.Shared() {
			fault := t.app.takeUp(ctx, a.ID, !reached)
			t.reached[a.ID] = fault == nil
			err = errors.Join(err, fault)
		}
	}
	if t.app.env.Shared() {
		t.ready.hasNoAccess(lacks)
	}
	return lacks, err
}

// accounts lists those that are not being removed. The mailbox of the configuration is added once: if somebody removes it while the
// daemon runs, it stays removed.
func (t *tender) accounts(ctx context.Context) ([]gmail.Account, error) {
	if t.app.env.Config.Gmail.Token != "" && !t.opened {
		if _, err := t.app.openAccount(ctx); err != nil {
			return nil, err
		}
		t.opened = true
	}
	accounts, err := t.app.mail.Accounts(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(accounts, func(a gmail.Account) bool { return a.State == gmail.AccountRemoving }), nil
}

// keepSchedules stores the schedules of the accounts; also of one that cannot be set up, whose mail comes in meanwhile, and is
// decided about afterwards.
func (t *tender) keepSchedules(ctx context.Context, accounts []gmail.Account, again bool) error {
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

// sweep lets go on, once more, what has waited for rules that are stored since the last time.
func (t *tender) sweep(ctx context.Context) error {
	t.mu.Lock()
	var ids []string
	for id, now := range t.tended {
		if now.step == tendDone && !now.swept {
			now.swept = true
			t.tended[id] = now
			ids = append(ids, id)
		}
	}
	t.mu.Unlock()
	for _, id := range ids {
		if err := t.app.letDecide(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

func (t *tender) stepOf(accountID string) tendStep {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.tended[accountID].step
}

// begins reports whether to set up the account now, and notes that this has begun. An account whose labels could not all be made
// is set up again when they can be.
func (t *tender) begins(a gmail.Account, retry, mayChange bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.tended[a.ID]
	switch {
	case now.step == tendRuns, now.step == tendFailed && !retry, now.step == tendDone && (!now.wants || !mayChange || !retry):
		return false
	}
	now.step = tendRuns
	t.tended[a.ID] = now
	return true
}

// setUp sets up one account, and reports why it cannot.
func (t *tender) setUp(ctx context.Context, a gmail.Account) {
	now := tended{step: tendDone}
	wants, err := t.startPipeline(ctx, a)
	switch now.wants = wants; {
	case err == nil:
		t.app.log.Info("the account is set up", "account", a.Email)
	case ctx.Err() == nil && t.app.env.MissingCredentials(ctx, a) != "": // it waits for another machine, as was said
		now.step = tendFailed
	case ctx.Err() == nil:
		now.step = tendFailed
		t.ready.awaits(a.Email, ": "+err.Error(), "")
		t.app.log.Error("an account cannot be set up; trying again", "account", a.Email, "error", err, "in", tendInterval)
	}
	t.mu.Lock()
	t.tended[a.ID] = now
	t.mu.Unlock()
	select {
	case t.ended <- struct{}{}:
	default: // it will be looked at
	}
}

// startPipeline starts the pipeline of an account. It reads the rules for each account, whose labels have their own ids. wants
// reports whether labels are missing that cannot be made now: their ids are not known, and this is done again when they can be.
func (t *tender) startPipeline(ctx context.Context, a gmail.Account) (wants bool, err error) {
	file, err := t.app.env.ReadRules()
	if err != nil {
		return false, err
	}
	p := &pipeline{app: t.app, rules: file, accountID: a.ID}
	await := func(ctx context.Context, job queue.NewJob) error { return t.await(ctx, a, job) }
	if err := p.sort(ctx, await, t.app.enqueue); err != nil {
		return false, err
	}
	wanted, err := t.app.mail.WantedLabels(ctx, a.ID)
	return len(wanted) > 0, err
}

func (h *host) enqueue(ctx context.Context, job queue.NewJob) error {
	_, err := h.queue.Enqueue(ctx, job)
	return err
}

// await returns when the job is done, by this process or another. It gives up after a while: the account may have been paused
// meanwhile.
func (t *tender) await(ctx context.Context, a gmail.Account, job queue.NewJob) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	enqueued, err := t.app.queue.Enqueue(ctx, job)
	if err != nil {
		return err
	}
	t.ready.awaits(a.Email, " is being set up", enqueued.ID)
	ended, err := t.app.queue.Wait(ctx, enqueued.ID)
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("job %s (%s) has not ended yet; 'postroomd jobs explain %s' says why", enqueued.ID, job.Type, enqueued.ID)
	}
	if err == nil && ended.State != queue.StateCompleted {
		err = fmt.Errorf("job %s (%s) is %s: %s", ended.ID, ended.Type, ended.State, ended.LastError)
	}
	return err
}
