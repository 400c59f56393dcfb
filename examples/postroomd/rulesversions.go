package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// A versionView is a version of the rules as JSON.
type versionView struct {
	Version   int64        `json:"version"`
	For       string       `json:"for"` // a mailbox, or all mail
	CreatedAt time.Time    `json:"created_at"`
	By        string       `json:"by,omitempty"`
	Origin    rules.Origin `json:"origin"`
	Detail    string       `json:"detail,omitempty"`
	Rules     int          `json:"rules"`
	Digest    string       `json:"digest"`
	HasSource bool         `json:"has_source"`
}

func viewVersion(v rules.Version, accounts []gmail.Account) versionView {
	about := "all mail"
	if v.AccountID != "" {
		about = emailOf(accounts, v.AccountID)
	}
	return versionView{v.Number, about, v.At, v.By.Name, v.By.Origin, v.By.Detail, v.Rules, v.Digest, v.HasSource}
}

func rulesHistory() *cobra.Command {
	cmd := &cobra.Command{
		Use: "history", Short: "List the versions of the rules, newest first: who changed them, when, and from where", Args: cobra.NoArgs,
		Long: "List the versions of the rules, newest first: who changed them, when, and from where. Versions with the same digest have the\n" +
			"same rules.\n\n    postroomd rules diff 3 5\n    postroomd rules show 3\n    postroomd rules restore 3",
	}
	place := placeFlag(cmd)
	address := cmd.Flags().String("mailbox", "", "only the rules of this mailbox")
	limit := limitFlag(cmd, mostListed)
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return look(cmd, place, func(ctx context.Context, h *host) error {
			list, err := h.versions(ctx, *address, *limit)
			if err != nil {
				return err
			}
			if *asJSON {
				return printer.JSON(cmd.OutOrStdout(), list)
			}
			t := printer.NewTable(cmd.OutOrStdout(), "VERSION", "CHANGED", "FOR", "BY", "FROM", "RULES", "DIGEST")
			for _, v := range list {
				t.Row(v.Version, printer.Clock(v.CreatedAt), v.For, v.By, strings.TrimSpace(string(v.Origin)+" "+printer.Short(v.Detail, 50)), v.Rules, v.Digest[:min(12, len(v.Digest))])
			}
			return t.Flush("no versions")
		})
	}
	return cmd
}

func (h *host) versions(ctx context.Context, address string, limit int) ([]versionView, error) {
	filter := rules.VersionFilter{Limit: limit}
	if address != "" {
		account, err := h.account(ctx, address)
		if err != nil {
			return nil, err
		}
		filter.Account = &account.ID
	}
	list, err := h.rules.Versions(ctx, filter)
	if err != nil {
		return nil, err
	}
	accounts, err := h.mail.Accounts(ctx)
	return printer.List(list, func(v rules.Version) versionView { return viewVersion(v, accounts) }), err
}

// version returns the version with the typed id.
func (h *host) version(ctx context.Context, text string) (*rules.VersionContent, error) {
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil || number < 1 {
		return nil, usage.Errorf("%q is no version of the rules; give its number, as 'postroomd rules history' lists it", text)
	}
	v, err := h.rules.Version(ctx, number)
	if errors.Is(err, postroom.ErrNotFound) {
		return nil, usage.Errorf("there is no version %d of the rules; 'postroomd rules history' lists them", number)
	}
	return v, err
}

func rulesShow() *cobra.Command {
	cmd := &cobra.Command{
		Use: "show VERSION", Short: "Print the rules as they were at a version: the file, with its comments, if they came from one", Args: cobra.ExactArgs(1),
	}
	place := placeFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return look(cmd, place, func(ctx context.Context, h *host) error {
			v, err := h.version(ctx, args[0])
			if err != nil {
				return err
			}
			text, err := h.versionText(ctx, v)
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
	place, address := placeFlag(cmd), mailboxFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return look(cmd, place, func(ctx context.Context, h *host) error {
			before, after, err := h.versionsToCompare(ctx, *address, args)
			if err != nil {
				return err
			}
			return printDifferences(cmd.OutOrStdout(), before, after)
		})
	}
	return cmd
}

func (h *host) versionsToCompare(ctx context.Context, address string, args []string) (before, after *rules.VersionContent, err error) {
	var account string
	if len(args) > 0 {
		if before, err = h.version(ctx, args[0]); err != nil {
			return nil, nil, err
		}
		account = before.AccountID
	} else {
		mailbox, err := h.mailbox(ctx, address)
		if err != nil {
			return nil, nil, err
		}
		account = mailbox.ID
	}
	if len(args) == 2 {
		after, err = h.version(ctx, args[1])
		return before, after, err
	}
	newest, err := h.rules.Versions(ctx, rules.VersionFilter{Account: &account, Limit: 2})
	switch {
	case err != nil:
		return nil, nil, err
	case len(newest) == 0 || before == nil && len(newest) < 2:
		return nil, nil, usage.Errorf("there %s of the rules of this mailbox: nothing to compare", map[bool]string{true: "is one version", false: "are no versions"}[len(newest) == 1])
	}
	if before == nil {
		if before, err = h.rules.Version(ctx, newest[1].Number); err != nil {
			return nil, nil, err
		}
	}
	after, err = h.rules.Version(ctx, newest[0].Number)
	return before, after, err
}

func printDifferences(out io.Writer, before, after *rules.VersionContent) error {
	var b strings.Builder
	fmt.Fprintf(&b, "--- version %d, %s\n+++ version %d, %s\n", before.Number, printer.Clock(before.At), after.Number, printer.Clock(after.At))
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
	place := placeFlag(cmd)
	overwrite := cmd.Flags().Bool("overwrite", false, "write the rules file though it holds what no version does")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return look(cmd, place, func(ctx context.Context, h *host) error {
			v, err := h.version(ctx, args[0])
			if err != nil {
				return err
			}
			return h.restoreRules(ctx, cmd.OutOrStdout(), v, *overwrite)
		})
	}
	return cmd
}

// restoreRules restores a version in its mailbox, or, if a file is configured, in all mailboxes that read it.
func (h *host) restoreRules(ctx context.Context, out io.Writer, v *rules.VersionContent, overwrite bool) error {
	if v.Altered {
		return alteredVersion(v)
	}
	path := string(h.env.Config.Paths.Rules)
	text, err := h.versionText(ctx, v)
	if err != nil {
		return err
	}
	var made *rules.Version
	restore := func(ctx context.Context, tx queue.Tx) (err error) {
		made, err = h.rules.Restore(ctx, tx, v.Number)
		return err
	}
	if path == "" || v.AccountID == "" {
		if err := h.db.Write(ctx, restore); err != nil {
			return err
		}
		_, err = fmt.Fprintf(out, "the rules are as they were at version %d; that is version %d\n", v.Number, made.Number)
		return err
	}
	file, err := rulesfile.Parse(path, strings.NewReader(text), rulesfile.WithKinds(environment.Kinds), rulesfile.WithFiles(os.DirFS(filepath.Dir(path))))
	if err != nil {
		return usage.Errorf("version %d cannot be read as a file any more, and nothing is changed: %w", v.Number, err)
	}
	stale := false
	_, err = h.changeRules(ctx, v.AccountID, fmt.Sprintf("version %d", v.Number), func(ctx context.Context, tx queue.Tx, there string) (*rulesfile.File, error) {
		if err := h.mayOverwrite(ctx, path, there, text, overwrite); err != nil {
			return nil, err
		}
		stale = there != text
		return file, restore(ctx, tx)
	})
	if err != nil {
		return err
	}
	return h.printRestored(ctx, out, v, made, stale)
}

func (h *host) printRestored(ctx context.Context, out io.Writer, v *rules.VersionContent, made *rules.Version, stale bool) error {
	readers, err := h.rulesReaders(ctx, v.AccountID)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("the rules are as they were at version %d; that is version %d\n", v.Number, made.Number)
	if stale {
		text += fmt.Sprintf("%s is written, too\n", h.env.Config.Paths.Rules)
	}
	if len(readers) > 1 {
		text += fmt.Sprintf("%d mailboxes read that file, and all have these rules now\n", len(readers))
	}
	_, err = io.WriteString(out, text)
	return err
}

// versionText returns the version as a file. A file made from rules uses the names of labels: ids belong to one mailbox.
func (h *host) versionText(ctx context.Context, v *rules.VersionContent) (string, error) {
	switch {
	case v.HasSource:
		return v.Source, nil
	case v.AccountID == "":
		return string(rulesfile.Marshal(rulesfile.FileOf(v.List))), nil
	}
	labels, err := h.mail.Labels(ctx, v.AccountID)
	if err != nil {
		return "", err
	}
	named := rulesfile.File{Rules: slices.Clone(v.List)}
	named.ResolveLabels(func(id string) (string, bool) {
		i := slices.IndexFunc(labels, func(l postroom.Label) bool { return l.ID == id })
		if i < 0 {
			return "", false
		}
		return labels[i].Name, true
	})
	return string(rulesfile.Marshal(rulesfile.FileOf(named.Rules))), nil
}

// alteredVersion is the note about restoring rules that something else has written.
func alteredVersion(v *rules.VersionContent) error {
	return usage.Errorf("version %d of the rules was altered in the database, and nothing is changed: 'postroomd rules show %d' prints it; "+
		"take what is right of it into a rules file", v.Number, v.Number)
}

// mayOverwrite refuses to lose rules that no version has.
func (h *host) mayOverwrite(ctx context.Context, path, there, text string, overwrite bool) error {
	if there == "" || there == text || overwrite {
		return nil
	}
	known, err := h.rules.KnowsSource(ctx, there)
	if err == nil && !known {
		err = usage.Errorf("%s holds what no version does, and would be overwritten; copy it, and give --overwrite", path)
	}
	return err
}

// A formerRuleView is the rule of a decision, as it was at that time.
type formerRuleView struct {
	Name      string   `json:"name"`
	Condition string   `json:"condition"`
	Actions   []string `json:"actions"`
	Text      string   `json:"text"` // in the form of a rules file
	Now       string   `json:"now"`  // its current state: in use, changed or removed
}

// formerRule returns the rule of a decision as it was at that time; nil if no rule decided, or it is unknown.
func (h *host) formerRule(ctx context.Context, d postroom.Decision) (*formerRuleView, error) {
	if d.RuleID == "" {
		return nil, nil //nolint:nilnil // none is no error
	}
	then, err := h.rules.RuleAt(ctx, d.RuleID, d.RuleVersion)
	if errors.Is(err, postroom.ErrNotFound) {
		return nil, nil //nolint:nilnil // it was stored before versions were kept
	}
	if err != nil {
		return nil, err
	}
	text := rulesfile.Marshal(&rulesfile.File{Rules: []rules.Rule{*then}})
	v := &formerRuleView{Name: then.Name, Condition: then.Condition.String(), Text: string(text), Now: "in use"}
	for _, a := range append([]rules.RuleAction{{Type: then.Action, Parameters: then.Parameters}}, then.Also...) {
		label, _ := a.Parameters.Text(postroom.ParamLabel)
		v.Actions = append(v.Actions, strings.TrimSpace(string(a.Type)+" "+label))
	}
	now, err := h.rules.Get(ctx, d.RuleID)
	switch {
	case errors.Is(err, postroom.ErrNotFound):
		v.Now = "removed"
	case err != nil:
		return nil, err
	case now.Version() != d.RuleVersion:
		v.Now = "changed"
	}
	return v, nil
}

func (v *formerRuleView) print(r *printer.Report) {
	if v == nil || v.Now == "in use" {
		return
	}
	r.Heading("The rule as it was then, since " + v.Now)
	r.Add("name", v.Name)
	r.Add("condition", v.Condition)
	r.Add("does", strings.Join(v.Actions, "\n"))
}
