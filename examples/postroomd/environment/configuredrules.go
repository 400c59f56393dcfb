package environment

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"slices"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/gmail/tasks"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// ReadRulesFile reads the user's rules, or the sample ones when no file is named.
func ReadRulesFile(path string, options ...rulesfile.ParseOption) (*rulesfile.File, error) {
	options = append([]rulesfile.ParseOption{rulesfile.WithKinds(Kinds)}, options...)
	var file *rulesfile.File
	var err error
	if path == "" {
		file, err = rulesfile.Parse("rules.yaml", bytes.NewReader(config.SampleRules), options...)
	} else {
		file, err = rulesfile.ParseFile(path, options...)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usage.Errorf("%w; name a YAML file with rules, such as examples/postroomd/config/rules.yaml", err)
	}
	if err != nil {
		return nil, usage.Wrap(err)
	}
	return file, nil
}

// RulesPath returns the path of the file with the rules of a mailbox; empty if none is configured for it.
func (s *Environment) RulesPath(address string) string {
	return string(cmp.Or(s.Config.Paths.MailboxRules.Of(address), s.Config.Paths.Rules))
}

// RulesPaths returns the paths of all configured rules files, each once.
func (s *Environment) RulesPaths() (paths []string) {
	if s.Config.Paths.Rules != "" {
		paths = append(paths, string(s.Config.Paths.Rules))
	}
	for _, f := range s.Config.Paths.MailboxRules {
		if !slices.Contains(paths, string(f.Path)) {
			paths = append(paths, string(f.Path))
		}
	}
	return paths
}

// checkRules returns an error if configured rules cannot be read.
func (s *Environment) checkRules() error {
	var errs []error
	for _, path := range s.RulesPaths() {
		_, err := s.ReadRules(path)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// AddKinds adds actions of the program's own, before the environment is used.
func (s *Environment) AddKinds(own []postroom.Kind) (err error) {
	s.ownKinds = own
	s.read.forget() // what was read was checked by the kinds of before
	s.kinds, err = postroom.NewKinds(postroom.KindsConfig{Add: s.addedKinds()})
	return err
}

// KeepTasks lets actions make tasks, which are kept in the store. Without it, rules with such actions can only be read.
func (s *Environment) KeepTasks(store *tasks.Store) error {
	s.tasks = store
	return s.AddKinds(s.ownKinds)
}

// addedKinds are the kinds besides those of package gmail. An action of the program's own replaces that of tasks.
func (s *Environment) addedKinds() []postroom.Kind {
	kinds := append(outbox.Kinds(), s.ownKinds...)
	if !slices.ContainsFunc(s.ownKinds, func(k postroom.Kind) bool { return k.Type == postroom.CreateTask }) {
		kinds = append(kinds, s.tasks.Kind())
	}
	return kinds
}

// ActionKinds are the actions that are carried out here: Kinds, and those that were added.
func (s *Environment) ActionKinds() *postroom.Kinds { return cmp.Or(s.kinds, Kinds) }

// Kinds are the actions that postroomd carries out: the default kinds of package gmail, those that send messages, and
// tasks.
var Kinds = newKinds()

func newKinds() *postroom.Kinds {
	all, err := postroom.NewKinds(postroom.KindsConfig{Add: new(Environment).addedKinds()})
	if err != nil {
		panic(err) // the kinds are constants: an error is a bug
	}
	return all
}
