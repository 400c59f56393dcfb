package main

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/rules"
)

// A site is the location of a host's data, and its configuration.
type site struct {
	folder folder // empty on PostgreSQL, if none is named
	cfg    config.Config
	demo   bool // the Gmail is its own, in the folder
}

// placeFlags select a site: the folder of a demo, or the configuration of "postroomd run".
type placeFlags struct {
	data string
	from configFlags
}

// placeFlag adds the flags to a command that reads or changes the data of a site.
func placeFlag(cmd *cobra.Command) *placeFlags {
	p := new(placeFlags)
	p.register(cmd)
	return p
}

func (p *placeFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.data, "data", "", "the folder with the data: that of a demo, or in place of the configured one")
	p.from.register(cmd)
}

// configured reads the configuration and applies the folder flag.
func (p *placeFlags) configured(cmd *cobra.Command) (*site, error) {
	var override []string
	if p.data != "" {
		override = []string{"paths.data=" + p.data}
	}
	l, err := p.from.load(cmd, override...)
	if err != nil {
		return nil, err
	}
	return &site{folder: folder(l.Config.Paths.Data), cfg: l.Config}, nil
}

// existing returns the site of an earlier demo or run.
func (p *placeFlags) existing(cmd *cobra.Command) (*site, error) {
	if f := folder(p.data); f != "" && f.isDemo() {
		if p.from.file != "" || len(p.from.set) > 0 {
			return nil, usage.Errorf("--data %s holds a demo, which has no configuration: leave out --config and --set", p.data)
		}
		return demoSite(f), nil
	}
	s, err := p.configured(cmd)
	if err != nil {
		return nil, err
	}
	if s.cfg.Paths.Database.Postgres() {
		return s, nil
	}
	_, err = os.Stat(s.database())
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil, usage.Errorf("what is kept in %s cannot be read: %w; run this as the user who runs postroomd, or name another folder with --data DIR", s.database(), err)
	case err != nil:
		return nil, usage.Errorf("nothing is kept in %s yet (%w); name the folder of a demo with --data DIR, or start 'postroomd run' first", s.database(), err)
	}
	return s, nil
}

// database returns the path of the SQLite file.
func (s *site) database() string {
	if s.cfg.Paths.Database != "" {
		return string(s.cfg.Paths.Database)
	}
	return s.folder.database()
}

// stopFile returns the path of the stop file; empty if there is neither a setting nor a folder.
func (s *site) stopFile() string {
	if s.cfg.Safety.StopFile != "" || s.folder == "" {
		return string(s.cfg.Safety.StopFile)
	}
	return s.folder.stopFile()
}

// lock keeps other processes off an SQLite database: a folder has its lock, and a file elsewhere has one next to it. PostgreSQL
// can be shared, and has none.
func (s *site) lock(ctx context.Context) (release func() error, err error) {
	switch {
	case s.cfg.Paths.Database.Postgres():
		return func() error { return nil }, nil
	case s.cfg.Paths.Database != "":
		return lockFile(ctx, s.database()+".lock", s.database())
	}
	return s.folder.lock(ctx)
}

// look opens the site for a command that reads.
func look(cmd *cobra.Command, p *placeFlags, fn func(ctx context.Context, h *host) error) error {
	return with(cmd, p, open, fn)
}

// act opens the site for a command that enqueues jobs. For a demo the command runs them itself.
func act(cmd *cobra.Command, p *placeFlags, fn func(ctx context.Context, h *host) error) error {
	return with(cmd, p, func(ctx context.Context, s *site) (*host, error) {
		if s.demo {
			return work(ctx, s)
		}
		h, err := open(ctx, s)
		if err != nil {
			return nil, err
		}
		if err := h.connect(ctx); err != nil {
			return nil, errors.Join(err, h.close())
		}
		return h, nil
	}, fn)
}

func with(cmd *cobra.Command, p *placeFlags, open func(context.Context, *site) (*host, error), fn func(context.Context, *host) error) error {
	s, err := p.existing(cmd)
	if err != nil {
		return err
	}
	h, err := open(cmd.Context(), s)
	if err != nil {
		return err
	}
	return errors.Join(fn(cmd.Context(), h), h.close())
}

// prepare creates the folder. On PostgreSQL there is nothing to store in it.
func (s *site) prepare() error {
	if s.cfg.Paths.Database.Postgres() {
		return nil
	}
	return s.folder.createRun()
}

// databaseName returns the database for people, without a password.
func (s *site) databaseName() string {
	if s.cfg.Paths.Database.Postgres() {
		return s.cfg.Paths.Database.String()
	}
	return s.database()
}

// checkAccess returns an error if there is no mailbox to work on.
func (s *site) checkAccess() error {
	if s.cfg.Gmail.ClientID == "" && s.cfg.Gmail.Token == "" {
		return usage.Errorf("there is no access to any mailbox: set gmail.client_id and sign in with 'postroomd auth login', or set gmail.address and gmail.token")
	}
	return nil
}

// noMailboxYet says where there is no mailbox what adds one.
func (s *site) noMailboxYet() string {
	switch {
	case s.cfg.Gmail.Token != "":
		return "'postroomd run' makes the one of gmail.address"
	case s.cfg.Gmail.ClientID != "":
		return "'postroomd auth login' signs in to one"
	}
	return "set gmail.client_id and sign in with 'postroomd auth login', or set gmail.address and gmail.token"
}

// check returns an error for settings that do not go together, and for rules that cannot be read.
func (s *site) check() error {
	if err := errors.Join(s.checkGmail(), s.checkDiscord(), s.checkAPI(), s.checkWebhook()); err != nil {
		return err
	}
	_, err := s.readRules()
	return err
}

func (s *site) checkGmail() error {
	switch g := s.cfg.Gmail; {
	case g.Token != "" && g.Address == "":
		return usage.Errorf("gmail.address is not set; name the mailbox of gmail.token, as in address = \"ada@example.org\" below [gmail]")
	case g.Endpoint == "" && g.UnitsPerMinute == 0:
		return usage.Errorf("gmail.units_per_minute is 0, and Google's Gmail has a quota; set it to 6000")
	}
	return s.checkNotifications()
}

// checkNotifications returns an error if the settings for notifications are incomplete.
func (s *site) checkNotifications() error {
	g := s.cfg.Gmail
	push := g.PushAudience != "" || g.PushAccount != ""
	switch {
	case push && (g.PushAudience == "" || g.PushAccount == ""):
		return usage.Errorf("of gmail.push_audience and gmail.push_account one is set, and the other is not; both are those of the push subscription")
	case g.Topic == "" && push:
		return usage.Errorf("gmail.push_audience and gmail.push_account are set, and gmail.topic is not; name the topic that Gmail publishes to")
	case g.Topic == "" && g.UsePubsub:
		return usage.Errorf("gmail.use_pubsub is true, and gmail.topic is not set; name the topic that Gmail publishes to")
	case g.UsePubsub && g.Subscription == "":
		return usage.Errorf("gmail.use_pubsub is true, and gmail.subscription is not set; name the pull subscription of gmail.topic")
	case !g.UsePubsub && (g.Subscription != "" || g.ProjectID != ""):
		return usage.Errorf("gmail.subscription or gmail.project_id is set, and gmail.use_pubsub is not true; set it to pull")
	case g.Topic != "" && !push && !g.UsePubsub:
		return usage.Errorf("gmail.topic is set, and nothing takes what is published; set gmail.use_pubsub and gmail.subscription, " +
			"or gmail.push_audience and gmail.push_account")
	}
	return nil
}

// readRules reads the configured rules; nil if there are none.
func (s *site) readRules() (*rules.File, error) {
	if s.cfg.Paths.Rules == "" {
		return nil, nil
	}
	return readRules(string(s.cfg.Paths.Rules), s.refusedActions())
}

// rulesGate is that of a process which stores the configured rules; nil when there are none.
func (s *site) rulesGate() *rulesGate {
	if s.cfg.Paths.Rules == "" {
		return nil
	}
	return newRulesGate()
}

// flags returns the flags with which other commands find the site.
func (s *site) flags(configFile string) string {
	text := "--data " + string(s.folder)
	if configFile != "" {
		text = "--config " + configFile + " " + text
	}
	return text
}
