package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/rules"
)

func rulesImport() *cobra.Command {
	return group("import", "Make a rules file of other filters: Gmail's, or a Sieve script",
		importGmail(),
		importCommand("sieve FILE", "Make a rules file of a Sieve script",
			"Make a rules file of a Sieve script. Folders become labels.", rulesFromSieve))
}

// whatIsPrinted ends the help of the imports.
const whatIsPrinted = "\n\nThe file is printed; what rules cannot say is listed on the standard error, and stands in the file above the rule that lacks it."

func importGmail() *cobra.Command {
	cmd := &cobra.Command{
		Use: "gmail [FILE]", Short: "Make a rules file of Gmail's filters, those of a mailbox or those of a file", Args: cobra.MaximumNArgs(1),
		Long: "Make a rules file of Gmail's filters. Without FILE they are those of a mailbox, which Gmail is asked for. FILE is what Gmail's\n" +
			"settings export (mailFilters.xml), or what users.settings.filters.list of its API returns, as JSON, if that names no labels\n" +
			"but Gmail's own." + whatIsPrinted,
	}
	place, address := placeFlag(cmd), mailboxFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 {
			return importFile(cmd, args[0], fromGmail)
		}
		return act(cmd, place, func(ctx context.Context, h *host) error {
			account, err := h.mailbox(ctx, *address)
			if err != nil {
				return err
			}
			filters, err := h.filters(ctx, account.ID)
			if err != nil {
				return err
			}
			return printTranslation(cmd, rules.FromGmail(filters, environment.Kinds))
		})
	}
	return cmd
}

// filters reads the filters of a mailbox from Gmail. They refer to labels by ids.
func (h *host) filters(ctx context.Context, accountID string) ([]rules.GmailFilter, error) {
	client, err := h.clients.Client(ctx, accountID)
	if err != nil {
		return nil, err
	}
	list, err := client.ListFilters(ctx)
	if err != nil {
		return nil, err
	}
	labels, err := client.ListLabels(ctx)
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	for _, l := range labels {
		if l.Type == postroom.LabelUser {
			names[l.ID] = l.Name
		}
	}
	named := func(id string) string { return cmp.Or(names[id], id) }
	return printer.List(list, func(f gmailapi.Filter) rules.GmailFilter {
		return rules.GmailFilter{
			From: f.From, To: f.To, Subject: f.Subject, Query: f.Query, NegatedQuery: f.NegatedQuery, HasAttachment: f.HasAttachment,
			Size: f.Size, SizeComparison: f.SizeComparison, Forward: f.Forward,
			AddLabels: printer.List(f.AddLabelIDs, named), RemoveLabels: printer.List(f.RemoveLabelIDs, named),
		}
	}), nil
}

// importCommand prints the rules, and on the standard error the parts that rules cannot express.
func importCommand(use, short, long string, read func(data []byte) (*rules.Translation, error)) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: cobra.ExactArgs(1),
		Long: long + whatIsPrinted,
		RunE: func(cmd *cobra.Command, args []string) error { return importFile(cmd, args[0], read) },
	}
}

func importFile(cmd *cobra.Command, path string, read func(data []byte) (*rules.Translation, error)) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return usage.Wrap(err)
	}
	t, err := read(data)
	if err != nil {
		return usage.Errorf("%s: %w", path, err)
	}
	return printTranslation(cmd, t)
}

func printTranslation(cmd *cobra.Command, t *rules.Translation) error {
	if _, err := cmd.OutOrStdout().Write(t.Marshal()); err != nil {
		return err
	}
	return tellUntranslated(cmd.ErrOrStderr(), t.Untranslated)
}

func fromGmail(data []byte) (*rules.Translation, error) {
	filters, err := rules.ReadGmailFilters(bytes.NewReader(data), nil)
	if err != nil {
		return nil, err
	}
	return rules.FromGmail(filters, environment.Kinds), nil
}

func rulesFromSieve(data []byte) (*rules.Translation, error) {
	return rules.FromSieve(string(data), environment.Kinds)
}

func tellUntranslated(w io.Writer, list []rules.Untranslated) error {
	for _, u := range list {
		if _, err := fmt.Fprintln(w, printer.Printable(u.String())); err != nil {
			return err
		}
	}
	return nil
}

func rulesExport() *cobra.Command {
	unguarded := false
	cmd := &cobra.Command{
		Use:   "gmail FILE",
		Short: "Make filters of Gmail of a rules file",
		Long: "Make filters of Gmail of a rules file, in the form that Gmail's settings import (mailFilters.xml). They are printed; what\n" +
			"filters cannot say is listed on the standard error.\n\n" +
			"Filters ask neither whether the sender is authenticated nor a person. Rules that do have none, unless --unguarded is given.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := environment.ReadRulesFile(args[0])
			if err != nil {
				return err
			}
			filters, untranslated := rules.ToGmail(file.Rules, &rules.GmailExport{Unguarded: unguarded})
			if err := rules.WriteGmailFilters(cmd.OutOrStdout(), filters, time.Now()); err != nil {
				return err
			}
			return tellUntranslated(cmd.ErrOrStderr(), untranslated)
		},
	}
	cmd.Flags().BoolVar(&unguarded, "unguarded", false, "make filters of rules that need an authenticated sender, and of what a person has to approve")
	return group("export", "Make filters of other kinds of a rules file", cmd)
}
