package command

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/suggest"
)

// MailboxFlag adds the flag that names one mailbox among several.
func MailboxFlag(cmd *cobra.Command) *string {
	return cmd.Flags().String("mailbox", "", "the address of the mailbox; may be left out where there is one")
}

// Mailbox returns the account of the address, or the only account if no address is given.
func Mailbox(ctx context.Context, h *app.App, address string) (mailstore.Account, error) {
	if address != "" {
		return Account(ctx, h, address)
	}
	accounts, err := h.Mail.Accounts(ctx)
	switch {
	case err != nil:
		return mailstore.Account{}, err
	case len(accounts) == 0:
		return mailstore.Account{}, usage.Errorf("there is no mailbox yet; %s", h.Env.HowToAddMailbox())
	case len(accounts) != 1:
		return mailstore.Account{}, usage.Errorf(
			"there are %d mailboxes; name one with --mailbox, see 'postroomd accounts list'", len(accounts))
	}
	return accounts[0], nil
}

// Account returns the account of a typed address.
func Account(ctx context.Context, h *app.App, address string) (mailstore.Account, error) {
	a, err := h.Mail.AccountByEmail(ctx, address)
	if errors.Is(err, postroom.ErrNotFound) {
		err = NoMailboxError(ctx, h, address, "")
	}
	return a, err
}

// mostNamed is the number of existing names that an error lists.
const mostNamed = 10

// NoMailboxError returns the error about an address without a mailbox; more names what else does not exist.
func NoMailboxError(ctx context.Context, h *app.App, address, more string) error {
	accounts, err := h.Mail.Accounts(ctx)
	if err != nil {
		return err
	}
	addresses := printer.List(accounts, func(a mailstore.Account) string { return a.Email })
	return usage.Errorf("there is no mailbox %s here%s; %s", address, more,
		Instead(address, addresses, "the mailboxes are"))
}

// Instead suggests names in place of an unknown one: the nearest, or all existing ones.
func Instead(word string, names []string, all string) string {
	slices.Sort(names)
	names = slices.Compact(names)
	switch near := suggest.Nearest(word, names); {
	case near != "":
		names = []string{near}
	case len(names) == 0:
		return "there are none"
	case len(names) > mostNamed:
		names = append(names[:mostNamed:mostNamed], fmt.Sprintf("and %d more", len(names)-mostNamed))
	}
	return suggest.Instead(word, names, all)
}
