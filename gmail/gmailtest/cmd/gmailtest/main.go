// Command gmailtest runs a fake Gmail for tests of programs in any language. See README.md.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/gmailtest/mailbox"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// flags are the command-line flags.
type flags struct {
	listen, dir, email       string
	mbox, maildir, eml       []string
	sample, requireSignIn    bool
	accounts                 []string
	perMinute, concurrent    int
	pushTopic, pushURL, aud  string
	clientID, clientPassword string
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var f flags
	cmd := &cobra.Command{
		Use:           "gmailtest",
		Short:         "A Gmail for tests: the HTTP and JSON of the Gmail API on a local port",
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return f.serve(cmd.Context(), stdout) },
	}
	cmd.CompletionOptions.DisableDefaultCmd = true
	cmd.SetArgs(args)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return fmt.Errorf("%w; see gmailtest --help", err) })
	f.add(cmd)
	if err := cmd.ExecuteContext(ctx); err != nil {
		_, _ = fmt.Fprintln(stderr, "gmailtest:", strings.TrimPrefix(err.Error(), "gmailtest: "))
		return 1
	}
	return 0
}

func (f *flags) add(cmd *cobra.Command) {
	set := cmd.Flags()
	set.StringVar(&f.listen, "listen", "127.0.0.1:8025", "the address to listen on; port 0 is a free one")
	set.StringVar(&f.dir, "dir", "", "the folder that keeps the mailboxes; without it they are in memory")
	set.StringVar(&f.email, "email", "", "the address of the first mailbox (default "+gmailtest.DefaultEmail+")")
	set.StringArrayVar(&f.accounts, "account", nil, "the address of one more mailbox; can be repeated")
	set.StringArrayVar(&f.mbox, "mbox", nil, "an mbox file to import, plain or gzip; can be repeated")
	set.StringArrayVar(&f.maildir, "maildir", nil, "a Maildir to import; can be repeated")
	set.StringArrayVar(&f.eml, "eml", nil, "a folder with .eml files to import; can be repeated")
	set.BoolVar(&f.sample, "sample", false, "import the sample mailbox")
	set.IntVar(&f.perMinute, "quota", 0,
		"the units that each mailbox may spend in a minute; 0 is no limit, Gmail's is 6000")
	set.IntVar(&f.concurrent, "concurrent", 0, "the calls that each mailbox is answered at a time; 0 is no limit")
	set.BoolVar(&f.requireSignIn, "require-sign-in", false, "refuse access tokens that this server did not issue")
	set.StringVar(&f.clientID, "client-id", "", "the only OAuth client that may sign in (default any)")
	set.StringVar(&f.clientPassword, "client-secret", "", "its secret")
	set.StringVar(&f.pushTopic, "push-topic", "",
		"the topic whose notifications are pushed, as projects/PROJECT/topics/TOPIC")
	set.StringVar(&f.pushURL, "push-url", "", "the address that they are pushed to")
	set.StringVar(&f.aud, "push-audience", "", "the audience of the token that goes with them (default the address)")
}

// sources opens the mailboxes before anything is served.
func (f *flags) sources() (sources []mailbox.Source, err error) {
	if f.sample {
		sources = append(sources, sample.Mailbox())
	}
	for _, kind := range []struct {
		paths []string
		open  func(path string) (mailbox.Source, error)
	}{{f.mbox, mailbox.OpenMbox}, {f.maildir, mailbox.OpenMaildir}, {f.eml, mailbox.OpenEML}} {
		for _, path := range kind.paths {
			source, err := kind.open(path)
			if err != nil {
				return nil, err
			}
			sources = append(sources, source)
		}
	}
	return sources, nil
}

// check refuses flags that would have no effect.
func (f *flags) check() error {
	switch {
	case f.clientID == "" && f.clientPassword != "":
		return errors.New("--client-secret is set and --client-id is missing")
	case f.pushTopic == "" && f.pushURL == "" && f.aud != "":
		return errors.New("--push-audience is set, and --push-topic and --push-url are missing")
	default:
		return nil
	}
}

func (f *flags) serve(ctx context.Context, stdout io.Writer) (err error) {
	if err := f.check(); err != nil {
		return err
	}
	sources, err := f.sources()
	if err != nil {
		return err
	}
	server, err := gmailtest.Open(ctx, f.config())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	// Before messages are imported, since a mailbox of --dir may be watched.
	if f.pushTopic != "" || f.pushURL != "" {
		if err := server.PushTo(gmailtest.PushTarget{Topic: f.pushTopic, URL: f.pushURL, Audience: f.aud}); err != nil {
			return err
		}
	}
	emails, err := f.fill(ctx, server, sources, stdout)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(stdout, "Gmail of %s at %s\n", strings.Join(emails, ", "), server.URL()); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

func (f *flags) config() gmailtest.Config {
	cfg := gmailtest.Config{
		Dir: f.dir, Email: f.email, Listen: f.listen, Control: true,
		Quota: gmailtest.Quota{PerMinute: f.perMinute, Concurrent: f.concurrent},
		OAuth: gmailtest.OAuth{Required: f.requireSignIn},
	}
	if f.clientID != "" {
		cfg.OAuth.Clients = []gmailtest.OAuthClient{{ID: f.clientID, Secret: f.clientPassword}}
	}
	return cfg
}

// fill imports the mailboxes and creates the accounts. It returns their addresses.
func (f *flags) fill(ctx context.Context, server *gmailtest.Server, sources []mailbox.Source,
	stdout io.Writer) (emails []string, err error) {
	for _, source := range sources {
		added, err := server.Import(ctx, source, nil)
		if err != nil {
			return nil, err
		}
		if _, err := fmt.Fprintf(stdout, "imported %d messages of %s\n", added, source.Name()); err != nil {
			return nil, err
		}
	}
	emails = []string{server.Email()}
	for _, email := range f.accounts {
		account, err := server.Account(ctx, email)
		if err != nil {
			return nil, err
		}
		emails = append(emails, account.Email())
	}
	return emails, nil
}
