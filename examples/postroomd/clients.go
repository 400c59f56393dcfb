package main

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/auth"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"golang.org/x/oauth2"
)

// newClients makes the clients of all accounts from the configured token, or from people's grants.
func (h *host) newClients(ctx context.Context) (gmail.Clients, error) {
	// Each worker keeps its connection; the default would close all but two after each call.
	base := &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: h.env.Config.App.Workers}
	if h.env.Demo {
		base.Proxy = nil
	}
	granted, err := h.granted(ctx, base)
	if err != nil {
		return nil, err
	}
	token := oauth2.StaticTokenSource(&oauth2.Token{AccessToken: string(h.env.Config.Gmail.Token)})
	return gmail.NewClients(gmail.AccountClientsConfig{
		Store:    h.mail,
		Endpoint: h.env.Config.Gmail.Endpoint,
		Timeout:  time.Minute,
		Limits:   gmailapi.Limits{UnitsPerMinute: h.env.Config.Gmail.UnitsPerMinute, Unlimited: h.env.Config.Gmail.UnitsPerMinute == 0},
		HTTPClient: func(_ context.Context, a gmail.Account) (*http.Client, error) {
			if h.env.ByToken(a) {
				return &http.Client{Transport: &oauth2.Transport{Source: token, Base: base}}, nil
			}
			return granted(a)
		},
	})
}

// granted returns a function that makes the client of an account from its owner's grant.
func (h *host) granted(ctx context.Context, base http.RoundTripper) (func(gmail.Account) (*http.Client, error), error) {
	if h.env.Config.Gmail.ClientID == "" {
		return func(a gmail.Account) (*http.Client, error) {
			return nil, h.env.MissingCredentialsError(a)
		}, nil
	}
	app, err := h.env.OAuthApp()
	if err != nil {
		return nil, err
	}
	tokens, err := h.env.Tokens(ctx)
	if err != nil {
		return nil, err
	}
	return func(a gmail.Account) (*http.Client, error) {
		source, err := auth.NewSource(auth.SourceConfig{App: app, Tokens: tokens, Email: a.Email, Shared: h.env.Shared(), Transport: base})
		if err != nil {
			return nil, err
		}
		client := source.HTTPClient()
		client.Transport = hintingCarrier{client.Transport, h.env.GiveAccess(a)}
		return client, nil
	}, nil
}

// A hintingCarrier says in the errors about a missing grant what to do here.
type hintingCarrier struct {
	http.RoundTripper
	hint string
}

func (c hintingCarrier) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := c.RoundTripper.RoundTrip(r)
	if lacks, ok := errors.AsType[*gmailapi.Error](err); ok && lacks.Class == gmailapi.ClassNoAccess {
		own := *lacks
		own.Hint = c.hint
		err = &own
	}
	return answer, err
}
