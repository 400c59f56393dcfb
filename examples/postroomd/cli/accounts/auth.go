package accounts

import (
	"context"
	"errors"
	"fmt"
	"net/mail"
	"strings"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/auth"
	"github.com/postroom-go/postroom/gmail/auth/tokenstore"
)

// NewAuth makes the command auth with its own commands.
func NewAuth() *cobra.Command {
	return command.Group("auth", "Sign in to mailboxes, and take that back", authLogin(), authList(), authRevoke())
}

func authLogin() *cobra.Command {
	var place command.EnvironmentFlags
	cmd := &cobra.Command{
		Use:   "login [ADDRESS]",
		Short: "Let postroomd work on a mailbox: sign in by the browser of this machine",
		Long: "Sign in to a mailbox by the browser of this machine, and add it to those that 'postroomd run' works on. A postroomd that\n" +
			"runs takes it up within seconds. Sign in again when a mailbox is in the state reauthorize.",
		Args: cobra.MaximumNArgs(1),
	}
	place.Register(cmd)
	quiet := cmd.Flags().Bool("no-browser", false, "print the address of the page instead of opening it")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 && !isAddress(args[0]) {
			return usage.Errorf("%q is no address of a mailbox, such as ada@example.org", args[0])
		}
		s, err := place.Environment(cmd)
		if err != nil {
			return err
		}
		login := auth.LoginConfig{Open: auth.OpenBrowser}
		if *quiet {
			login.Open = func(_ context.Context, address string) error {
				cmd.PrintErrln("Open this page on this machine:\n" + address)
				return nil
			}
		}
		if len(args) == 1 {
			login.Email = args[0]
		}
		return loginWith(s, cmd, login)
	}
	return cmd
}

func isAddress(text string) bool {
	a, err := mail.ParseAddress(text)
	return err == nil && a.Address == strings.TrimSpace(text)
}

func loginWith(s *environment.Environment, cmd *cobra.Command, login auth.LoginConfig) (err error) {
	ctx := cmd.Context()
	if login.App, err = s.OAuthApp(); err != nil {
		return err
	}
	if err := errors.Join(s.Folder.CheckRun(), s.Prepare()); err != nil {
		return err
	}
	h, err := app.Open(ctx, s)
	if err != nil {
		return err
	}
	tokens, err := s.Tokens(ctx)
	if err != nil {
		return errors.Join(err, h.Close())
	}
	login.Tokens, login.Scopes = tokens, s.Scopes()
	result, err := auth.Login(ctx, login)
	if err == nil {
		err = h.AdoptMailbox(ctx, result.Grant, app.CurrentUser())
	}
	if err := errors.Join(err, h.Close()); err != nil {
		return err
	}
	for _, r := range result.Refused {
		cmd.PrintErrf("warning: %v; sign in again and tick its box\n", r)
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "signed in to %s; the grant is kept in %s, since %s\n", result.Grant.Email,
		kept(tokens.Kind), tokens.Why)
	return err
}

func kept(kind tokenstore.Kind) string {
	if kind == tokenstore.File {
		return "encrypted files"
	}
	return "the keychain"
}

func authList() *cobra.Command {
	var place command.EnvironmentFlags
	cmd := &cobra.Command{Use: "list", Short: "List the mailboxes that are signed in to", Args: cobra.NoArgs}
	place.Register(cmd)
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		s, err := place.Environment(cmd)
		if err != nil {
			return err
		}
		var emails []string
		var kind tokenstore.Kind
		tokens, err := s.ExistingTokens(cmd.Context())
		if err == nil {
			kind = tokens.Kind
			emails, err = tokens.List(cmd.Context())
		}
		switch {
		case err != nil && !errors.Is(err, auth.ErrNoGrant):
			return err
		case *asJSON:
			return printer.JSON(cmd.OutOrStdout(), printer.List(emails, func(e string) string { return e }))
		}
		t := printer.NewTable(cmd.OutOrStdout(), "MAILBOX", "KEPT IN")
		for _, e := range emails {
			t.Row(e, kept(kind))
		}
		return t.Flush("no mailbox is signed in to; 'postroomd auth login' signs in to one")
	}
	return cmd
}

func authRevoke() *cobra.Command {
	var place command.EnvironmentFlags
	cmd := &cobra.Command{
		Use:   "revoke ADDRESS",
		Short: "Sign out of a mailbox: take back at Google what was granted, and forget it here",
		Long: "Sign out of a mailbox: take back at Google what was granted, also to other machines, and forget it here. Nothing is read or\n" +
			"done there until 'postroomd auth login'; what is stored of its mail stays.",
		Args: cobra.ExactArgs(1),
	}
	place.Register(cmd)
	anyway := cmd.Flags().Bool("anyway", false, "forget it here even if Google does not take it back")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		s, err := place.Environment(cmd)
		if err != nil {
			return err
		}
		revoked, err := signOut(cmd.Context(), s, args[0], *anyway)
		if err != nil {
			return err
		}
		done := " is revoked"
		if !revoked {
			done = " is forgotten here; take it back at " + auth.ConnectionsURL + ", since Google has not"
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(),
			"%s%s; what is stored of its mail stays until 'postroomd accounts remove %s'\n", args[0], done, args[0])
		return err
	}
	return cmd
}

// signOut signs out of a mailbox. Where nobody has signed in, it makes no database.
func signOut(ctx context.Context, s *environment.Environment, email string, anyway bool) (revoked bool, err error) {
	if _, err := s.OAuthApp(); err != nil {
		return false, err
	}
	if _, err := s.ExistingTokens(ctx); err != nil {
		if errors.Is(err, auth.ErrNoGrant) {
			err = usage.Errorf("%s: %w; 'postroomd auth list' lists those there are", email, err)
		}
		return false, err
	}
	if err := s.Prepare(); err != nil {
		return false, err
	}
	h, err := app.Open(ctx, s)
	if err != nil {
		return false, err
	}
	revoked, err = h.SignOutMailbox(ctx, email, app.CurrentUser(), anyway)
	return revoked, errors.Join(err, h.Close())
}
