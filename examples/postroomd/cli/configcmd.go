package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
)

func configCommand() *cobra.Command {
	return command.Group("config", "Write, check and show the configuration", configInit(), configCheck(), configShow())
}

func configInit() *cobra.Command {
	return &cobra.Command{
		Use:   "init [FILE]",
		Short: "Write a configuration file that explains every setting",
		Long: "Write a configuration file that explains every setting, by default to postroom/config.toml in your configuration\n" +
			"folder, where the other commands look for it. A file that is there already is left as it is.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := config.UserFile()
			if len(args) == 1 {
				path, err = args[0], nil
			}
			if err != nil {
				return err
			}
			if err := writeNew(path, config.Sample); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s is written; it changes nothing until you remove the # of a line\n", path)
			return err
		},
	}
}

// writeNew writes a file that does not exist yet.
func writeNew(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return usage.Errorf("%w; it is left as it is: name another file", err)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}

func configCheck() *cobra.Command {
	var from command.ConfigFlags
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check the configuration: every fault with its line, and what to write instead",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := from.Load(cmd)
			if err != nil {
				return err
			}
			s := &environment.Environment{Folder: environment.Folder(l.Config.Paths.Data), Config: l.Config}
			if err := s.Check(); err != nil {
				return err
			}
			if err := s.CheckTokens(cmd.Context()); err != nil {
				return err
			}
			if err := warnOfRules(s, cmd); err != nil {
				return err
			}
			said := "no faults"
			if err := s.CheckAccess(); err != nil {
				said += ", but nothing to work on: " + err.Error()
			}
			if l.Config.Gmail.AllowDelete {
				said += "\n" + s.DeletingWords()
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), said)
			return err
		},
	}
	from.Register(cmd)
	return cmd
}

// warnOfRules prints what is probably a mistake in the configured rules.
func warnOfRules(s *environment.Environment, cmd *cobra.Command) error {
	for _, path := range s.RulesPaths() {
		file, err := s.ReadRules(path)
		if err != nil {
			return err
		}
		for _, w := range file.Warnings {
			cmd.PrintErrln("warning:", printer.PrintableLines(w.String()))
		}
	}
	return nil
}

func configShow() *cobra.Command {
	var from command.ConfigFlags
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Show every setting and where it comes from, without secrets",
		Args:  cobra.NoArgs,
	}
	from.Register(cmd)
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		l, err := from.Load(cmd)
		switch {
		case err != nil:
			return err
		case *asJSON:
			return printer.JSON(cmd.OutOrStdout(), l.Values)
		}
		return l.Show(cmd.OutOrStdout())
	}
	return cmd
}
