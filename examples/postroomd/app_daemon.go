package main

import (
	"context"
	"errors"
	"sync"

	"github.com/postroom-go/postroom/queue"
)

// A daemon works on mailboxes until it is stopped.
type daemon struct {
	app        *host
	ready      *readiness // reached when the accounts are set up
	dispatcher *queue.Dispatcher
}

// newDaemon makes the daemon of an App. Nothing is decided about the mail of an account until the configured rules are stored for it.
func newDaemon(h *host) (*daemon, error) {
	if h.env.Config.Paths.Rules != "" {
		h.holdUntilRules()
	}
	dispatcher, err := h.dispatcher()
	return &daemon{app: h, ready: new(readiness), dispatcher: dispatcher}, err
}

// run works until ctx is done, and returns when the jobs that run have ended.
func (d *daemon) run(ctx context.Context) error {
	if err := notify(ctx, "READY=1"); err != nil {
		d.app.log.Warn("systemd is not told", "error", err)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var (
		beside sync.WaitGroup
		untold error
	)
	beside.Go(func() { newTender(d.app, d.ready).tend(ctx) })
	beside.Go(func() { d.pull(ctx) })
	beside.Go(func() { d.listen(ctx) })
	beside.Go(func() { d.app.stopper.remember(ctx) })
	beside.Go(func() { untold = d.tellStop(ctx) })
	err := d.dispatcher.Run(ctx)
	stop()
	beside.Wait()
	return errors.Join(err, untold)
}

// tellStop reports the stop when ctx is done. The jobs that run may take app.drain to end, and the daemon takes up no others meanwhile.
func (d *daemon) tellStop(ctx context.Context) error {
	<-ctx.Done()
	d.ready.stops()
	d.app.log.Info("postroomd stops when the jobs that run have ended", "drain", d.app.env.Config.App.Drain)
	return notify(context.WithoutCancel(ctx), "STOPPING=1")
}
