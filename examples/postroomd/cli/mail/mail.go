package mail

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/mailindex"
	"github.com/postroom-go/postroom/safety"
)

// New makes the command mail with its own commands.
func New() *cobra.Command {
	return command.Group("mail", "Look at the stored mail, and act on all that a search finds", mailList(), mailSearch(),
		mailShow(), mailDecide(), mailFix(), mailAct())
}

func mailList() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list [QUERY]",
		Short: "List the stored mail that a search finds, newest first",
		Long:  aboutSearches("list") + "\n\nWithout one, all mail is listed that is not in the spam or the trash.",
	}
	return listsMail(cmd)
}

func mailSearch() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "search WORDS",
		Short: "Search the stored mail: 'mail list' with a search",
		Long:  aboutSearches("search"),
		Args:  cobra.MinimumNArgs(1),
	}
	return listsMail(cmd)
}

func aboutSearches(command string) string {
	return "List the stored mail that a search finds, newest first. The search is written as in Gmail's own search box:\n\n" +
		"    postroomd mail " + command + " from:ada@example.org has:attachment\n" +
		"    postroomd mail " + command + " 'subject:\"quarterly report\" OR label:billing'\n" +
		"    postroomd mail " + command + " -- newer_than:7d -in:inbox\n\n" +
		"A label that the mailbox does not have is named: labels are known once they were synced. So is an operator that Gmail does not\n" +
		"have: it is searched for as words, as Gmail does."
}

// listsMail makes the command list the results of a search, which its arguments give.
func listsMail(cmd *cobra.Command) *cobra.Command {
	place, address := command.NewEnvironmentFlags(cmd), command.MailboxFlag(cmd)
	limit := command.LimitFlag(cmd, app.MaxMailListed)
	spam := cmd.Flags().Bool("spam-trash", false, "also what is in the spam or the trash")
	cursor := cmd.Flags().String("cursor", "", "go on where an earlier list of the same search ended; it says how")
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		search := mailindex.Search{Query: strings.Join(args, " "), SpamAndTrash: *spam, Limit: *limit, Cursor: *cursor}
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			account, err := command.Mailbox(ctx, h, *address)
			if err != nil {
				return err
			}
			found, err := h.SearchMail(ctx, account.ID, search)
			if err != nil {
				return err
			}
			names, err := h.LabelNames(ctx)
			if err != nil {
				return err
			}
			page, err := view.NewFoundMail(ctx, h, found, names)
			switch {
			case err != nil:
				return err
			case *asJSON:
				return printer.JSON(cmd.OutOrStdout(), page)
			}
			warnOfDoubts(cmd.ErrOrStderr(), found.Doubts)
			warnOfLabels(cmd.ErrOrStderr(), account.Email, found.UnknownLabels)
			if err := printMail(cmd.OutOrStdout(), page.Messages); err != nil || found.Next == "" {
				return err
			}
			more := "there is more"
			if !found.ReadTo.IsZero() {
				more = "the search has come back to " + printer.Minute(found.ReadTo) + ", and older mail may match"
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: add --cursor %s\n", more, found.Next)
			return err
		})
	}
	return cmd
}

// warnOfDoubts reports terms that are probably typos.
func warnOfDoubts(w io.Writer, doubts []mailindex.Doubt) {
	for _, d := range doubts {
		warnOfDoubt(w, d.Term, d.Reason, d.Meant)
	}
}

func warnOfDoubt(w io.Writer, term, reason, meant string) {
	if meant != "" {
		meant = "; did you mean " + printer.Printable(meant) + "?"
	}
	_, _ = fmt.Fprintf(w, "%s: %s%s\n", printer.Printable(term), reason, meant)
}

// warnOfLabels reports labels in the search that the mailbox does not have: they are mistyped, or newer than the last
// sync.
func warnOfLabels(w io.Writer, mailbox string, unknown []string) {
	for _, label := range unknown {
		_, _ = fmt.Fprintf(w, "%s has no label %s, as of the last sync of its labels\n", mailbox, printer.Printable(label))
	}
}

func printMail(w io.Writer, messages []view.Mail) error {
	heads := []string{"ID", "RECEIVED", "FROM", "SUBJECT", "LABELS"}
	answers := slices.ContainsFunc(messages, func(m view.Mail) bool { return m.Draft != "" })
	if answers {
		heads = slices.Insert(heads, 4, "ANSWER")
	}
	t := printer.NewTable(w, heads...)
	for _, m := range messages {
		row := []any{m.ID, printer.Minute(m.ReceivedAt), printer.Short(m.From.String(), 30), printer.Short(m.Subject, 50),
			strings.Join(m.Labels, ", ")}
		if answers {
			row = slices.Insert(row, 4, any(view.DraftWords(m.Draft)))
		}
		t.Row(row...)
	}
	return t.Flush("no mail")
}

func mailShow() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show a stored message as a person sees it, and what was done with it",
		Long: "Show a stored message as a person sees it, and what was done with it. The id is Gmail's, as 'postroomd mail list' has it,\n" +
			"or ours.",
		Args: cobra.ExactArgs(1),
	}
	place, address := command.NewEnvironmentFlags(cmd), command.MailboxFlag(cmd)
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			account, err := command.Mailbox(ctx, h, *address)
			if err != nil {
				return err
			}
			m, err := h.FindMessage(ctx, account, args[0])
			if err != nil {
				return err
			}
			done, err := h.Ledger.Actions(ctx, safety.Filter{AccountID: account.ID, MessageID: m.ID, Limit: 100})
			if err != nil {
				return err
			}
			names, err := h.LabelNames(ctx)
			if err != nil {
				return err
			}
			v := view.NewWholeMail(m, done, names)
			if *asJSON {
				return printer.JSON(cmd.OutOrStdout(), v)
			}
			return v.Print(cmd.OutOrStdout())
		})
	}
	return cmd
}
