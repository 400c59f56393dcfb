package environment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/postroom-go/postroom/gmail/auth"
	"github.com/postroom-go/postroom/gmail/auth/agefile"
	"github.com/postroom-go/postroom/gmail/auth/tokenstore"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/mailstore"
)

// MissingCredentials says that this machine has no access to a mailbox, and what to do; empty if it has, or if that
// cannot be told without a question. On one machine, a grant that is gone is not lacking: the account is to sign in
// again.
func (s *Environment) MissingCredentials(ctx context.Context, a mailstore.Account) string {
	g := s.Config.Gmail
	switch {
	case s.Demo, s.ByToken(a), g.Token == "" && g.ClientID == "":
		return ""
	case g.ClientID != "" && (!s.Shared() || s.hasGrant(ctx, a.Email)):
		return ""
	}
	return string(gmailapi.ClassNoAccess) + ": " + s.GiveAccess(a)
}

// hasGrant reports whether a grant for the address is on this machine, or may be. It asks for no passphrase.
func (s *Environment) hasGrant(ctx context.Context, email string) bool {
	place := s.tokenPlace()
	used, err := agefile.Used(place.Dir)
	if err == nil && (used || place.Kind == tokenstore.File) && place.Kind != tokenstore.Keychain {
		emails, err := agefile.Addresses(place.Dir)
		return err != nil || slices.Contains(emails, strings.ToLower(email))
	}
	tokens, err := s.quietTokens(ctx)
	if err == nil {
		_, err = tokens.Load(ctx, email)
	}
	return !errors.Is(err, auth.ErrNoGrant)
}

// GiveAccess is what to do about a mailbox that this machine has no access to.
func (s *Environment) GiveAccess(a mailstore.Account) string {
	g := s.Config.Gmail
	remove := "'postroomd accounts remove " + a.Email + "'"
	signIn := "sign in on this machine with 'postroomd auth login " + a.Email + "'"
	switch {
	case g.ClientID == "" && g.Token == "":
		return "set gmail.address and gmail.token, or gmail.client_id"
	case g.ClientID == "" && s.Shared():
		return fmt.Sprintf(
			"gmail.token is that of %s; a postroomd with the token of this mailbox works on it, and if there is none, %s removes it", g.Address, remove)
	case g.ClientID == "":
		return fmt.Sprintf(
			"gmail.token is that of %s; set gmail.address and gmail.token to those of this mailbox, or gmail.client_id to sign in to it, "+
				"and if its address was a mistake, %s removes it", g.Address, remove)
	case tokenstore.Kind(g.Tokens) == tokenstore.Keychain:
		return signIn
	}
	return fmt.Sprintf(
		"%s, or stop postroomd here, copy the folder %s from a machine that is signed in, and set gmail.passphrase to that machine's", signIn, s.Folder.Tokens())
}

// MissingCredentialsError is the error of calls for a mailbox that this machine has no token for.
func (s *Environment) MissingCredentialsError(a mailstore.Account) error {
	return &gmailapi.Error{Op: "use account " + a.Email, Class: gmailapi.ClassNoAccess, Hint: s.GiveAccess(a)}
}
