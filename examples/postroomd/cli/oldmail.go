package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"time"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/mailstore"
)

// answerTime is how long run waits for the answer about old mail: nobody may be at the terminal.
const answerTime = time.Minute

// askAboutOldMail asks on a terminal, once for each mailbox, whether the rules are applied to the mail that came before
// the mailbox was added, and returns the ids of the accounts where they were. Nobody is asked about mail with which
// they would do nothing, nor is anything asked after a question that nobody has answered.
func askAboutOldMail(ctx context.Context, cmd *cobra.Command, h *app.App) (applied []string, err error) {
	in, out := cmd.InOrStdin(), cmd.ErrOrStderr()
	if h.Env.Demo || h.Env.Config.Safety.DryRun || !command.CanAsk(in, out) {
		return nil, nil
	}
	accounts, err := h.Mail.Accounts(ctx)
	if err != nil {
		return nil, err
	}
	answers := bufio.NewReader(in)
	for _, a := range accounts {
		before, err := h.OldMail(ctx, a.ID)
		if err != nil {
			return applied, err
		}
		stored, err := h.OldMailIsStored(ctx, a)
		if err != nil {
			return applied, err
		}
		if !stored || before != nil && !before.AskedAt.IsZero() {
			continue
		}
		m, err := h.CountOldMail(ctx, a)
		if err != nil {
			return applied, err
		}
		if m.Actions() == 0 {
			continue
		}
		yes, answered, err := askAbout(ctx, answers, out, a, m, lasting(h.Env.ActionKinds(), m.Types))
		if err != nil || !answered {
			return applied, err
		}
		if err = h.AskedAboutOldMail(ctx, a.ID); err == nil && yes {
			applied, err = append(applied, a.ID), applyToOldMail(ctx, out, h, a)
		}
		if err != nil {
			return applied, err
		}
	}
	return applied, nil
}

// lasting returns those of the counted types of actions that nothing takes back, such as sending.
func lasting(kinds *postroom.Kinds, counts map[string]int) map[string]int {
	last := maps.Clone(counts)
	maps.DeleteFunc(last, func(name string, _ int) bool {
		kind, found := kinds.Kind(postroom.ActionType(name))
		return found && kind.Reversible()
	})
	return last
}

func askAbout(ctx context.Context, in *bufio.Reader, out io.Writer, a mailstore.Account, m *app.OldMail,
	lasting map[string]int) (yes, answered bool, err error) {
	warning := ""
	if len(lasting) > 0 {
		warning = "What cannot be taken back: " + view.ByRule(lasting) + "; it is done at once unless it needs an approval.\n"
	}
	_, err = fmt.Fprintf(out, "%s of %s came before %s, when the mailbox was added, and nothing is done with them.\n"+
		"The rules would do %s: %s.\n%s'postroomd rules apply --mailbox %s' does that at any time.\n",
		printer.Count(m.Messages, "message", "messages"), printer.Printable(a.Email), printer.Clock(a.DecideSince),
		printer.Count(m.Actions(), "action", "actions"), view.ByRule(m.Rules), warning, printer.Printable(a.Email))
	if err != nil {
		return false, false, err
	}
	return command.Ask(ctx, in, out, "Do it now?", answerTime)
}

func applyToOldMail(ctx context.Context, out io.Writer, h *app.App, a mailstore.Account) error {
	done, err := h.ApplyToOldMail(ctx, a, false)
	if err != nil {
		return fmt.Errorf("%w; 'postroomd rules apply --batch %s --mailbox %s' finishes it", err, done.Batch, a.Email)
	}
	_, err = fmt.Fprintf(out, "'postroomd undo --batch %s' takes it back, except what was sent or deleted\n", done.Batch)
	return err
}
