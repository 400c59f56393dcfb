package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/term"

	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/auth"
	"github.com/postroom-go/postroom/gmail/auth/agefile"
	"github.com/postroom-go/postroom/gmail/auth/tokenstore"
)

// app is the program as it is registered with Google.
func (s *site) app() (auth.App, error) {
	g := s.cfg.Gmail
	if g.ClientID == "" {
		return auth.App{}, usage.Errorf("gmail.client_id is not set; docs/real-account.md says how to make one at Google")
	}
	app := auth.App{ClientID: g.ClientID, ClientSecret: string(g.ClientSecret)}
	if base := strings.TrimRight(g.AuthServer, "/"); base != "" {
		app.Endpoint = auth.Endpoint{AuthURL: base + "/o/oauth2/v2/auth", TokenURL: base + "/token", RevokeURL: base + "/revoke"}
	}
	return app, nil
}

// tokens opens the store of grants.
func (s *site) tokens(ctx context.Context) (*tokenstore.Store, error) {
	return s.openTokens(ctx, s.tokenPlace())
}

// keptTokens is tokens for read-only callers: if nobody has signed in yet, it asks for no passphrase and returns
// [auth.ErrNoGrant].
func (s *site) keptTokens(ctx context.Context) (*tokenstore.Store, error) {
	place := s.tokenPlace()
	place.Existing = true
	return s.openTokens(ctx, place)
}

// openTokens says of what keeps a place from being opened what to do.
func (s *site) openTokens(ctx context.Context, place tokenstore.Config) (*tokenstore.Store, error) {
	store, err := tokenstore.Open(ctx, place)
	switch {
	case errors.Is(err, agefile.ErrWrongKey):
		return nil, fmt.Errorf("the passphrase is not the one that the grants in %s were written with; set gmail.passphrase to that one, "+
			"or, if it is lost, remove that folder and sign in again with 'postroomd auth login'", s.folder.tokens())
	case err != nil && place.Kind == tokenstore.Keychain:
		return nil, fmt.Errorf("gmail.tokens is \"keychain\", and this machine has none that can be used: start or unlock its keychain, "+
			"or set gmail.tokens to \"file\" and gmail.passphrase, to keep the grants in encrypted files (%w)", err)
	}
	return store, err
}

// errAsks is the passphrase where it is asked for.
var errAsks = errors.New("the passphrase is asked for")

// quietTokens is keptTokens without a question: where the passphrase would be asked for, the error is errAsks.
func (s *site) quietTokens(ctx context.Context) (*tokenstore.Store, error) {
	place := s.tokenPlace()
	place.Existing, place.Passphrase = true, s.quietPassphrase
	return s.openTokens(ctx, place)
}

func (s *site) quietPassphrase(ctx context.Context) (string, error) {
	if s.cfg.Gmail.Passphrase == "" && term.IsTerminal(int(os.Stdin.Fd())) {
		return "", errAsks
	}
	return s.passphrase(ctx)
}

// checkTokens returns an error if what run opens for the grants cannot be opened. It makes nothing, and asks nobody.
func (s *site) checkTokens(ctx context.Context) error {
	if s.cfg.Gmail.ClientID == "" {
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

// lostGrant reports whether nobody is signed in to a mailbox any more, as far as can be said here and without a question.
func (s *site) lostGrant(ctx context.Context, a gmail.Account) bool {
	if s.byToken(a) || s.cfg.Gmail.ClientID == "" {
		return false
	}
	return a.State == gmail.AccountReauthorize || !s.isShared() && !s.hasGrant(ctx, a.Email)
}

// byToken reports whether a mailbox is worked on by the configured token.
func (s *site) byToken(a gmail.Account) bool {
	return s.cfg.Gmail.Token != "" && strings.EqualFold(a.Email, s.cfg.Gmail.Address)
}

// signIn is what to do about a mailbox whose grant is gone.
func (s *site) signIn(a gmail.Account) string {
	if s.byToken(a) {
		return "set gmail.token to a token that is valid, start 'postroomd run' anew, and 'postroomd accounts resume " + a.Email + "'"
	}
	return "sign in again with 'postroomd auth login " + a.Email + "'"
}

func (s *site) tokenPlace() tokenstore.Config {
	return tokenstore.Config{Kind: tokenstore.Kind(s.cfg.Gmail.Tokens), Dir: s.folder.tokens(), Passphrase: s.passphrase}
}

// passphrase returns the configured passphrase, or asks for it on a terminal.
func (s *site) passphrase(context.Context) (string, error) {
	if p := string(s.cfg.Gmail.Passphrase); p != "" {
		return p, nil
	}
	in := int(os.Stdin.Fd())
	if !term.IsTerminal(in) {
		return "", errors.New(`the grants are in encrypted files, and gmail.passphrase is not set; name the variable that holds it, as in passphrase = "env:POSTROOM_PASSPHRASE" below [gmail]`)
	}
	if _, err := fmt.Fprint(os.Stderr, "Passphrase of the grants: "); err != nil {
		return "", err
	}
	typed, err := term.ReadPassword(in)
	_, _ = fmt.Fprintln(os.Stderr)
	return string(typed), err
}

// newClients makes the clients of all accounts from the configured token, or from people's grants.
func (h *host) newClients(ctx context.Context) (gmail.Clients, error) {
	// Each worker keeps its connection; the default would close all but two after each call.
	base := &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: h.cfg.App.Workers}
	if h.demo {
		base.Proxy = nil
	}
	granted, err := h.granted(ctx, base)
	if err != nil {
		return nil, err
	}
	token := oauth2.StaticTokenSource(&oauth2.Token{AccessToken: string(h.cfg.Gmail.Token)})
	return gmail.NewClients(gmail.AccountClientsConfig{
		Store:    h.mail,
		Endpoint: h.cfg.Gmail.Endpoint,
		Timeout:  time.Minute,
		Limits:   gmail.Limits{UnitsPerMinute: h.cfg.Gmail.UnitsPerMinute, Unlimited: h.cfg.Gmail.UnitsPerMinute == 0},
		HTTPClient: func(_ context.Context, a gmail.Account) (*http.Client, error) {
			if h.byToken(a) {
				return &http.Client{Transport: &oauth2.Transport{Source: token, Base: base}}, nil
			}
			return granted(a)
		},
	})
}

// granted returns a function that makes the client of an account from its owner's grant.
func (h *host) granted(ctx context.Context, base http.RoundTripper) (func(gmail.Account) (*http.Client, error), error) {
	if h.cfg.Gmail.ClientID == "" {
		return func(a gmail.Account) (*http.Client, error) {
			return nil, h.lackError(a)
		}, nil
	}
	app, err := h.app()
	if err != nil {
		return nil, err
	}
	tokens, err := h.tokens(ctx)
	if err != nil {
		return nil, err
	}
	return func(a gmail.Account) (*http.Client, error) {
		source, err := auth.NewSource(auth.SourceConfig{App: app, Tokens: tokens, Email: a.Email, Shared: h.isShared(), Transport: base})
		if err != nil {
			return nil, err
		}
		client := source.HTTPClient()
		client.Transport = hintingCarrier{client.Transport, h.giveAccess(a)}
		return client, nil
	}, nil
}
