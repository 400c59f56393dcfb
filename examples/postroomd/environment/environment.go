// Package environment is where a postroomd works: its data folder, its configuration, and what both say of databases,
// keys, grants, rules and permissions.
package environment

import (
	"context"
	"crypto/rand"
	"os"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/llm/agent"
)

// An Environment is the location of a host's data, and its configuration.
type Environment struct {
	Folder Folder // empty on PostgreSQL, if none is named
	Config config.Config
	Values []config.Value // of all settings, for people; nil in a demo that has no Gmail yet
	Demo   bool           // the Gmail is its own, in the folder

	ownKinds []postroom.Kind // the actions of the program's own
	kinds    *postroom.Kinds // with them; nil: Kinds
	carried  []postroom.Kind // those that need what a running postroomd has; empty: they are only described
	profiles []agent.Profile // of agents; nil until kinds are added
	read     readRules
}

// Database returns the path of the SQLite file.
func (s *Environment) Database() string {
	if s.Config.Paths.Database != "" {
		return string(s.Config.Paths.Database)
	}
	return s.Folder.Database()
}

// StopFile returns the path of the stop file; empty if there is neither a setting nor a folder.
func (s *Environment) StopFile() string {
	if s.Config.Safety.StopFile != "" || s.Folder == "" {
		return string(s.Config.Safety.StopFile)
	}
	return s.Folder.stopFile()
}

// Lock keeps other processes off an SQLite database: a folder has its lock, and a file elsewhere has one next to it.
// PostgreSQL can be shared, and has none.
func (s *Environment) Lock(ctx context.Context) (release func() error, err error) {
	switch {
	case s.Config.Paths.Database.Postgres():
		return func() error { return nil }, nil
	case s.Config.Paths.Database != "":
		return lockFile(ctx, s.Database()+".lock", s.Database())
	}
	return s.Folder.Lock(ctx)
}

// Prepare creates the folder. On PostgreSQL there is nothing to store in it.
func (s *Environment) Prepare() error {
	if s.Config.Paths.Database.Postgres() {
		return nil
	}
	return s.Folder.createRun()
}

// DatabaseName returns the database for people, without a password.
func (s *Environment) DatabaseName() string {
	if s.Config.Paths.Database.Postgres() {
		return s.Config.Paths.Database.String()
	}
	return s.Database()
}

// HowToAddMailbox says where there is no mailbox what adds one.
func (s *Environment) HowToAddMailbox() string {
	switch {
	case s.Config.Gmail.Token != "":
		return "'postroomd run' makes the one of gmail.address"
	case s.Config.Gmail.ClientID != "":
		return "'postroomd auth login' signs in to one"
	}
	return "set gmail.client_id and sign in with 'postroomd auth login', or set gmail.address and gmail.token"
}

// Flags returns the flags with which other commands find the data.
func (s *Environment) Flags(configFile string) string {
	text := "--data " + string(s.Folder)
	if configFile != "" {
		text = "--config " + configFile + " " + text
	}
	return text
}

// Demo is the configuration of a demo. Its Gmail is known after the start, has no quota, and accepts only the token
// that is made here: it may hold a copy of the user's mail, and the machine other users.
func Demo(f Folder) *Environment {
	cfg := config.Default()
	cfg.App.Workers = 16
	cfg.Gmail = config.Gmail{Address: sample.Owner, Token: config.Secret(rand.Text()), SpamAndTrash: true,
		OldMail: config.SortOldMail}
	cfg.Replies.Enabled = true // by the model of package scripted
	cfg.Policy.SendAge = 0     // the sample is sorted as if it had just come, and its Gmail sends nothing
	return &Environment{Folder: f, Config: cfg, Demo: true}
}

// DemoCommand is the configuration of 'postroomd demo', and of the commands on its folder: that of [Demo], in which
// trashing asks first, mailing lists are left, and the agents are those of the folder. Where the folder says so, what
// mail means is found out, and rules are learned.
func DemoCommand(f Folder) *Environment {
	s := Demo(f)
	s.Config.Policy.ApprovalAlways = append(s.Config.Policy.ApprovalAlways, string(postroom.Trash))
	s.Config.Lists.Enabled = true
	if info, err := os.Stat(f.Agents()); err == nil && info.IsDir() {
		s.Config.Paths.Agents = config.Path(f.Agents())
	}
	if _, err := os.Stat(f.Enriched()); err == nil {
		s.Config.Enrich.Enabled, s.Config.Learn.Enabled = true, true
		s.Config.Enrich.Events, s.Config.Enrich.EventsFolder = config.EventFiles, config.Path(f.Calendar())
		s.Config.Notes.Folder = config.Path(f.Notes())
		s.Config.LLM.Age = 0 // the script is asked about old mail, too
	}
	return s
}

// Shared reports whether other machines may work on the same mailboxes.
func (s *Environment) Shared() bool { return s.Config.Paths.Database.Postgres() }
