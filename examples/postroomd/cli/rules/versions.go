package rules

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/rules/rulesfile"
	"github.com/postroom-go/postroom/rules/rulestore"
)

func rulesHistory() *cobra.Command {
	cmd := &cobra.Command{
		Use: "history", Short: "List the versions of the rules, newest first: who changed them, when, and from where",
		Args: cobra.NoArgs,
		Long: "List the versions of the rules, newest first: who changed them, when, and from where. Versions with the same digest have the\n" +
			"same rules.\n\n    postroomd rules diff 3 5\n    postroomd rules show 3\n    postroomd rules restore 3",
	}
	place := command.NewEnvironmentFlags(cmd)
	address := cmd.Flags().String("mailbox", "", "only the rules of this mailbox")
	limit := command.LimitFlag(cmd, app.MaxListed)
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			accountID := ""
			if *address != "" {
				account, err := command.Account(ctx, h, *address)
				if err != nil {
					return err
				}
				accountID = account.ID
			}
			list, err := view.NewRulesVersions(ctx, h, accountID, *limit)
			if err != nil {
				return err
			}
			if *asJSON {
				return printer.JSON(cmd.OutOrStdout(), list)
			}
			t := printer.NewTable(cmd.OutOrStdout(), "VERSION", "CHANGED", "FOR", "BY", "FROM", "RULES", "DIGEST")
			for _, v := range list {
				t.Row(v.Version, printer.Minute(v.CreatedAt), v.For, v.By,
					strings.TrimSpace(string(v.Origin)+" "+printer.Short(v.Detail, 50)), v.Rules, v.Digest[:min(12, len(v.Digest))])
			}
			return t.Flush("no versions")
		})
	}
	return cmd
}

// Version returns the version with the typed id.
func findVersion(ctx context.Context, h *app.App, text string) (*rulestore.VersionContent, error) {
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil || number < 1 {
		return nil, usage.Errorf("%q is no version of the rules; give its number, as 'postroomd rules history' lists it",
			text)
	}
	v, err := h.Rules.Version(ctx, number)
	if errors.Is(err, postroom.ErrNotFound) {
		return nil, usage.Errorf("there is no version %d of the rules; 'postroomd rules history' lists them", number)
	}
	return v, err
}

func rulesShow() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show VERSION",
		Short: "Print the rules as they were at a version: the file, with its comments, if they came from one",
		Args:  cobra.ExactArgs(1),
	}
	place := command.NewEnvironmentFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			v, err := findVersion(ctx, h, args[0])
			if err != nil {
				return err
			}
			text, err := h.RuleEditor.VersionText(ctx, v)
			if err != nil {
				return err
			}
			_, err = io.WriteString(cmd.OutOrStdout(), text)
			return err
		})
	}
	return cmd
}

func rulesDiff() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "diff [A [B]]",
		Short: "Show how two versions of the rules differ",
		Long: "Show how two versions of the rules differ: what B has and A has not. Without B it is the newest version of the same mailbox,\n" +
			"and without A the one before that.",
		Args: cobra.MaximumNArgs(2),
	}
	place, address := command.NewEnvironmentFlags(cmd), command.MailboxFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			before, after, err := versionsToCompare(ctx, h, *address, args)
			if err != nil {
				return err
			}
			return printDifferences(cmd.OutOrStdout(), before, after)
		})
	}
	return cmd
}

func versionsToCompare(ctx context.Context, h *app.App, address string, args []string) (before,
	after *rulestore.VersionContent, err error) {
	var account string
	if len(args) > 0 {
		if before, err = findVersion(ctx, h, args[0]); err != nil {
			return nil, nil, err
		}
		account = before.AccountID
	} else {
		mailbox, err := command.Mailbox(ctx, h, address)
		if err != nil {
			return nil, nil, err
		}
		account = mailbox.ID
	}
	if len(args) == 2 {
		after, err = findVersion(ctx, h, args[1])
		return before, after, err
	}
	newest, err := h.Rules.Versions(ctx, rulestore.VersionFilter{Account: &account, Limit: 2})
	switch {
	case err != nil:
		return nil, nil, err
	case len(newest) == 0 || before == nil && len(newest) < 2:
		return nil, nil, usage.Errorf("there %s of the rules of this mailbox: nothing to compare",
			map[bool]string{true: "is one version", false: "are no versions"}[len(newest) == 1])
	}
	if before == nil {
		if before, err = h.Rules.Version(ctx, newest[1].Number); err != nil {
			return nil, nil, err
		}
	}
	after, err = h.Rules.Version(ctx, newest[0].Number)
	return before, after, err
}

func printDifferences(out io.Writer, before, after *rulestore.VersionContent) error {
	var b strings.Builder
	fmt.Fprintf(&b, "--- version %d, %s\n+++ version %d, %s\n", before.Number, printer.Clock(before.At), after.Number,
		printer.Clock(after.At))
	list := rulesfile.Differences(before.List, after.List)
	for i := range list {
		fmt.Fprintf(&b, "\n%s\n%s", printer.Printable(list[i].Name), printer.PrintableLines(list[i].String()))
	}
	switch {
	case len(list) > 0:
	case before.HasSource && after.HasSource && before.Source != after.Source:
		b.WriteString("\nthe rules are equal; the files differ in comments, labels, tests or form\n")
	default:
		b.WriteString("\nthe rules are equal\n")
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func rulesRestore() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "restore VERSION",
		Short: "Go back to a version of the rules",
		Long: "Go back to a version of the rules: each rule is again what it was. That is a version of its own, so that one can go forward\n" +
			"again. The file that paths.rules names is written, too, since the next start reads it, and all mailboxes that read it have\n" +
			"these rules then; what it holds must be known as a version, or be given up with --overwrite.",
		Args: cobra.ExactArgs(1),
	}
	place := command.NewEnvironmentFlags(cmd)
	overwrite := cmd.Flags().Bool("overwrite", false, "write the rules file though it holds what no version does")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			v, err := findVersion(ctx, h, args[0])
			if err != nil {
				return err
			}
			return restoreRules(ctx, h, cmd.OutOrStdout(), v, *overwrite)
		})
	}
	return cmd
}

// restoreRules restores a version in its mailbox, or, if a file is configured, in all mailboxes that read it.
func restoreRules(ctx context.Context, h *app.App, out io.Writer, v *rulestore.VersionContent, overwrite bool) error {
	made, written, err := h.RuleEditor.Restore(ctx, app.CurrentUser(), v, overwrite)
	if err != nil {
		return err
	}
	if v.AccountID == "" {
		_, err = fmt.Fprintf(out, "the rules are as they were at version %d; that is version %d\n", v.Number, made.Number)
		return err
	}
	return printRestored(ctx, h, out, v, made, written)
}

func printRestored(ctx context.Context, h *app.App, out io.Writer, v *rulestore.VersionContent,
	made *rulestore.Version, written string) error {
	readers, err := h.RuleEditor.Readers(ctx, v.AccountID)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("the rules are as they were at version %d; that is version %d\n", v.Number, made.Number)
	if written != "" {
		text += written + " is written, too\n"
	}
	if len(readers) > 1 {
		text += fmt.Sprintf("%d mailboxes read that file, and all have these rules now\n", len(readers))
	}
	_, err = io.WriteString(out, text)
	return err
}
