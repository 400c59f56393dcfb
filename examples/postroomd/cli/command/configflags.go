package command

import (
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// RefusedActions returns the option of a rules file that warns of actions that the configuration refuses. It is for
// rules that are checked by themselves. A configuration that nobody has named and that cannot be read, such as for a
// variable that is set where postroomd starts, keeps nobody from checking rules.
//
// It also returns the mailboxes that have files of their own. Rules may name agents if the configuration has some.
func (c *ConfigFlags) RefusedActions(cmd *cobra.Command) ([]rulesfile.ParseOption, config.MailboxFiles, error) {
	l, err := config.Load(c.source())
	switch {
	case err == nil:
		s := &environment.Environment{Config: l.Config}
		options := []rulesfile.ParseOption{s.RefuseActions(), s.UnknownMeanings()}
		if l.Config.Paths.Agents != "" {
			if _, err := s.AgentProfiles(); err != nil {
				return nil, nil, err
			}
			if err := s.AddKinds(nil); err != nil {
				return nil, nil, err
			}
			options = append(options, rulesfile.WithKinds(s.ActionKinds()))
		}
		return options, l.Config.Paths.MailboxRules, nil
	case c.File != "" || len(c.Set) > 0:
		return nil, nil, usage.Wrap(err)
	}
	cmd.PrintErrln(
		"warning: the configuration cannot be read, and the rules are checked without it; 'postroomd config check' says why")
	return nil, nil, nil
}

// ConfigFlags select the sources of the configuration.
type ConfigFlags struct {
	File string
	Set  []string
}

// Register adds the flags to a command.
func (c *ConfigFlags) Register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&c.File, "config", "",
		"the configuration, a TOML file (default: $POSTROOMD_CONFIG, else postroom/config.toml in your configuration folder, if there)")
	flags.StringArrayVar(&c.Set, "set", nil, "override a setting, such as app.port=17801; may be repeated")
}

// Load reads the configuration and prints its warnings.
func (c *ConfigFlags) Load(cmd *cobra.Command, override ...string) (*config.Loaded, error) {
	l, err := config.Load(c.source(override...))
	if err != nil {
		return nil, usage.Wrap(err)
	}
	for _, w := range l.Warnings {
		cmd.PrintErrln("warning:", printer.PrintableLines(w.String()))
	}
	return l, nil
}

// source is where the configuration is read from.
func (c *ConfigFlags) source(override ...string) config.Sources {
	src := config.Sources{File: c.File, Environ: os.Environ(), Set: append(slices.Clip(c.Set), override...)}
	if src.File == "" {
		src.File = config.DefaultFile(src.Environ)
	}
	return src
}
