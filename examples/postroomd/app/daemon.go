package app

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"

	"github.com/postroom-go/postroom/queue"
)

// A Daemon works on mailboxes until it is stopped.
type Daemon struct {
	app        *App
	Ready      *Readiness // reached when the accounts are set up
	dispatcher *queue.Dispatcher
}

// NewDaemon makes the daemon of an App. Nothing is decided about the mail of an account until the configured rules are stored for it.
func NewDaemon(h *App) (*Daemon, error) {
	if h.Env.Config.Paths.Rules != "" {
		h.holdUntilRules()
	}
	dispatcher, err := h.NewDispatcher()
	return &Daemon{app: h, Ready: new(Readiness), dispatcher: dispatcher}, err
}

// Run works until ctx is done, and returns when the jobs that run have ended.
func (d *Daemon) Run(ctx context.Context) error {
	if err := notify(ctx, "READY=1"); err != nil {
		d.app.Log.Warn("systemd is not told", "error", err)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var (
		beside sync.WaitGroup
		untold error
	)
	beside.Go(func() { NewSupervisor(d.app, d.Ready).Run(ctx) })
	beside.Go(func() { d.pull(ctx) })
	beside.Go(func() { d.listen(ctx) })
	beside.Go(func() { d.app.Stopper.remember(ctx) })
	beside.Go(func() { untold = d.tellStop(ctx) })
	err := d.dispatcher.Run(ctx)
	stop()
	beside.Wait()
	return errors.Join(err, untold)
}

// tellStop reports the stop when ctx is done. The jobs that run may take app.drain to end, and the daemon takes up no others meanwhile.
func (d *Daemon) tellStop(ctx context.Context) error {
	<-ctx.Done()
	d.Ready.stops()
	d.app.Log.Info("postroomd stops when the jobs that run have ended", "drain", d.app.Env.Config.App.Drain)
	return notify(context.WithoutCancel(ctx), "STOPPING=1")
}

// notify reports its state to systemd, for a unit of Type=notify (sd_notify(3)). Elsewhere it does nothing.
func notify(ctx context.Context, state string) error {
	socket := os.Getenv("NOTIFY_SOCKET")
	if socket == "" {
		return nil
	}
	conn, err := new(net.Dialer).DialContext(ctx, "unixgram", socket)
	if err != nil {
		return err
	}
	_, err = conn.Write([]byte(state))
	if closed := conn.Close(); err == nil {
		err = closed
	}
	return err
}
