package environment

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/auth"
	"github.com/postroom-go/postroom/gmail/auth/agefile"
	"github.com/postroom-go/postroom/gmail/auth/tokenstore"
	"github.com/postroom-go/postroom/gmail/mailstore"
)

// OAuthApp is the program as it is registered with Google.
func (s *Environment) OAuthApp() (auth.App, error) {
	g := s.Config.Gmail
	if g.ClientID == "" {
		return auth.App{}, usage.Errorf("gmail.client_id is not set; docs/real-account.md says how to make one at Google")
	}
	app := auth.App{ClientID: g.ClientID, ClientSecret: string(g.ClientSecret)}
	if base := strings.TrimRight(g.AuthServer, "/"); base != "" {
		app.Endpoint = auth.Endpoint{AuthURL: base + "/o/oauth2/v2/auth", TokenURL: base + "/token",
			RevokeURL: base + "/revoke"}
	}
	return app, nil
}

// Tokens opens the store of grants.
func (s *Environment) Tokens(ctx context.Context) (*tokenstore.Store, error) {
	return s.openTokens(ctx, s.tokenPlace())
}

// ExistingTokens is tokens for read-only callers: if nobody has signed in yet, it asks for no passphrase and returns
// [auth.ErrNoGrant].
func (s *Environment) ExistingTokens(ctx context.Context) (*tokenstore.Store, error) {
	place := s.tokenPlace()
	place.Existing = true
	return s.openTokens(ctx, place)
}

// openTokens says of what keeps a place from being opened what to do.
func (s *Environment) openTokens(ctx context.Context, place tokenstore.Config) (*tokenstore.Store, error) {
	store, err := tokenstore.Open(ctx, place)
	switch {
	case errors.Is(err, agefile.ErrWrongKey):
		return nil,
			fmt.Errorf(
				"the passphrase is not the one that the grants in %s were written with; set gmail.passphrase to that one, "+
					"or, if it is lost, remove that folder and sign in again with 'postroomd auth login'", s.Folder.Tokens())
	case err != nil && place.Kind == tokenstore.Keychain:
		return nil,
			fmt.Errorf(
				"gmail.tokens is \"keychain\", and this machine has none that can be used: start or unlock its keychain, "+
					"or set gmail.tokens to \"file\" and gmail.passphrase, to keep the grants in encrypted files (%w)", err)
	}
	return store, err
}

// errAsks is the passphrase where it is asked for.
var errAsks = errors.New("the passphrase is asked for")

// quietTokens is keptTokens without a question: where the passphrase would be asked for, the error is errAsks.
func (s *Environment) quietTokens(ctx context.Context) (*tokenstore.Store, error) {
	place := s.tokenPlace()
	place.Existing, place.Passphrase = true, s.quietPassphrase
	return s.openTokens(ctx, place)
}

func (s *Environment) quietPassphrase(ctx context.Context) (string, error) {
	if s.Config.Gmail.Passphrase == "" && term.IsTerminal(int(os.Stdin.Fd())) {
		return "", errAsks
	}
	return s.passphrase(ctx)
}

// CheckTokens returns an error if what run opens for the grants cannot be opened. It makes nothing, and asks nobody.
func (s *Environment) CheckTokens(ctx context.Context) error {
	if s.Config.Gmail.ClientID == "" {
		return nil
	}
	_, err := s.quietTokens(ctx)
	if errors.Is(err, auth.ErrNoGrant) { // run begins the files
		_, err = s.quietPassphrase(ctx)
	}
	if err != nil && !errors.Is(err, errAsks) {
		return usage.Wrap(err)
	}
	return nil
}

// LostGrant reports whether nobody is signed in to a mailbox any more, as far as can be said here and without a
// question.
func (s *Environment) LostGrant(ctx context.Context, a mailstore.Account) bool {
	if s.ByToken(a) || s.Config.Gmail.ClientID == "" {
		return false
	}
	return a.State == mailstore.AccountReauthorize || !s.Shared() && !s.hasGrant(ctx, a.Email)
}

// ByToken reports whether a mailbox is worked on by the configured token.
func (s *Environment) ByToken(a mailstore.Account) bool {
	return s.Config.Gmail.Token != "" && strings.EqualFold(a.Email, s.Config.Gmail.Address)
}

// HowToSignIn is what to do about a mailbox whose grant is gone.
func (s *Environment) HowToSignIn(a mailstore.Account) string {
	if s.ByToken(a) {
		return "set gmail.token to a token that is valid, start 'postroomd run' anew, and 'postroomd accounts resume " +
			a.Email + "'"
	}
	return "sign in again with 'postroomd auth login " + a.Email + "'"
}

func (s *Environment) tokenPlace() tokenstore.Config {
	return tokenstore.Config{Kind: tokenstore.Kind(s.Config.Gmail.Tokens), Dir: s.Folder.Tokens(),
		Passphrase: s.passphrase}
}

// passphrase returns the configured passphrase, or asks for it on a terminal.
func (s *Environment) passphrase(context.Context) (string, error) {
	if p := string(s.Config.Gmail.Passphrase); p != "" {
		return p, nil
	}
	in := int(os.Stdin.Fd())
	if !term.IsTerminal(in) {
		return "",
			errors.New(
				`the grants are in encrypted files, and gmail.passphrase is not set; name the variable that holds it, as in passphrase = "env:POSTROOM_PASSPHRASE" below [gmail]`)
	}
	if _, err := fmt.Fprint(os.Stderr, "Passphrase of the grants: "); err != nil {
		return "", err
	}
	typed, err := term.ReadPassword(in)
	_, _ = fmt.Fprintln(os.Stderr)
	return string(typed), err
}
