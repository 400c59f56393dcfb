package pipeline

import (
	"context"
	"errors"
	"sync"

	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/queue"
)

// ErrRuns reports that the pipeline runs jobs already.
var ErrRuns = errors.New("pipeline: it runs already; wait until that has ended, or add the account, which a Run takes up")

// begin reserves the pipeline for what runs jobs; call end when it has ended.
func (p *Pipeline) begin() (end func(), err error) {
	if !p.working.TryLock() {
		return nil, ErrRuns
	}
	return p.working.Unlock, nil
}

// Run works until ctx is done, and returns when the jobs that run have ended: it runs the jobs of a dispatcher, sets up
// the accounts and those that are added meanwhile, keeps their schedules, and writes the checkpoint. Nothing is decided
// about the mail of an account before its rules are stored; see [Config].Rules. The jobs of each account are limited by
// its quota; see [gmail.LimitJobs].
func (p *Pipeline) Run(ctx context.Context) error {
	end, err := p.begin()
	if err != nil {
		return err
	}
	defer end()
	d, err := p.NewDispatcher()
	if err != nil {
		return err
	}
	if err := p.limitJobs(ctx); ctx.Err() != nil {
		return nil // stopped before it has begun
	} else if err != nil {
		return err
	}
	p.gate.close()
	p.ready.starts()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var beside sync.WaitGroup
	beside.Go(func() { p.Supervise(ctx) })
	beside.Go(func() { p.remember(ctx) })
	beside.Go(func() {
		<-ctx.Done()
		p.ready.stops()
	})
	err = d.Run(ctx)
	stop()
	beside.Wait()
	return err
}

// limitJobs limits the jobs of each account by the limits of its client.
func (p *Pipeline) limitJobs(ctx context.Context) error {
	kept, err := gmail.LimitJobs(ctx, p.Queue, p.cfg.Clients.Limits)
	if err == nil && kept != (queue.Limit{}) {
		p.cfg.Logger.WarnContext(ctx, "the jobs of each account have a limit that somebody has set, which stays; remove it "+
			"to have one that fits the quota", "limit_key_prefix", mailstore.LimitKey(""), "max_running", kept.MaxRunning,
			"rate", kept.Rate, "per", kept.Per, "burst", kept.Burst)
	}
	return err
}
