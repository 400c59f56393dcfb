package rules

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/mailsource"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/senders"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/backtest"
)

// A backtestCommand has the flags of 'rules backtest'.
type backtestCommand struct {
	place   *command.EnvironmentFlags
	mailbox mailsource.Flags
	address *string

	since, until string
	against      string
	html         string
	samples      int
	atOnce       bool
	asJSON       *bool
}

func rulesBacktest() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "backtest [FILE]",
		Short: "Try rules on mail that is there, changing nothing: what they would do, and what would change",
		Long: "Try the rules of a file on mail that is there, and change nothing: how often each rule matches, what would be done, with\n" +
			"samples, and how that differs from the rules in use. Without a file the rules in use are tried. The mail is that of a\n" +
			"mailbox that postroomd keeps (--data, --config), or of an mbox, a Maildir or a folder of .eml files.\n\n" +
			"    postroomd rules backtest new.yaml --since 90d --html report.html\n" +
			"    postroomd rules backtest new.yaml --mbox takeout.mbox --against old.yaml",
		Args: cobra.MaximumNArgs(1),
	}
	b := &backtestCommand{place: command.NewEnvironmentFlags(cmd), address: command.MailboxFlag(cmd)}
	cmd.Flags().StringVar(&b.mailbox.Mbox, "mbox", "", "try them on "+mailsource.Wanted["mbox"])
	cmd.Flags().StringVar(&b.mailbox.Maildir, "maildir", "", "try them on "+mailsource.Wanted["maildir"])
	cmd.Flags().StringVar(&b.mailbox.EML, "eml", "", "try them on "+mailsource.Wanted["eml"])
	cmd.Flags().StringVar(&b.since, "since", "", "only mail that is younger, such as 24h or 90d")
	cmd.Flags().StringVar(&b.until, "until", "", "only mail that is older, such as 7d")
	cmd.Flags().StringVar(&b.against, "against", "", "the rules file to compare with, in place of the rules in use")
	cmd.Flags().StringVar(&b.html, "html", "", "also write a page with charts to this file")
	cmd.Flags().IntVar(&b.samples, "samples", 5, "how many messages to show of each rule and each difference, 0 to 100")
	cmd.Flags().BoolVar(&b.atOnce, "as-of-now", false,
		"decide as of now, not as of when each message arrived: for rules about its age")
	b.asJSON = command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return b.run(cmd, append(args, "")[0])
	}
	return cmd
}

func (b *backtestCommand) run(cmd *cobra.Command, path string) error {
	if b.samples < 0 || b.samples > 100 {
		return usage.Errorf("--samples is %d; it must be within 0 and 100", b.samples)
	}
	window, err := mailWindow(b.since, b.until, time.Now())
	if err != nil {
		return err
	}
	origin, err := b.mailbox.Named()
	if err != nil {
		return err
	}
	if origin == nil {
		return command.WithReader(cmd, b.place, func(ctx context.Context, h *app.App) error {
			return b.stored(ctx, cmd, h, path, window)
		})
	}
	if path == "" {
		return usage.Errorf("name the rules file to try on %s", origin)
	}
	return b.foreign(cmd, path, origin, window)
}

// stored tries rules on stored mail.
func (b *backtestCommand) stored(ctx context.Context, cmd *cobra.Command, h *app.App, path string,
	window mailstore.MessageRange) error {
	account, err := command.Mailbox(ctx, h, *b.address)
	if err != nil {
		return err
	}
	inUse, err := h.Rules.List(ctx)
	if err != nil {
		return err
	}
	tried, against := inUse, []rules.Rule(nil)
	if path != "" {
		if tried, err = h.RuleEditor.ReadFor(ctx, account.ID, path); err != nil {
			return err
		}
		against = inUse
	}
	if b.against != "" {
		if against, err = h.RuleEditor.ReadFor(ctx, account.ID, b.against); err != nil {
			return err
		}
	}
	return b.report(ctx, cmd, tried, against, h.Mail, senders.History{Store: h.Mail},
		h.Mail.AllMessages(ctx, account.ID, window))
}

// foreign tries rules on mail from elsewhere, whose labels have only names.
func (b *backtestCommand) foreign(cmd *cobra.Command, path string, origin *mailsource.Source,
	window mailstore.MessageRange) error {
	file, err := environment.ReadRulesFile(path)
	if err != nil {
		return err
	}
	var against []rules.Rule
	if b.against != "" {
		old, err := environment.ReadRulesFile(b.against)
		if err != nil {
			return err
		}
		against = old.Rules
	}
	source, err := origin.Open()
	if err != nil {
		return usage.Wrap(err)
	}
	all := func(yield func(*postroom.Message, error) bool) {
		for m, err := range source.Messages() {
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(foreignMessage(m.Raw, m.Received, m.Labels, m.Problem), nil) {
				return
			}
		}
	}
	var known rules.Senders
	if asksSenders(file.Rules) || asksSenders(against) {
		if known, err = backtest.SendersOf(cmd.Context(), all); err != nil {
			return err
		}
	}
	messages := func(yield func(*postroom.Message, error) bool) {
		for msg, err := range all {
			if msg != nil && !inWindow(msg, window) {
				continue
			}
			if !yield(msg, err) {
				return
			}
		}
	}
	return b.report(cmd.Context(), cmd, file.Rules, against, known, nil, messages)
}

// asksSenders reports whether a rule uses sender_seen, which needs a separate pass over all mail.
func asksSenders(list []rules.Rule) bool {
	return slices.ContainsFunc(rules.NewSet(list, environment.Kinds).Broken(), func(b rules.Broken) bool {
		return errors.Is(b.Err, rules.ErrNoSenders)
	})
}

// foreignMessage returns nil for a message that could not be read.
func foreignMessage(raw []byte, received time.Time, labels []string, problem string) *postroom.Message {
	if problem != "" {
		return nil
	}
	parsed, err := mime.ParseBytes(raw, nil)
	if err != nil {
		return nil
	}
	msg := rules.MessageOf(parsed)
	msg.ReceivedAt = received
	for _, label := range labels {
		msg.LabelIDs = append(msg.LabelIDs, systemLabelID(label))
	}
	return msg
}

// systemLabelID returns the id of a system label by its name in Google Takeout; other labels keep their names.
func systemLabelID(name string) string {
	switch id := strings.ToUpper(name); id {
	case postroom.LabelInbox, postroom.LabelUnread, postroom.LabelStarred, postroom.LabelImportant, postroom.LabelSent,
		postroom.LabelSpam, postroom.LabelTrash:
		return id
	case "DRAFTS":
		return postroom.LabelDraft
	}
	if tab, ok := strings.CutPrefix(name, "Category "); ok {
		return "CATEGORY_" + strings.ToUpper(tab)
	}
	return name
}

func inWindow(msg *postroom.Message, w mailstore.MessageRange) bool {
	return (w.Since.IsZero() || !msg.ReceivedAt.Before(w.Since)) && (w.Until.IsZero() || msg.ReceivedAt.Before(w.Until))
}

// mailWindow selects mail that is like new mail: there are no decisions about sent mail, drafts, spam and trash.
func mailWindow(since, until string, now time.Time) (mailstore.MessageRange, error) {
	r := mailstore.MessageRange{SkipLabels: []string{postroom.LabelSent, postroom.LabelDraft, postroom.LabelSpam,
		postroom.LabelTrash}}
	for _, bound := range []struct {
		flag, text string
		to         *time.Time
	}{{"since", since, &r.Since}, {"until", until, &r.Until}} {
		if bound.text == "" {
			continue
		}
		var err error
		if *bound.to, err = command.Ago(bound.flag, bound.text, now); err != nil {
			return r, err
		}
	}
	if !r.Since.IsZero() && !r.Until.IsZero() && !r.Since.Before(r.Until) {
		return r, usage.Errorf("--since %s is not before --until %s: no mail is in between", since, until)
	}
	return r, nil
}

// Report runs the backtest and prints it.
func (b *backtestCommand) report(
	ctx context.Context, cmd *cobra.Command, tried, against []rules.Rule, known rules.Senders, history rules.History,
	messages iter.Seq2[*postroom.Message, error],
) error {
	cfg := backtest.Config{Rules: tried, Against: against, Kinds: environment.Kinds, Samples: b.samples, Senders: known,
		History: history}
	if b.samples == 0 {
		cfg.Samples = -1
	}
	if b.atOnce {
		cfg.Now = time.Now()
	}
	result, err := backtest.Run(ctx, cfg, messages)
	if err != nil {
		return err
	}
	if b.html != "" {
		if err := writeReport(b.html, result); err != nil {
			return err
		}
	}
	if *b.asJSON {
		return printer.JSON(cmd.OutOrStdout(), result)
	}
	out := cmd.OutOrStdout()
	_, err = io.WriteString(out, printer.WrapLines(fmt.Sprintf("%s\n%.1f s, nothing was changed\n", result,
		result.Took.Seconds()), printer.TerminalWidth(out)))
	return err
}

func writeReport(path string, result *backtest.Report) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return usage.Wrap(err)
	}
	return errors.Join(result.WriteHTML(file), file.Close())
}
