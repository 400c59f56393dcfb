package app

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
)

// Run works on mailboxes until ctx is done, and returns nil when the jobs that run have ended, also if ctx is done
// before it has begun. Nothing is decided about the mail of an account until the configured rules are stored for it.
func (h *App) Run(ctx context.Context) error {
	err := h.begin(ctx)
	if ctx.Err() != nil {
		return nil // asked to stop before it has begun: nothing is left half done
	}
	if err != nil {
		return err
	}
	if err := tellSystemd(ctx, "READY=1"); err != nil {
		h.Log.Warn("systemd is not told", "error", err)
	}
	if h.meters != nil {
		observed, err := h.Statistics.Observe(h.meters)
		if err != nil {
			return err
		}
		defer func() { _ = observed.Unregister() }() // it fails for no reason that matters now
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	watch := h.newRulesWatch(ctx)
	h.rulesWatch.Store(watch)
	var (
		beside sync.WaitGroup
		untold error
	)
	beside.Go(func() { h.pull(ctx) })
	beside.Go(func() { h.listen(ctx) })
	beside.Go(func() { watch.run(ctx) })
	beside.Go(func() { h.countOldMail(ctx) })
	beside.Go(func() { untold = h.tellStop(ctx) })
	err = h.Pipeline.Run(ctx)
	stop()
	beside.Wait()
	return errors.Join(err, untold)
}

// begin adds the mailbox of the configuration: if somebody removes it while the daemon runs, it stays removed.
func (h *App) begin(ctx context.Context) error {
	if h.Env.Config.Gmail.Token != "" {
		if _, err := h.OpenConfiguredAccount(ctx); err != nil {
			return err
		}
	}
	accounts, err := h.Mail.Accounts(ctx)
	if err == nil && len(accounts) == 0 {
		h.Log.Warn("there is no mailbox to work on yet; 'postroomd auth login' adds one")
	}
	return errors.Join(err, h.schedule(ctx))
}

// tellStop reports the stop when ctx is done. The jobs that run may take app.drain to end, and the daemon takes up no
// others meanwhile.
func (h *App) tellStop(ctx context.Context) error {
	<-ctx.Done()
	h.Log.Info("postroomd stops when the jobs that run have ended", "drain", h.Env.Config.App.Drain)
	return tellSystemd(context.WithoutCancel(ctx), "STOPPING=1")
}

// tellSystemd reports the state to systemd, for a unit of Type=notify (sd_notify(3)). Elsewhere it does nothing.
func tellSystemd(ctx context.Context, state string) error {
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
