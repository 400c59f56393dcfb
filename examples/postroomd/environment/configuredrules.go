package environment

import (
	"bytes"
	"errors"
	"io/fs"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail"
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

// ReadRules reads the configured rules; nil if there are none.
func (s *Environment) ReadRules() (*rulesfile.File, error) {
	if s.Config.Paths.Rules == "" {
		return nil, nil
	}
	return ReadRulesFile(string(s.Config.Paths.Rules), s.RefuseActions())
}

// Kinds are the actions that this program carries out: the default kinds of package gmail, and those that send messages.
var Kinds = newKinds()

func newKinds() *postroom.Kinds {
	all, err := postroom.NewKinds(postroom.KindsConfig{Add: gmail.OutboundKinds()})
	if err != nil {
		panic(err) // the kinds are constants: an error is a bug
	}
	return all
}
