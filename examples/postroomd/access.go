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

	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/auth"
	"github.com/postroom-go/postroom/gmail/auth/tokenstore"
)

// app is the program as it is registered with Google.
func (s *site) app() (auth.App, error) {
	g := s.cfg.Gmail
	if g.ClientID == "" {
		return auth.App{}, usage("gmail.client_id is not set; docs/real-account.md says how to make one at Google")
	}
	app := auth.App{ClientID: g.ClientID, ClientSecret: string(g.ClientSecret)}
	if base := strings.TrimRight(g.AuthServer, "/"); base != "" {
		app.Endpoint = auth.Endpoint{AuthURL: base + "/o/oauth2/v2/auth", TokenURL: base + "/token", RevokeURL: base + "/revoke"}
	}
	return app, nil
}

// tokens opens the store of grants.
func (s *site) tokens(ctx context.Context) (*tokenstore.Store, error) {
	return tokenstore.Open(ctx, s.tokenPlace())
}

// keptTokens is tokens for read-only callers: if nobody has signed in yet, it asks for no passphrase and returns
// [auth.ErrNoGrant].
func (s *site) keptTokens(ctx context.Context) (*tokenstore.Store, error) {
	place := s.tokenPlace()
	place.Existing = true
	return tokenstore.Open(ctx, place)
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
			if h.cfg.Gmail.Token != "" && strings.EqualFold(a.Email, h.cfg.Gmail.Address) {
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
			return nil, fmt.Errorf("there is no access to %s: set gmail.address and gmail.token, or gmail.client_id", a.Email)
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
		source, err := auth.NewSource(auth.SourceConfig{App: app, Tokens: tokens, Email: a.Email, Transport: base})
		if err != nil {
			return nil, err
		}
		return source.HTTPClient(), nil
	}, nil
}
