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

	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/spf13/cobra"
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
		return usage.Errorf("--json prints the summary of --once; add --once")
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

// Environment checks everything before anything is written.
func (o *runOptions) site(cmd *cobra.Command) (*environment.Environment, error) {
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
	if err := s.Folder.CheckRun(); err != nil {
		return nil, err
	}
	if err := errors.Join(s.CheckAccess(), s.Check()); err != nil {
		return nil, err
	}
	return s, s.Prepare()
}

func (o *runOptions) runOnce(cmd *cobra.Command, s *environment.Environment) error {
	began := time.Now()
	h := &host{env: s, log: newLogger(cmd.ErrOrStderr(), s.Config.App), gate: newConfiguredGate(s)}
	file, err := s.ReadRules()
	if err != nil {
		return err
	}
	if err := h.work(cmd.Context()); err != nil {
		return err
	}
	once := &oneRun{app: h, rules: file, out: printer.NewProgress(cmd.ErrOrStderr())}
	sum, err := once.once(cmd.Context(), nil)
	if err := errors.Join(err, h.close()); err != nil {
		return err
	}
	sum.Seconds = time.Since(began).Seconds()
	if o.json {
		err = printer.JSON(cmd.OutOrStdout(), sum)
	} else {
		err = sum.print(cmd.OutOrStdout(), programName(), s.Flags(o.place.from.file))
	}
	return errors.Join(err, sum.failed())
}

// A daemon is what runs until it is stopped.
type daemon struct {
	app   *host
	ready readiness // reached when the accounts are set up
}

func runDaemon(cmd *cobra.Command, s *environment.Environment) (err error) {
	log := newLogger(cmd.ErrOrStderr(), s.Config.App)
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Config.App.Port))
	listener, err := new(net.ListenConfig).Listen(cmd.Context(), "tcp", address)
	if err != nil {
		return fmt.Errorf("app.port is %d: %w; stop what listens there, or set another port", s.Config.App.Port, err)
	}
	exports, err := startTelemetry(cmd.Context(), s.Config, log)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	d := &daemon{app: &host{env: s, log: log, tracers: exports.tracers, meters: exports.meters, gate: newConfiguredGate(s)}}
	if err := d.app.work(cmd.Context()); err != nil {
		return errors.Join(err, listener.Close(), exports.close())
	}
	err = d.serve(cmd.Context(), listener)
	if late := exports.close(); late != nil {
		log.Warn("the last telemetry is not exported", "error", late)
	}
	return errors.Join(err, d.app.close())
}

// serve works until ctx is done.
func (d *daemon) serve(ctx context.Context, listener net.Listener) error {
	pages, onClose, err := d.app.pages(&d.ready)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	dispatcher, err := d.app.dispatcher()
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	w := serve(listener, pages, onClose)
	if err := notify(ctx, "READY=1"); err != nil {
		d.app.log.Warn("systemd is not told", "error", err)
	}
	d.app.log.Info("postroomd runs", "version", version(), "url", w.url, "database", d.app.env.DatabaseName())
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var (
		beside sync.WaitGroup
		untold error
	)
	beside.Go(func() { newTender(d.app, &d.ready).tend(ctx) })
	beside.Go(func() { d.pull(ctx) })
	beside.Go(func() { d.listen(ctx) })
	beside.Go(func() { d.app.remember(ctx) })
	beside.Go(func() { untold = d.tellStop(ctx) })
	err = dispatcher.Run(ctx)
	stop()
	beside.Wait()
	return errors.Join(err, untold, w.close())
}

// tellStop reports the stop when ctx is done. The jobs that run may take app.drain to end, and the daemon takes up no others meanwhile.
func (d *daemon) tellStop(ctx context.Context) error {
	<-ctx.Done()
	d.ready.stops()
	d.app.log.Info("postroomd stops when the jobs that run have ended", "drain", d.app.env.Config.App.Drain)
	return notify(context.WithoutCancel(ctx), "STOPPING=1")
}
