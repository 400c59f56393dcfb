package rules

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// New makes the command rules with its own commands.
func New() *cobra.Command {
	return command.Group("rules",
		"Check, format, test, try and translate rules, write them with a model, do them to mail that is there, and go back",
		rulesCheck(), rulesFormat(), rulesSchema(), rulesTest(), rulesBacktest(), rulesApply(), rulesImport(), rulesExport(),
		rulesStock(), rulesHistory(), rulesShow(), rulesDiff(), rulesRestore(), rulesChat())
}

func rulesCheck() *cobra.Command {
	var from command.ConfigFlags
	cmd := &cobra.Command{
		Use:   "check FILE",
		Short: "Check a rules file: every fault with its line, and what to write instead",
		Long: "Check a rules file: every fault with its line, and what to write instead. The configuration, if there is one, tells which actions\n" +
			"no mailbox carries out.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			refused, own, err := from.RefusedActions(cmd)
			if err != nil {
				return err
			}
			file, err := environment.ReadRulesFile(args[0], append(refused, rulesfile.WithNow(time.Now()))...)
			if err != nil {
				return err
			}
			for _, w := range file.Warnings {
				cmd.PrintErrln("warning:", printer.PrintableLines(w.String()))
			}
			for _, n := range file.Notes {
				cmd.PrintErrln("note:", printer.PrintableLines(n.String()))
			}
			only := ""
			if readers := own.Readers(args[0]); len(readers) > 0 {
				only = "; for " + strings.Join(readers, ", ") + " only"
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %s, no faults%s\n", args[0],
				printer.Count(len(file.Rules), "rule", "rules"), only)
			return err
		},
	}
	from.Register(cmd)
	return cmd
}

func rulesSchema() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON schema of rules files, for editors",
		Long: "Print the JSON schema of rules files, for editors that complete and check them. One with yaml-language-server uses it after\n\n" +
			"    postroomd rules schema > rules.schema.json\n\nfor files that begin with the line\n\n    # yaml-language-server: $schema=rules.schema.json",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write(rulesfile.Schema(environment.Kinds))
			return err
		},
	}
}
