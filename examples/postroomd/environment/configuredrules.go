package environment

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"slices"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/agents"
	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/archive"
	"github.com/postroom-go/postroom/gmail/escalation"
	"github.com/postroom-go/postroom/gmail/filing"
	"github.com/postroom-go/postroom/gmail/notes"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/gmail/tasks"
	"github.com/postroom-go/postroom/gmail/unsubscribe"
	"github.com/postroom-go/postroom/llm/agent"
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
	if s.profiles, err = s.AgentProfiles(); err != nil {
		s.profiles = nil // those who need the profiles say so; a command such as stop does not
	}
	s.read.forget() // what was read was checked by the kinds of before
	s.kinds, err = postroom.NewKinds(postroom.KindsConfig{Add: s.addedKinds(), Needs: needs})
	return err
}

// CarryOut gives the kinds of actions that need what a running postroomd has, such as tasks. Without it, rules with
// such actions can only be read.
func (s *Environment) CarryOut(kinds ...postroom.Kind) error {
	s.carried = kinds
	return s.AddKinds(s.ownKinds)
}

// described are the kinds of [Environment.CarryOut], for programs that only read rules.
func (s *Environment) described() []postroom.Kind {
	kinds := append(agents.Kinds(s.profiles, nil), (*tasks.Store)(nil).Kind(), escalation.Kind(nil),
		unsubscribe.NewKind(nil))
	if s.Config.Archive.URL != "" {
		kinds = append(kinds, archive.NewDeleteKind(nil))
	}
	if s.Config.Notes.Folder != "" {
		kinds = append(kinds, notes.Kind(nil))
	}
	if s.Config.Attachments.Folder != "" {
		kinds = append(kinds, filing.Kind(nil))
	}
	return kinds
}

// AgentProfiles reads the profiles of agents; there are none without a folder. What needs them calls it first: kinds
// are added also if they cannot be read.
func (s *Environment) AgentProfiles() ([]agent.Profile, error) {
	profiles, err := agents.Read(string(s.Config.Paths.Agents), s.ModelNames())
	if err != nil {
		return nil, usage.Errorf("paths.agents: %w", err)
	}
	return profiles, nil
}

// OwnKinds are the actions of the program's own.
func (s *Environment) OwnKinds() []postroom.Kind { return s.ownKinds }

// Profiles are the profiles of agents, as they were read when kinds were added.
func (s *Environment) Profiles() []agent.Profile { return s.profiles }

// The names that profiles give the models of [llm], [llm_better] and [llm_fallback].
const (
	Model         = "llm"
	BetterModel   = "llm_better"
	FallbackModel = "llm_fallback"
)

// ModelNames are the names of the configured models; a demo has one without configuration.
func (s *Environment) ModelNames() (names []string) {
	for name, m := range s.Models() {
		if m.Enabled() || s.Demo && name == Model {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Models are the sections of models by name.
func (s *Environment) Models() map[string]*config.Model {
	return map[string]*config.Model{Model: &s.Config.LLM.Model, BetterModel: &s.Config.Better,
		FallbackModel: &s.Config.Fallback}
}

// addedKinds are the kinds besides those of package gmail. An action of the program's own replaces one of its name.
func (s *Environment) addedKinds() []postroom.Kind {
	kinds := append(outbox.Kinds(), s.ownKinds...)
	for _, k := range slices.Concat(s.carried, s.described()) {
		if !slices.ContainsFunc(kinds, func(other postroom.Kind) bool { return other.Type == k.Type }) {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// needs are the actions that are carried out only where the configuration says so, and what to set.
var needs = map[postroom.ActionType]string{
	postroom.AddNote:       "set notes.folder to the folder that keeps notes, or write create_task",
	filing.FileAttachments: "set attachments.folder to the folder that keeps attached files",
}

// ActionKinds are the actions that are carried out here: Kinds, and those that were added.
func (s *Environment) ActionKinds() *postroom.Kinds { return cmp.Or(s.kinds, Kinds) }

// Kinds are the actions that postroomd carries out: the default kinds of package gmail, those that send messages,
// tasks, escalations, agents and the leaving of lists.
var Kinds = newKinds()

func newKinds() *postroom.Kinds {
	all, err := postroom.NewKinds(postroom.KindsConfig{Add: new(Environment).addedKinds(), Needs: needs})
	if err != nil {
		panic(err) // the kinds are constants: an error is a bug
	}
	return all
}
