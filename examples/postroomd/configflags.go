package main

import (
	"os"
	"slices"

	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/rules/rulesfile"
	"github.com/spf13/cobra"
)

// RefuseActions is for rules that are checked by themselves. A configuration that nobody has named and that cannot be read, such as for a
// variable that is set where postroomd starts, keeps nobody from checking rules.
func (c *configFlags) refusedActions(cmd *cobra.Command) (rulesfile.ParseOption, error) {
	l, err := config.Load(c.source())
	switch {
	case err == nil:
		return (&environment.Environment{Config: l.Config}).RefuseActions(), nil
	case c.file != "" || len(c.set) > 0:
		return rulesfile.ParseOption{}, usage.Wrap(err)
	}
	cmd.PrintErrln("warning: the configuration cannot be read, and the rules are checked without it; 'postroomd config check' says why")
	return rulesfile.ParseOption{}, nil
}

// configFlags select the sources of the configuration.
type configFlags struct {
	file string
	set  []string
}

func (c *configFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&c.file, "config", "", "the configuration, a TOML file (default: $POSTROOMD_CONFIG, else postroom/config.toml in your configuration folder, if there)")
	flags.StringArrayVar(&c.set, "set", nil, "override a setting, such as app.port=17801; may be repeated")
}

// load reads the configuration and prints its warnings.
func (c *configFlags) load(cmd *cobra.Command, override ...string) (*config.Loaded, error) {
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
func (c *configFlags) source(override ...string) config.Sources {
	src := config.Sources{File: c.file, Environ: os.Environ(), Set: append(slices.Clip(c.set), override...)}
	if src.File == "" {
		src.File = config.DefaultFile(src.Environ)
	}
	return src
}
