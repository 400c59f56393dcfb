package cmdline

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/internal/suggest"
)

// Group is a command that only has subcommands. An unknown word is an error.
func Group(use, short string, below ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, RunE: func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return UnknownCommand(cmd, args[0])
		}
		return usage.Errorf("%s needs a command; see %s --help", cmd.CommandPath(), cmd.CommandPath())
	}}
	cmd.AddCommand(below...)
	return cmd
}

// UnknownCommand suggests commands for the word.
func UnknownCommand(cmd *cobra.Command, word string) error {
	cmd.SuggestionsMinimumDistance = 2
	meant := ""
	if near := cmd.SuggestionsFor(word); len(near) > 0 {
		if best := slices.Index(near, suggest.Nearest(word, near)); best > 0 {
			near[0], near[best] = near[best], near[0]
		}
		meant = "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return usage.Errorf("unknown command %q for %q%s; see %s --help", word, cmd.CommandPath(), meant, cmd.CommandPath())
}

// JSONFlag adds the flag --json to a command.
func JSONFlag(cmd *cobra.Command) *bool {
	return cmd.Flags().Bool("json", false, "print JSON instead of a table")
}
