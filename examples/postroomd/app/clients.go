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

// A granted makes the client of an account from its owner's grant.
type granted func(mailstore.Account) (*http.Client, error)

// errDemoIsStill is the error of a command that only reads.
var errDemoIsStill = errors.New("the Gmail of a demo runs with 'postroomd demo', and with commands that change something")

// clientsConfig configures the clients of all accounts, from the configured token or from people's grants.
func (h *App) clientsConfig() gmail.AccountClientsConfig {
	// Each worker keeps its connection; the default would close all but two after each call.
	base := &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: h.Env.Config.App.Workers}
	if h.Env.Demo {
		base.Proxy = nil
	}
	h.base = base
	token := oauth2.StaticTokenSource(&oauth2.Token{AccessToken: string(h.Env.Config.Gmail.Token)})
	return gmail.AccountClientsConfig{
		Endpoint: h.Env.Config.Gmail.Endpoint,
		Timeout:  time.Minute,
		Limits: gmailapi.Limits{UnitsPerMinute: h.Env.Config.Gmail.UnitsPerMinute,
			Unlimited: h.Env.Config.Gmail.UnitsPerMinute == 0},
		HTTPClient: func(ctx context.Context, a mailstore.Account) (*http.Client, error) {
			if h.Env.Demo && h.Server == nil { // and Google is none of its business
				return nil, errDemoIsStill
			}
			if h.Env.ByToken(a) {
				return &http.Client{Transport: &oauth2.Transport{Source: token, Base: base}}, nil
			}
			byGrant, err := h.grants(ctx)
			if err != nil {
				return nil, err
			}
			return byGrant(a)
		},
	}
}

// Connect opens the grants, so that a fault of theirs is reported before jobs run. It makes no calls.
func (h *App) Connect(ctx context.Context) error {
	_, err := h.grants(ctx)
	return err
}

// grants opens the grants once, when they are first needed: a command that only reads needs none.
func (h *App) grants(ctx context.Context) (_ granted, err error) {
	h.opening.Lock()
	defer h.opening.Unlock()
	if h.granted == nil {
		h.granted, err = h.newGranted(ctx)
	}
	return h.granted, err
}

func (h *App) newGranted(ctx context.Context) (granted, error) {
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
		source, err := auth.NewSource(auth.SourceConfig{App: app, Tokens: tokens, Email: a.Email, Shared: h.Env.Shared(),
			Transport: h.base})
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
