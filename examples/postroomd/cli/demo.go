package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/httpapi"
	"github.com/postroom-go/postroom/examples/postroomd/mailsource"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/scripted"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/gmailtest/mailbox"
)

type demoOptions struct {
	data  string
	rules string
	from  mailsource.Flags
	json  bool
	ui    dashboardFlags

	enrich bool
}

func demoCommand() *cobra.Command {
	var o demoOptions
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Sort a mailbox: a sample, or a copy of yours",
		Long: `Demo starts a Gmail of its own on a loopback port, loads a sample mailbox into it, or a copy of yours, and runs the
whole pipeline: sync, ingest, rules, safety gate, ledger, actions. It needs no account, no key and no network, and only
reads the mailbox you name.

With --enrich it also finds out what the sample's mail means: category, importance, appointments. It keeps notes and
appointments in folders of --data, and learns a rule from what is moved by hand. The answers of its model are scripted.

Everything is kept in --data. Run again on the same folder it does nothing twice; killed, it goes on where it was.

At a terminal, or with --dashboard, it serves the page and says first where. A browser can watch meanwhile, and act
afterwards until you press Ctrl-C. Elsewhere, with --json, or with --dashboard none it ends by itself.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return demo(cmd, o) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.data, "data", "", "the folder to keep everything in (default: a new temporary one)")
	flags.StringVar(&o.rules, "rules", "", "the rules, a YAML file (default: sample rules)")
	flags.StringVar(&o.from.Mbox, "mbox", "", "load a copy of this mbox file, Google Takeout's too, gzipped or not")
	flags.StringVar(&o.from.Maildir, "maildir", "", "load a copy of this Maildir")
	flags.StringVar(&o.from.EML, "eml", "", "load a copy of the .eml files in this folder")
	flags.BoolVar(&o.json, "json", false, "print the summary as one JSON object, and nothing else, on standard output")
	flags.BoolVar(&o.enrich, "enrich", false,
		"find out what the sample's mail means, keep notes and appointments, and learn a rule; the model's answers are scripted")
	o.ui.register(cmd)
	return cmd
}

func demo(cmd *cobra.Command, o demoOptions) error {
	began := time.Now()
	d, err := o.prepare(cmd)
	if err != nil {
		return err
	}
	s, err := d.run(cmd.Context())
	if err != nil {
		return errors.Join(err, d.close())
	}
	s.Seconds = time.Since(began).Seconds()
	if err = d.print(cmd, o, s); err == nil && d.shown != nil {
		err = d.stay(cmd.Context())
	}
	return errors.Join(err, d.close(), s.Fault())
}

// print prints the summary, and what the mail means if that was asked for.
func (d *demoRun) print(cmd *cobra.Command, o demoOptions, s *view.Summary) (err error) {
	var means *meaningReport
	if o.enrich {
		if means, err = d.newMeaningReport(cmd.Context()); err != nil {
			return err
		}
	}
	if o.json {
		return printer.JSON(cmd.OutOrStdout(), struct {
			*view.Summary

			Meaning *meaningReport `json:"meaning,omitempty"`
		}{s, means})
	}
	if err := s.Print(cmd.OutOrStdout(), programName(), d.App.Env.Flags("")); err != nil || means == nil {
		return err
	}
	return means.print(cmd.OutOrStdout(), programName(), d.App.Env.Flags(""))
}

// Prepare opens the host, and the dashboard if requested. It checks all flags before it writes anything.
func (o *demoOptions) prepare(cmd *cobra.Command) (d *demoRun, err error) {
	file, err := environment.ReadRulesFile(o.rules)
	if err != nil {
		return nil, err
	}
	f := environment.Folder(o.data)
	if f != "" {
		if err := f.Check(); err != nil {
			return nil, err
		}
	}
	from, err := o.from.Choose(f)
	if err != nil {
		return nil, err
	}
	if err := o.checkEnrich(f, from); err != nil {
		return nil, err
	}
	if !o.json && printer.IsTerminal(cmd.OutOrStdout()) && printer.IsTerminal(cmd.ErrOrStderr()) {
		o.ui.serveByDefault()
	}
	listener, err := o.ui.listen(cmd.Context())
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil && listener != nil {
			err = errors.Join(err, listener.Close())
		}
	}()
	if f, err = prepareFolder(f); err != nil {
		return nil, err
	}
	if err := giveAgents(f, from); err != nil {
		return nil, err
	}
	day, err := o.giveMeaning(f)
	if err != nil {
		return nil, err
	}
	h, err := app.New(cmd.Context(), app.Config{Environment: environment.DemoCommand(f)})
	if err != nil {
		return nil, err
	}
	if !day.IsZero() {
		if file, err = withMeaning(cmd.Context(), h, file, o.rules == ""); err != nil {
			return nil, errors.Join(err, h.Close())
		}
	}
	d = &demoRun{OneRun: app.NewOneRun(h, file, printer.NewProgress(cmd.ErrOrStderr())), from: from, day: day,
		teaches: o.enrich}
	if listener != nil {
		if d.shown, err = o.ui.serve(h, listener, d.signedIn); err != nil {
			return nil, errors.Join(err, h.Close())
		}
	}
	return d, nil
}

func prepareFolder(f environment.Folder) (environment.Folder, error) {
	if f == "" {
		dir, err := os.MkdirTemp("", "postroom-demo-")
		return environment.Folder(dir), err
	}
	dir, err := filepath.Abs(string(f))
	if err != nil {
		return "", err
	}
	return environment.Folder(dir), environment.Folder(dir).Create()
}

// A demoRun is one run of the demo.
type demoRun struct {
	*app.OneRun
	from *mailsource.Source
	// day is that for which letters are added that teach; zero: none are.
	day     time.Time
	teaches bool

	shown *httpapi.Server // nil without a dashboard

	cutShort error // why the mailbox could not be read to its end
}

func (d *demoRun) close() error {
	var err error
	if d.shown != nil {
		err = d.shown.Close()
	}
	return errors.Join(err, d.App.Close())
}

func (d *demoRun) signedIn(next string) {
	d.Progress.Sayf("Somebody has signed in at the dashboard; the next sign-in is at %s", next)
}

// stay carries out what is done on the page until interrupted.
func (d *demoRun) stay(ctx context.Context) error {
	dispatcher, err := d.App.NewDispatcher()
	if err != nil {
		return err
	}
	d.Progress.Sayf("The dashboard stays at %s until you press Ctrl-C; commands that change something work after that",
		d.shown.Address())
	return dispatcher.Run(ctx)
}

func (d *demoRun) run(ctx context.Context) (*view.Summary, error) {
	if d.shown != nil {
		d.Progress.Sayf("The dashboard is at %s", d.shown.Address())
	} else {
		d.Progress.Sayf("To see it in a browser: %s demo --dashboard 127.0.0.1:8080", programName())
	}
	d.Progress.Sayf("Everything is kept in %s", d.App.Env.Folder)
	for _, w := range d.Rules.Warnings {
		d.Progress.Sayf("warning: %s", w)
	}
	if err := d.warnOfPauses(ctx); err != nil {
		return nil, err
	}
	if err := d.loadMailbox(ctx); err != nil {
		return nil, err
	}
	if err := d.Run(ctx); err != nil {
		return nil, err
	}
	if err := errors.Join(d.draft(ctx), d.haveAgentWork(ctx)); err != nil {
		return nil, err
	}
	if d.teaches {
		if err := d.teach(ctx); err != nil {
			return nil, err
		}
	}
	return view.NewSummary(ctx, d.OneRun, d.cutShort)
}

// draft has a draft written of an answer to a message of the sample, once, as a person asks for it on the page.
func (d *demoRun) draft(ctx context.Context) error {
	msg, err := d.sampleMessage(ctx, scripted.Answered)
	if err != nil || msg == nil {
		return err
	}
	d.Progress.Sayf("%s", scripted.Note)
	account, thread := msg.AccountID, msg.ProviderThreadID
	if _, err := d.App.Replies.Reply(ctx, account, thread); !errors.Is(err, postroom.ErrNotFound) {
		return err
	}
	if err := d.App.AskDraft(ctx, account, thread, "the demo"); err != nil {
		return err
	}
	return d.App.RunJobs(ctx)
}

// warnOfPauses warns of types and keys that are paused on the dashboard: their jobs keep the demo from ending.
func (d *demoRun) warnOfPauses(ctx context.Context) error {
	limits, err := d.App.Queue.Limits(ctx)
	for i := range limits {
		if l := &limits[i]; l.Paused {
			d.Progress.Sayf(
				"warning: the jobs of %s %s are paused, and wait until they are resumed on the dashboard (--dashboard 127.0.0.1:8080)", l.Kind, l.Name)
		}
	}
	return err
}

// loadMailbox copies the user's mailbox into the demo's Gmail, or continues after an interruption.
func (d *demoRun) loadMailbox(ctx context.Context) error {
	if err := d.from.Remember(d.App.Env.Folder); err != nil {
		return err
	}
	source, err := d.from.Open()
	if err != nil {
		if d.from.Remembered {
			d.Progress.Sayf("The mailbox is no longer there; going on with what was loaded: %v", err)
			return nil
		}
		return usage.Wrap(err)
	}
	bar := d.Progress.Start("Loading", 0)
	defer bar.Done()
	_, err = d.App.Server.Import(ctx, d.withLists(source), bar.Set)
	if errors.Is(err, mailbox.ErrCutShort) {
		d.Progress.Sayf("warning: %v; going on with what could be read", err)
		d.cutShort, err = err, nil
	}
	if err != nil {
		return fmt.Errorf("load %s: %w", d.from, err)
	}
	return nil
}
