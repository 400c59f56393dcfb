package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// An OneRun sorts the mailboxes until nothing is left to do: it is what the demo does, and run --once.
type OneRun struct {
	App      *App
	Rules    *rulesfile.File // nil: the stored rules stay
	Progress *printer.Progress

	Began     time.Time
	Mailboxes []*Pipeline
	Faults    map[string]error // why mailboxes could not be set up, by the ids of their accounts
}

// NewOneRun makes a run by these rules; nil means those that are stored.
func NewOneRun(h *App, file *rulesfile.File, out *printer.Progress) *OneRun {
	if file != nil {
		h.holdUntilRules()
	}
	return &OneRun{App: h, Rules: file, Progress: out}
}

// Run sorts the mailboxes. That one of them cannot be worked on is no error, and stands in the summary.
func (o *OneRun) Run(ctx context.Context) error {
	accounts, err := o.App.Worked(ctx)
	if err != nil {
		return err
	}
	for _, a := range accounts {
		o.Mailboxes = append(o.Mailboxes, &Pipeline{App: o.App, Rules: o.fileOf(), AccountID: a.ID})
	}
	o.Began = time.Now()
	stop, err := o.watch(ctx)
	if err != nil {
		return err
	}
	err = o.sort(ctx)
	stop()
	return err
}

// fileOf returns the rules for one mailbox: the ids of labels, which take the place of their names, are the mailbox's.
func (o *OneRun) fileOf() *rulesfile.File {
	if o.Rules == nil {
		return nil
	}
	own := *o.Rules
	own.Rules = slices.Clone(o.Rules.Rules)
	return &own
}

// Worked returns the mailboxes to work on: as run does, the one of the configuration, which is made, and those that are signed in to.
// An address of the configuration without a token names one of these.
func (h *App) Worked(ctx context.Context) ([]mailstore.Account, error) {
	g := h.Env.Config.Gmail
	if g.Token != "" {
		if _, err := h.OpenConfiguredAccount(ctx); err != nil {
			return nil, err
		}
	}
	accounts, err := h.Mail.Accounts(ctx)
	if err != nil {
		return nil, err
	}
	accounts = slices.DeleteFunc(accounts, func(a mailstore.Account) bool {
		return a.State == mailstore.AccountRemoving || g.Token == "" && g.Address != "" && !strings.EqualFold(a.Email, g.Address)
	})
	switch {
	case len(accounts) > 0:
		return accounts, nil
	case g.Address != "":
		return nil, usage.Errorf("there is no mailbox %s here yet; 'postroomd auth login' adds one", g.Address)
	}
	return nil, usage.Errorf("there is no mailbox here yet; 'postroomd auth login' adds one")
}

// Sort sets up all mailboxes before mail is taken in of any: until then nothing is decided, see rulesGate.
func (o *OneRun) sort(ctx context.Context) error {
	o.Faults, o.App.givenUp = map[string]error{}, map[string]bool{}
	for _, p := range o.Mailboxes {
		err := p.reach(ctx)
		if err == nil {
			err = p.TakeRules(ctx, p.awaitHere)
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			o.Faults[p.AccountID] = err
			o.App.givenUp[mailstore.LimitKey(p.AccountID)] = true
		}
	}
	if len(o.Faults) == len(o.Mailboxes) {
		return o.App.RunJobs(ctx) // What is left to do elsewhere than in mailboxes
	}
	for _, p := range o.Mailboxes {
		if o.Faults[p.AccountID] != nil {
			continue
		}
		if err := p.begin(ctx, p.Process); err != nil {
			return err
		}
	}
	return nil
}

// watch shows the progress of the run until stopped.
func (o *OneRun) watch(ctx context.Context) (stop func(), err error) {
	total := 0
	if o.App.Server != nil {
		if total, err = o.App.Server.Count(ctx); err != nil {
			return nil, err
		}
	}
	bar := o.Progress.Start("Sorting", total)
	look := func(ctx context.Context) {
		if n, err := o.known(ctx); err == nil {
			bar.Set(n)
		}
	}
	watching, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(250 * time.Millisecond)
		defer ticker.Stop()
		for {
			look(watching)
			select {
			case <-watching.Done():
				return
			case <-ticker.C:
			}
		}
	}()
	return func() {
		cancel()
		<-ended
		look(ctx)
		bar.Done()
	}, nil
}

// Known returns the number of messages of all mailboxes that are stored, broken ones included.
func (o *OneRun) known(ctx context.Context) (total int, err error) {
	for _, p := range o.Mailboxes {
		n, err := p.Known(ctx)
		if err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}

// setUpAttempts is how often it is tried to read the labels of a mailbox by a run that is to end.
const setUpAttempts = 3

// awaitHere works until the job has ended that sets up the mailbox, or until to wait for it longer is in vain.
func (p *Pipeline) awaitHere(ctx context.Context, job queue.NewJob) error {
	enqueued, err := p.App.Queue.Enqueue(ctx, job)
	if err != nil {
		return err
	}
	before, err := p.App.Queue.Job(ctx, enqueued.ID) // it may have been there already
	if err != nil {
		return err
	}
	d, err := p.App.NewDispatcher()
	if err != nil {
		return err
	}
	working, stop := context.WithCancel(ctx)
	defer stop()
	var beside sync.WaitGroup
	beside.Go(func() { p.App.Stopper.remember(working) })
	beside.Go(func() {
		defer stop()
		_, _ = p.App.Queue.Wait(working, before.ID) // the dispatcher reports a database that fails
	})
	beside.Go(func() {
		defer stop()
		again := time.NewTicker(LaterInterval)
		defer again.Stop()
		for vain := false; !vain && working.Err() == nil; {
			select {
			case <-working.Done():
			case <-again.C:
				vain, _ = p.waitsInVain(working, before)
			}
		}
	})
	err = d.Run(working)
	stop()
	beside.Wait()
	if err := errors.Join(err, ctx.Err()); err != nil {
		return err
	}
	return p.setUpFault(ctx, before)
}

// waitsInVain reports whether a job that sets up the mailbox has not ended, and will not soon.
func (p *Pipeline) waitsInVain(ctx context.Context, before *queue.Job) (bool, error) {
	account, err := p.App.Mail.Account(ctx, p.AccountID)
	if err != nil || account.State != mailstore.AccountActive {
		return true, err
	}
	job, err := p.App.Queue.Job(ctx, before.ID)
	if err != nil || job.State != queue.StateQueued {
		return false, err
	}
	limits, err := p.App.Queue.Limits(ctx)
	return job.Failures-before.Failures >= setUpAttempts || time.Until(job.NotBefore) > retryPatience || IsPaused(job, limits), err
}

// setUpFault returns why the mailbox is not set up, and what to do; nil if it is.
func (p *Pipeline) setUpFault(ctx context.Context, before *queue.Job) error {
	job, err := p.App.Queue.Job(ctx, before.ID)
	if err != nil || job.State == queue.StateCompleted {
		return err
	}
	if job.State.Finished() {
		return fmt.Errorf("its labels could not be read: %s", job.LastError)
	}
	if tried := job.Failures - before.Failures; tried > 0 {
		return fmt.Errorf("its labels could not be read in %d attempts: %s; when its server answers, run this again: the jobs stay in the queue", tried, job.LastError)
	}
	return fmt.Errorf("its labels are not read, since job %s (%s) waits; 'postroomd jobs explain %s' says why", job.ID, job.Type, job.ID)
}
