package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/httpapi"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/telemetry"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/examples/postroomd/view"
)

type runOptions struct {
	place command.EnvironmentFlags
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
		Long: `Run works on the mailbox of the configuration: it takes in what is there, follows what changes, and
does what the rules decide. It runs until SIGTERM or Ctrl-C, then lets jobs end that are under way;
killed, it goes on where it was.

It keeps everything in --data, or in the PostgreSQL database of paths.database, on which several postroomds may work.
While it runs, /healthz, /readyz and a dashboard are at 127.0.0.1, port 17800, unless app.listen and app.port say
otherwise. The log has the address that signs in to the dashboard.

With --once it ends when nothing is left to do now, and prints the summary that the demo prints.
What is for later, such as the wake-up of a snoozed message, waits for the next run. If a mailbox
cannot be worked on, the summary says why, and the exit status is 1.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd) },
	}
	o.place.Register(cmd)
	flags := cmd.Flags()
	flags.StringVar(&o.rules, "rules", "", "the rules, a YAML file, in place of paths.rules")
	flags.BoolVar(&o.dry, "dry-run", false, "say what would be decided about mail, and neither record nor do it; as safety.dry_run")
	flags.BoolVar(&o.once, "once", false, "end when nothing is left to do, and print a summary")
	flags.BoolVar(&o.json, "json", false,
		"with --once: print the summary as one JSON object, and nothing else, on standard output")
	return cmd
}

func (o *runOptions) run(cmd *cobra.Command) error {
	if o.json && !o.once {
		return usage.Errorf("--json prints the summary of --once; add --once")
	}
	s, err := o.environment(cmd)
	if err != nil {
		return err
	}
	collectLess()
	if o.once {
		return o.runOnce(cmd, s)
	}
	return runDaemon(cmd, s)
}

// collectLess lets the heap grow to five times its live size before garbage is collected, unless the environment sets
// that: about 20 MB are live, and collecting at twice the size takes 5 % of the time of a message. The more is live,
// the more is collected, so that all of it stays below softMemory while that is possible.
func collectLess() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(softMemory)
		if os.Getenv("GOGC") == "" {
			debug.SetGCPercent(400)
		}
	}
}

// softMemory is what the program takes of memory, as a rule.
const softMemory = 512 << 20

// Environment checks everything before anything is written.
func (o *runOptions) environment(cmd *cobra.Command) (*environment.Environment, error) {
	if o.rules != "" {
		o.place.Config.Set = append(o.place.Config.Set, "paths.rules="+o.rules)
	}
	if o.dry {
		o.place.Config.Set = append(o.place.Config.Set, "safety.dry_run=true")
	}
	s, err := o.place.Environment(cmd)
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
	h, err := app.New(cmd.Context(),
		app.Config{Environment: s, Logger: telemetry.NewLogger(cmd.ErrOrStderr(), s.Config.App)})
	if err != nil {
		return err
	}
	once := app.NewOneRun(h, nil, printer.NewProgress(cmd.ErrOrStderr()))
	err = once.Run(cmd.Context())
	if err == nil && !o.json {
		if once.OldMailSorted, err = askAboutOldMail(cmd.Context(), cmd, h); err == nil && len(once.OldMailSorted) > 0 {
			err = once.Again(cmd.Context())
		}
	}
	var sum *view.Summary
	if err == nil {
		sum, err = view.NewSummary(cmd.Context(), once, nil)
	}
	if err := errors.Join(err, h.Close()); err != nil {
		return err
	}
	sum.Seconds = time.Since(began).Seconds()
	if o.json {
		err = printer.JSON(cmd.OutOrStdout(), sum)
	} else {
		err = sum.Print(cmd.OutOrStdout(), programName(), s.Flags(o.place.Config.File))
	}
	return errors.Join(err, sum.Fault())
}

func runDaemon(cmd *cobra.Command, s *environment.Environment) (err error) {
	log := telemetry.NewLogger(cmd.ErrOrStderr(), s.Config.App)
	listener, err := new(net.ListenConfig).Listen(cmd.Context(), "tcp", s.Config.App.ListenAddress())
	if err != nil {
		return fmt.Errorf("app.port is %d: %w; stop what listens there, or set another port", s.Config.App.Port, err)
	}
	exports, err := telemetry.Start(cmd.Context(), s.Config, log)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	h, err := app.New(cmd.Context(), app.Config{Environment: s, Logger: log, TracerProvider: exports.Tracers,
		MeterProvider: exports.Meters})
	if err != nil {
		return errors.Join(err, listener.Close(), exports.Close())
	}
	if _, err = askAboutOldMail(cmd.Context(), cmd, h); err != nil {
		return errors.Join(err, listener.Close(), exports.Close(), h.Close())
	}
	err = serveDaemon(cmd.Context(), h, listener)
	if late := exports.Close(); late != nil {
		log.Warn("the last telemetry is not exported", "error", late)
	}
	return errors.Join(err, h.Close())
}

// serveDaemon works until ctx is done.
func serveDaemon(ctx context.Context, h *app.App, listener net.Listener) error {
	login := httpapi.NewLogin(h, listener, func(address string) {
		h.Log.Info("somebody has signed in to the page; the next sign-in is with this address", "url", address)
	})
	defer httpapi.ForgetLogin(h)
	pages, onClose, err := httpapi.NewHandler(h, login)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	w := httpapi.Serve(listener, pages, onClose)
	address := w.URL
	if c := h.Env.Config.App; c.Dashboard || c.Pprof {
		address = login.Address()
	}
	if page := h.Env.Config.Web.URL; page != "" {
		h.Log.Info("people sign in to the page from elsewhere", "url", page)
	}
	h.Log.Info("postroomd runs", "version", telemetry.Version(), "url", address, "database", h.Env.DatabaseName())
	return errors.Join(h.Run(ctx), w.Close())
}
