package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/queue"
)

type runOptions struct {
	place placeFlags
	rules string
	once  bool
	json  bool
	dry   bool
}

func runCommand() *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Sort the mailbox that is configured, and keep it sorted",
		Long: `Run works on the mailbox of the configuration: it takes in what is there, follows what changes, and does what the rules
decide. It runs until SIGTERM or Ctrl-C, then lets jobs end that are under way; killed, it goes on where it was.

It keeps everything in --data, or in the PostgreSQL database of paths.database, on which several postroomds may work.
While it runs, /healthz, /readyz and a dashboard are at 127.0.0.1, port 17800 unless app.port says otherwise.

With --once it ends when nothing is left to do now, and prints the summary that the demo prints. What is for later, such as the
wake-up of a snoozed message, waits for the next run. If a mailbox cannot be worked on, the summary says why, and the exit status is 1.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd) },
	}
	o.place.register(cmd)
	flags := cmd.Flags()
	flags.StringVar(&o.rules, "rules", "", "the rules, a YAML file, in place of paths.rules")
	flags.BoolVar(&o.dry, "dry-run", false, "decide about mail and record it, and carry out nothing; as safety.dry_run")
	flags.BoolVar(&o.once, "once", false, "end when nothing is left to do, and print a summary")
	flags.BoolVar(&o.json, "json", false, "with --once: print the summary as one JSON object, and nothing else, on standard output")
	return cmd
}

func (o *runOptions) run(cmd *cobra.Command) error {
	if o.json && !o.once {
		return usage("--json prints the summary of --once; add --once")
	}
	s, err := o.site(cmd)
	if err != nil {
		return err
	}
	collectLess()
	if o.once {
		return o.runOnce(cmd, s)
	}
	return runDaemon(cmd, s)
}

// collectLess lets the heap grow to five times its live size before garbage is collected, unless the environment sets that: about
// 20 MB are live, and collecting at twice the size takes 5 % of the time of a message.
func collectLess() {
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetGCPercent(400)
	}
}

// site checks everything before anything is written.
func (o *runOptions) site(cmd *cobra.Command) (*site, error) {
	if o.rules != "" {
		o.place.from.set = append(o.place.from.set, "paths.rules="+o.rules)
	}
	if o.dry {
		o.place.from.set = append(o.place.from.set, "safety.dry_run=true")
	}
	s, err := o.place.configured(cmd)
	if err != nil {
		return nil, err
	}
	if err := s.folder.checkRun(); err != nil {
		return nil, err
	}
	if err := errors.Join(s.checkAccess(), s.check()); err != nil {
		return nil, err
	}
	return s, s.prepare()
}

func (o *runOptions) runOnce(cmd *cobra.Command, s *site) error {
	began := time.Now()
	h := &host{site: s, log: newLogger(cmd.ErrOrStderr(), s.cfg.App), gate: s.rulesGate()}
	file, err := s.readRules()
	if err != nil {
		return err
	}
	if err := h.work(cmd.Context()); err != nil {
		return err
	}
	once := &oneRun{host: h, rules: file, out: newProgress(cmd.ErrOrStderr())}
	sum, err := once.once(cmd.Context(), nil)
	if err := errors.Join(err, h.close()); err != nil {
		return err
	}
	sum.Seconds = time.Since(began).Seconds()
	if o.json {
		err = printJSON(cmd.OutOrStdout(), sum)
	} else {
		err = sum.print(cmd.OutOrStdout(), programName(), s.flags(o.place.from.file))
	}
	return errors.Join(err, sum.failed())
}

// A daemon is what runs until it is stopped.
type daemon struct {
	*host
	ready readiness // reached when the accounts are set up

	opened bool            // the mailbox of the configuration
	lonely bool            // it was said that there are none
	wants  map[string]bool // the accounts whose labels were not all made; see gmail.Store.WantedLabels
}

func runDaemon(cmd *cobra.Command, s *site) (err error) {
	log := newLogger(cmd.ErrOrStderr(), s.cfg.App)
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(s.cfg.App.Port))
	listener, err := new(net.ListenConfig).Listen(cmd.Context(), "tcp", address)
	if err != nil {
		return fmt.Errorf("app.port is %d: %w; stop what listens there, or set another port", s.cfg.App.Port, err)
	}
	exports, err := startTelemetry(cmd.Context(), s.cfg, log)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	d := &daemon{host: &host{site: s, log: log, tracers: exports.tracers, meters: exports.meters, gate: s.rulesGate()}, wants: map[string]bool{}}
	if err := d.work(cmd.Context()); err != nil {
		return errors.Join(err, listener.Close(), exports.close())
	}
	err = d.serve(cmd.Context(), listener)
	if late := exports.close(); late != nil {
		log.Warn("the last telemetry is not exported", "error", late)
	}
	return errors.Join(err, d.close())
}

// serve works until ctx is done.
func (d *daemon) serve(ctx context.Context, listener net.Listener) error {
	pages, onClose, err := d.pages(&d.ready)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	dispatcher, err := d.dispatcher()
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	w := serve(listener, pages, onClose)
	if err := notify(ctx, "READY=1"); err != nil {
		d.log.Warn("systemd is not told", "error", err)
	}
	d.log.Info("postroomd runs", "version", version(), "url", w.url, "database", d.databaseName())
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var beside sync.WaitGroup
	beside.Go(func() { d.tend(ctx) })
	beside.Go(func() { d.pull(ctx) })
	beside.Go(func() { d.listen(ctx) })
	beside.Go(func() { d.remember(ctx) })
	err = dispatcher.Run(ctx)
	d.log.Info("postroomd stops")
	d.ready.stops()
	stop()
	beside.Wait()
	return errors.Join(err, notify(context.WithoutCancel(ctx), "STOPPING=1"), w.close())
}

// The intervals at which the daemon looks for new accounts, and retries setting one up.
const tendInterval = 15 * time.Second

// tend sets up each account, including those that are added while it runs.
func (d *daemon) tend(ctx context.Context) {
	done := map[string]bool{}
	again := time.NewTicker(tendInterval)
	defer again.Stop()
	for {
		d.tendOnce(ctx, done)
		select {
		case <-ctx.Done():
			return
		case <-again.C:
		}
	}
}

// tendOnce sets up the remaining accounts, and reports the reasons of failures.
func (d *daemon) tendOnce(ctx context.Context, done map[string]bool) {
	if err := d.tendAccounts(ctx, done); err != nil && ctx.Err() == nil {
		d.ready.awaits(err.Error())
		d.log.Error("the accounts are not all set up; trying again", "error", err, "in", tendInterval)
	}
}

func (d *daemon) tendAccounts(ctx context.Context, done map[string]bool) error {
	if err := d.openConfigured(ctx); err != nil {
		return err
	}
	accounts, err := d.mail.Accounts(ctx)
	if err != nil {
		return err
	}
	held := d.ledger.Held(ctx)
	var errs []error
	var ids []string
	for _, a := range accounts {
		if a.State == gmail.AccountRemoving {
			continue
		}
		if a.State == gmail.AccountActive && (!done[a.ID] || d.wants[a.ID] && held == nil) {
			d.ready.awaits(a.Email + " is being set up")
			if err := d.setUpAccount(ctx, a); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", a.Email, err))
				continue
			}
			done[a.ID] = true
			d.log.Info("the account is set up", "account", a.Email)
		}
		ids = append(ids, a.ID)
	}
	if len(errs) == 0 {
		errs = append(errs, d.schedule(ctx, ids))
		d.ready.reached()
	}
	if len(accounts) == 0 && !d.lonely {
		d.lonely = true
		d.log.Warn("there is no mailbox to work on yet; 'postroomd auth login' adds one")
	}
	return errors.Join(errs...)
}

// openConfigured adds the mailbox of the configuration once: if somebody removes it while the daemon runs, it stays removed.
func (d *daemon) openConfigured(ctx context.Context) error {
	if d.cfg.Gmail.Token == "" || d.opened {
		return nil
	}
	_, err := d.openAccount(ctx)
	d.opened = err == nil
	return err
}

// setUpAccount starts the pipeline of an account. It reads the rules for each account, whose labels have their own ids.
func (d *daemon) setUpAccount(ctx context.Context, a gmail.Account) error {
	file, err := d.readRules()
	if err != nil {
		return err
	}
	p := &pipeline{host: d.host, rules: file, accountID: a.ID}
	if err := p.sort(ctx, d.await, d.enqueue); err != nil {
		return err
	}
	wanted, err := d.mail.WantedLabels(ctx, a.ID)
	d.wants[a.ID] = len(wanted) > 0 // their ids are not known: this is done again when they can be made
	return err
}

func (d *daemon) enqueue(ctx context.Context, job queue.NewJob) error {
	_, err := d.queue.Enqueue(ctx, job)
	return err
}

// await returns when the job is done, by this process or another. It gives up after a while: the account may have been paused
// meanwhile.
func (d *daemon) await(ctx context.Context, job queue.NewJob) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	enqueued, err := d.queue.Enqueue(ctx, job)
	if err != nil {
		return err
	}
	d.ready.awaitsJob(enqueued.ID)
	ended, err := d.queue.Wait(ctx, enqueued.ID)
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("job %s (%s) has not ended yet; 'postroomd jobs explain %s' says why", enqueued.ID, job.Type, enqueued.ID)
	}
	if err == nil && ended.State != queue.StateCompleted {
		err = fmt.Errorf("job %s (%s) is %s: %s", ended.ID, ended.Type, ended.State, ended.LastError)
	}
	return err
}
