package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/rules"
)

func rulesImport() *cobra.Command {
	return group("import", "Make a rules file of other filters: Gmail's, or a Sieve script",
		importCommand("gmail FILE", "Make a rules file of Gmail's filters",
			"Make a rules file of Gmail's filters: of what its settings export (mailFilters.xml), or of what users.settings.filters.list of\n"+
				"its API returns, as JSON, if that names no labels but Gmail's own.", fromGmail),
		importCommand("sieve FILE", "Make a rules file of a Sieve script",
			"Make a rules file of a Sieve script. Folders become labels.", rulesFromSieve))
}

// importCommand prints the rules, and on the standard error what rules cannot say.
func importCommand(use, short, long string, read func(data []byte) (*rules.Translation, error)) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: cobra.ExactArgs(1),
		Long: long + "\n\nThe file is printed; what rules cannot say is listed on the standard error, and stands in the file above the rule that lacks it.",
		RunE: func(cmd *cobra.Command, args []string) error {
			data, err := os.ReadFile(args[0])
			if err != nil {
				return usageError{err}
			}
			t, err := read(data)
			if err != nil {
				return usage("%s: %w", args[0], err)
			}
			if _, err := cmd.OutOrStdout().Write(t.Marshal()); err != nil {
				return err
			}
			return tellUntranslated(cmd.ErrOrStderr(), t.Untranslated)
		},
	}
}

func fromGmail(data []byte) (*rules.Translation, error) {
	filters, err := rules.ReadGmailFilters(bytes.NewReader(data), nil)
	if err != nil {
		return nil, err
	}
	return rules.FromGmail(filters, kinds), nil
}

func rulesFromSieve(data []byte) (*rules.Translation, error) {
	return rules.FromSieve(string(data), kinds)
}

func tellUntranslated(w io.Writer, list []rules.Untranslated) error {
	for _, u := range list {
		if _, err := fmt.Fprintln(w, printable(u.String())); err != nil {
			return err
		}
	}
	return nil
}

func rulesExport() *cobra.Command {
	return group("export", "Make filters of other kinds of a rules file", &cobra.Command{
		Use:   "gmail FILE",
		Short: "Make filters of Gmail of a rules file",
		Long: "Make filters of Gmail of a rules file, in the form that Gmail's settings import (mailFilters.xml). They are printed; what\n" +
			"filters cannot say is listed on the standard error.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := readRules(args[0])
			if err != nil {
				return err
			}
			filters, untranslated := rules.ToGmail(file.Rules)
			if err := rules.WriteGmailFilters(cmd.OutOrStdout(), filters, time.Now()); err != nil {
				return err
			}
			return tellUntranslated(cmd.ErrOrStderr(), untranslated)
		},
	})
}
