package app

import (
	"context"
	"errors"
	"net/http"
	"time"

	"golang.org/x/oauth2"

	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/auth"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/mailstore"
)

// newClients makes the clients of all accounts from the configured token, or from people's grants.
func (h *App) newClients(ctx context.Context) (gmail.Clients, error) {
	// Each worker keeps its connection; the default would close all but two after each call.
	base := &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: h.Env.Config.App.Workers}
	if h.Env.Demo {
		base.Proxy = nil
	}
	granted, err := h.granted(ctx, base)
	if err != nil {
		return nil, err
	}
	token := oauth2.StaticTokenSource(&oauth2.Token{AccessToken: string(h.Env.Config.Gmail.Token)})
	return gmail.NewClients(gmail.AccountClientsConfig{
		Store:    h.Mail,
		Endpoint: h.Env.Config.Gmail.Endpoint,
		Timeout:  time.Minute,
		Limits:   gmailapi.Limits{UnitsPerMinute: h.Env.Config.Gmail.UnitsPerMinute, Unlimited: h.Env.Config.Gmail.UnitsPerMinute == 0},
		HTTPClient: func(_ context.Context, a mailstore.Account) (*http.Client, error) {
			if h.Env.ByToken(a) {
				return &http.Client{Transport: &oauth2.Transport{Source: token, Base: base}}, nil
			}
			return granted(a)
		},
	})
}

// granted returns a function that makes the client of an account from its owner's grant.
func (h *App) granted(ctx context.Context, base http.RoundTripper) (func(mailstore.Account) (*http.Client, error), error) {
	if h.Env.Config.Gmail.ClientID == "" {
		return func(a mailstore.Account) (*http.Client, error) {
			return nil, h.Env.MissingCredentialsError(a)
		}, nil
	}
	app, err := h.Env.OAuthApp()
	if err != nil {
		return nil, err
	}
	tokens, err := h.Env.Tokens(ctx)
	if err != nil {
		return nil, err
	}
	return func(a mailstore.Account) (*http.Client, error) {
		source, err := auth.NewSource(auth.SourceConfig{App: app, Tokens: tokens, Email: a.Email, Shared: h.Env.Shared(), Transport: base})
		if err != nil {
			return nil, err
		}
		client := source.HTTPClient()
		client.Transport = hintingCarrier{client.Transport, h.Env.GiveAccess(a)}
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
