package accounts

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/gmail/outbox"
)

// A removal is of one mailbox.
type removal struct{ yes, forget bool }

func accountsRemove() *cobra.Command {
	var r removal
	cmd := &cobra.Command{Use: "remove ADDRESS", Short: "Delete what is stored of a mailbox; at Gmail nothing changes",
		Args: cobra.ExactArgs(1)}
	cmd.Long = "Delete what is stored of a mailbox, after a confirmation: messages, threads, labels and jobs. What was decided and done stays on\n" +
		"record. At Gmail nothing changes, and what was granted stays granted: see 'postroomd auth revoke'.\n\n" +
		"The mailbox of gmail.address comes back when 'postroomd run' starts, and others when somebody signs in again. Their mail is then\n" +
		"sorted as if it were new, but what was sent is not sent again: of that, hashes stay of the mailbox, of the message and of each\n" +
		"recipient, which name nobody, but tell who guesses an address that it is right. A rule that would send only what was sent is\n" +
		"canceled with that reason. Where a person is asked, the request says what was sent before, and an approval sends once more.\n" +
		"--forget deletes these hashes as well, also of a mailbox that was removed before: if it comes back, rules that reply or\n" +
		"forward send once more."
	place := command.NewEnvironmentFlags(cmd)
	cmd.Flags().BoolVar(&r.yes, "yes", false, "do not ask before the mailbox is removed")
	cmd.Flags().BoolVar(&r.forget, "forget", false, "also forget what the mailbox has sent, and to whom")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			return r.run(ctx, cmd, h, args[0])
		})
	}
	return cmd
}

func (r *removal) run(ctx context.Context, cmd *cobra.Command, h *app.App, address string) error {
	a, err := h.Mail.AccountByEmail(ctx, address)
	switch {
	case errors.Is(err, postroom.ErrNotFound) && r.forget:
		return r.onlyForget(ctx, cmd, h, address)
	case errors.Is(err, postroom.ErrNotFound):
		return command.NoMailboxError(ctx, h, address, "")
	case err != nil:
		return err
	}
	messages, err := h.CountMail(ctx, a.ID)
	if err != nil {
		return err
	}
	err = r.confirm(cmd, fmt.Sprintf("delete what is stored of %s, %s and all jobs?", a.Email,
		printer.Count(messages, "message", "messages")), "nothing was removed")
	if err != nil {
		return err
	}
	if err := h.RemoveAccount(ctx, a.ID, app.CurrentUser()); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s is removed; what was done stays on record\n", a.Email); err != nil ||
		!r.forget {
		return err
	}
	return r.forgetSent(ctx, cmd, h, a.Email)
}

// onlyForget deletes the records of sent messages of a mailbox that was removed before.
func (r *removal) onlyForget(ctx context.Context, cmd *cobra.Command, h *app.App, address string) error {
	kept, err := outbox.NewSentRecord(h.Mail).Kept(ctx, address)
	if err != nil {
		return err
	}
	if kept == 0 {
		return command.NoMailboxError(ctx, h, address, ", and nothing is kept of what one has sent")
	}
	if err := r.confirm(cmd, fmt.Sprintf("forget what %s has sent, to %s?", address,
		printer.Count(kept, "recipient", "recipients")), "nothing was forgotten"); err != nil {
		return err
	}
	return r.forgetSent(ctx, cmd, h, address)
}

func (r *removal) confirm(cmd *cobra.Command, text, refused string) error {
	if r.yes {
		return nil
	}
	return command.Confirm(cmd.InOrStdin(), cmd.OutOrStdout(), command.Question{Text: text, Refused: refused})
}

func (r *removal) forgetSent(ctx context.Context, cmd *cobra.Command, h *app.App, address string) error {
	forgotten, err := outbox.NewSentRecord(h.Mail).Forget(ctx, address)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("what %s has sent is forgotten, to %s", address,
		printer.Count(forgotten, "recipient", "recipients"))
	if forgotten == 0 {
		text = address + " has sent nothing that is to be forgotten"
	}
	_, err = fmt.Fprintln(cmd.OutOrStdout(), text)
	return err
}
