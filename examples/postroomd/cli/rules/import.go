package rules

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
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/rules/gmailfilter"
	"github.com/postroom-go/postroom/rules/rulesfile"
	"github.com/postroom-go/postroom/rules/sieve"
)

func rulesImport() *cobra.Command {
	return command.Group("import", "Make a rules file of other filters: Gmail's, or a Sieve script",
		importGmail(),
		importCommand("sieve FILE", "Make a rules file of a Sieve script",
			"Make a rules file of a Sieve script. Folders become labels.", rulesFromSieve))
}

// whatIsPrinted ends the help of the imports.
const whatIsPrinted = "\n\nThe file is printed; what rules cannot say is listed on the standard error, and stands in the file above the rule that lacks it."

func importGmail() *cobra.Command {
	cmd := &cobra.Command{
		Use: "gmail [FILE]", Short: "Make a rules file of Gmail's filters, those of a mailbox or those of a file",
		Args: cobra.MaximumNArgs(1),
		Long: "Make a rules file of Gmail's filters. Without FILE they are those of a mailbox, which Gmail is asked for. FILE is what Gmail's\n" +
			"settings export (mailFilters.xml), or what users.settings.filters.list of its API returns, as JSON, if that names no labels\n" +
			"but Gmail's own. --mailbox says whose filters they are: a filter with the word me, which is the owner, is left out without it." +
			whatIsPrinted,
	}
	place, address := command.NewEnvironmentFlags(cmd), command.MailboxFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 {
			return importFile(cmd, args[0], func(data []byte) (*rulesfile.Translation, error) {
				return fromGmail(data, *address)
			})
		}
		return command.WithWriter(cmd, place, func(ctx context.Context, h *app.App) error {
			account, err := command.Mailbox(ctx, h, *address)
			if err != nil {
				return err
			}
			filters, err := gmailFilters(ctx, h, account.ID)
			if err != nil {
				return err
			}
			return printTranslation(cmd, fromFilters(filters, account.Email))
		})
	}
	return cmd
}

// gmailFilters reads the filters of a mailbox from Gmail. They refer to labels by ids.
func gmailFilters(ctx context.Context, h *app.App, accountID string) ([]gmailfilter.Filter, error) {
	client, err := h.Clients.Client(ctx, accountID)
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
	return printer.List(list, func(f gmailapi.Filter) gmailfilter.Filter {
		return gmailfilter.Filter{
			From: f.From, To: f.To, Subject: f.Subject, Query: f.Query, NegatedQuery: f.NegatedQuery,
			HasAttachment: f.HasAttachment,
			Size:          f.Size, SizeComparison: f.SizeComparison, Forward: f.Forward,
			AddLabels: printer.List(f.AddLabelIDs, named), RemoveLabels: printer.List(f.RemoveLabelIDs, named),
		}
	}), nil
}

// importCommand prints the rules, and on the standard error the parts that rules cannot express.
func importCommand(use, short, long string, read func(data []byte) (*rulesfile.Translation, error)) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: cobra.ExactArgs(1),
		Long: long + whatIsPrinted,
		RunE: func(cmd *cobra.Command, args []string) error { return importFile(cmd, args[0], read) },
	}
}

func importFile(cmd *cobra.Command, path string, read func(data []byte) (*rulesfile.Translation, error)) error {
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

func printTranslation(cmd *cobra.Command, t *rulesfile.Translation) error {
	if _, err := cmd.OutOrStdout().Write(t.Marshal()); err != nil {
		return err
	}
	return tellUntranslated(cmd.ErrOrStderr(), t.Untranslated)
}

func fromGmail(data []byte, owner string) (*rulesfile.Translation, error) {
	filters, err := gmailfilter.Read(bytes.NewReader(data), nil)
	if err != nil {
		return nil, err
	}
	return fromFilters(filters, owner), nil
}

func fromFilters(filters []gmailfilter.Filter, owner string) *rulesfile.Translation {
	return gmailfilter.Import(filters, &gmailfilter.ImportOptions{Kinds: environment.Kinds, Owner: owner})
}

func rulesFromSieve(data []byte) (*rulesfile.Translation, error) {
	return sieve.Import(string(data), environment.Kinds)
}

func tellUntranslated(w io.Writer, list []rulesfile.Untranslated) error {
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
			filters, untranslated := gmailfilter.Export(file.Rules, &gmailfilter.ExportOptions{Unguarded: unguarded})
			if err := gmailfilter.Write(cmd.OutOrStdout(), filters, time.Now()); err != nil {
				return err
			}
			return tellUntranslated(cmd.ErrOrStderr(), untranslated)
		},
	}
	cmd.Flags().BoolVar(&unguarded, "unguarded", false,
		"make filters of rules that need an authenticated sender, and of what a person has to approve")
	return command.Group("export", "Make filters of other kinds of a rules file", cmd)
}
